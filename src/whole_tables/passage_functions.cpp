// passage_pairs, passage_join and passage_groups: documents of one query or two that have a run of
// words in common. containment_pairs: documents of which most shingles are in another.
//
//     first pass     the winnowed hashes of each document (core/text/passages.hpp)
//     candidates     documents that share a hash: (hash, row), sorted
//     second pass    the words of those that are candidates, or their sets of shingles
//     pairs          by the longest common run of their words, or by the sets
//
// Every long enough run shows in a common hash, so no pair with one is missed but for the one bound
// that there is: a hash that very many documents have, of a footer or a licence, gives no pairs. It
// would give as many as the square of that number. Groups follow from the same pairs, but look at
// few of them.
//
// The memory is shared out as in table_functions.cpp; what it does not hold is in temporary files.

#include <bit>

#include "core/text/passages.hpp"
#include "server/arguments.hpp"
#include "server/call_memory.hpp"
#include "whole_tables/collector.hpp"
#include "whole_tables/contents.hpp"
#include "whole_tables/groups.hpp"

using namespace simhash;

namespace {

enum class Kind { kPairs, kJoin, kGroups, kChains, kContainment };

class Passages final : public RowValues {
  public:
    // limit: the fewest words of a run, or the least containment
    Passages(PagePool* pool, size_t memory, Kind kind, double limit, size_t most_documents)
        : RowValues("an id and a text", "SELECT id, body FROM docs", &contents_), pool_(pool),
          kind_(kind), limit_(limit), most_(most_documents), contents_(pool, limit, memory / 8),
          hashes_(memory / 4), candidates_(memory / 4), by_first_row_(memory / 4),
          members_(memory / 4), rows_(most_documents * 2 * sizeof(uint64_t)) {
        if (kind == Kind::kJoin)
            of_first_.emplace(memory / 16);
        passes = kind == Kind::kContainment ? &kContainmentPasses : &kPassagePasses;
    }

    void begin(Oid type, const char* name) override {
        if (!IsBinaryCoercible(type, TEXTOID))
            report_type(type, name);
    }

    void add(RowNumber row, Datum digest, bool is_null) override {
        if (is_null)
            return contents_.add_row({});
        PassResult<DigestHeader, uint64_t> result(digest);
        contents_.add_row(result.header);
        for (size_t at = 0; at < result.rest_bytes; at += sizeof(uint64_t)) {
            uint64_t hash;
            memcpy(&hash, result.rest + at, sizeof(hash));
            // Of the second query, which is the larger one, most hashes are of no interest.
            if (row >= first_of_second_ && !of_first_->may_have(hash))
                continue;
            if (of_first_)
                of_first_->add(hash);
            hashes_.add({hash, row});
        }
    }

    // A second query follows. is_first: its rows are the first ones of the pairs
    void begin_second(bool is_first) {
        first_of_second_ = RowNumber(contents_.rows());
        is_second_first_ = is_first;
    }

    void find_candidates() {
        hashes_.finish();
        Pair entry{};
        bool more = hashes_.next(&entry);
        for (uint32_t group = 0; more; group++) {
            uint64_t hash = entry.first, documents = 0, firsts = 0;
            rows_.clear();
            for (; more && entry.first == hash; more = hashes_.next(&entry)) {
                CHECK_FOR_INTERRUPTS();
                firsts += entry.second < first_of_second_;
                if (documents++ < most_)
                    rows_.add(entry.second);
            }
            if (documents == 1 || (kind_ == Kind::kJoin && (firsts == 0 || firsts == documents)))
                continue;
            if (documents > most_)
                widespread_++;
            else if (kind_ == Kind::kGroups || kind_ == Kind::kChains)
                for (uint64_t row : rows_.entries())
                    by_first_row_.add({rows_.entries()[0] << 32 | group, row});
            else
                add_candidates(firsts);
        }
        hashes_.release();
        // In the order of the rows, in which what is kept of them is read faster.
        candidates_.finish();
        candidates_.each([&](uint64_t pair) {
            auto a = RowNumber(pair >> 32), b = RowNumber(pair);
            CHECK_FOR_INTERRUPTS();
            if (are_equal(a, b))
                return true;
            contents_.want(a);
            contents_.want(b);
            return true;
        });
        number_hashes();
        contents_.ask();
    }

    // Hashes of so many documents that they gave no pairs.
    int64 widespread() const { return widespread_; }

    // Calls give(a, b, measure) for each pair, in order of the first row and then of the other.
    void give_pairs(const auto& give) {
        candidates_.each([&](uint64_t pair) {
            auto a = RowNumber(pair >> 32), b = RowNumber(pair);
            CHECK_FOR_INTERRUPTS();
            if (std::optional<double> measure = measure_of(a, b))
                give(a, b, measure);
            return true;
        });
        candidates_.release();
    }

    // Calls give(row, original, measure) for all rows in their order; an original has no measure.
    // Each row joins the first original with which it is a pair, or becomes an original itself, by
    // whose hashes those that follow find it. So rows are compared with originals only.
    void give_groups(const auto& give) {
        constexpr uint64_t kNone = UINT64_MAX;
        PagedArray<Pair> originals(pool_); // (row, another one with the same hash)
        PagedArray<uint64_t> last(pool_);  // the last original with each shared hash
        for (uint64_t hash = 0; hash < shared_hashes_; hash++)
            last.add(kNone);
        GrowingArray<uint64_t> hashes(server_memory());
        GrowingArray<RowNumber> candidates(server_memory());
        Pair member{};
        bool more = members_.next(&member);
        for (RowNumber row = 0; row < contents_.rows(); row++) {
            hashes.clear();
            candidates.clear();
            for (; more && member.first == row; more = members_.next(&member)) {
                hashes.add(member.second);
                for (uint64_t at = last[member.second]; at != kNone;) {
                    auto [original, before] = originals[at];
                    candidates.add(RowNumber(original));
                    at = before;
                }
            }
            RowNumber *begin = candidates.data(), *end = begin + candidates.size();
            sort_ascending(begin, end);
            end = std::unique(begin, end);
            std::optional<double> measure;
            for (; begin < end && !measure; begin++) {
                CHECK_FOR_INTERRUPTS();
                measure = measure_of(row, *begin);
            }
            if (!measure)
                for (uint64_t hash : hashes.all()) {
                    originals.add({row, last[hash]});
                    last.set(hash, originals.size() - 1);
                }
            give(row, measure ? begin[-1] : row, measure);
        }
        members_.release();
    }

    // Links all pairs, but compares only rows that are not linked so far.
    void link(Links* links) {
        GrowingArray<RowNumber> rows(server_memory()); // with the same hash
        // Two rows that share a hash mostly share several. Those that were compared and are no pair
        // are in a cache, whose slots are overwritten.
        constexpr size_t kMostSlots = size_t{1} << 22; // 32 MB, which each call clears
        size_t slots = std::min(std::bit_floor(pool_->memory_bytes() / 16), kMostSlots);
        auto* apart = allocate_array<uint64_t>(server_memory(), slots);
        std::fill_n(apart, slots, 0);
        Pair member{};
        bool more = members_.next(&member);
        while (more) {
            uint64_t hash = member.first;
            CHECK_FOR_INTERRUPTS();
            rows.clear();
            for (; more && member.first == hash; more = members_.next(&member))
                rows.add(RowNumber(member.second));
            auto compare = [&](size_t i, size_t j) {
                RowNumber a = rows[i], b = rows[j];
                uint64_t pair = uint64_t{std::min(a, b)} << 32 | std::max(a, b);
                uint64_t& compared = apart[mix(pair) & (slots - 1)];
                if (compared == pair)
                    return true;
                if (measure_of(a, b))
                    links->link(a, b);
                else
                    compared = pair;
                return true;
            };
            links->each_unlinked(
                rows.size(), [&](size_t i) { return rows[i]; }, compare);
        }
        pfree(apart);
        members_.release();
    }

  private:
    // Tables have many equal documents, which need not be compared.
    bool are_equal(RowNumber a, RowNumber b) {
        DigestHeader of_a = contents_.header(a), of_b = contents_.header(b);
        return of_a.content_hash == of_b.content_hash && of_a.count == of_b.count;
    }

    // Of rows_, which share a hash: each with each, or those of the first query with the others.
    void add_candidates(size_t firsts) {
        std::span<const uint64_t> rows = rows_.entries();
        for (size_t i = 0; i < firsts; i++)
            for (size_t j = kind_ == Kind::kJoin ? firsts : i + 1; j < rows.size(); j++) {
                auto a = RowNumber(rows[i]), b = RowNumber(rows[j]);
                CHECK_FOR_INTERRUPTS();
                if (!is_second_first_)
                    candidates_.add(uint64_t{a} << 32 | b);
                if (is_second_first_ || kind_ == Kind::kContainment)
                    candidates_.add(uint64_t{b} << 32 | a);
            }
    }

    // Numbers the shared hashes in the order of the rows that have them first, so what is kept of
    // the hashes of a row, and of its copies, stands side by side.
    void number_hashes() {
        by_first_row_.finish();
        Pair member{};
        bool more = by_first_row_.next(&member);
        for (; more; shared_hashes_++) {
            uint64_t hash = member.first;
            bool differ = false;
            rows_.clear();
            for (; more && member.first == hash; more = by_first_row_.next(&member)) {
                uint64_t row = member.second;
                CHECK_FOR_INTERRUPTS();
                rows_.add(row);
                differ = differ || !are_equal(RowNumber(row), RowNumber(hash >> 32));
                members_.add(kind_ == Kind::kChains ? Pair{shared_hashes_, row}
                                                    : Pair{row, shared_hashes_});
            }
            for (uint64_t row : rows_.entries())
                if (differ)
                    contents_.want(RowNumber(row));
        }
        by_first_row_.release();
        members_.finish();
    }

    // The length of the longest common run, or how much of a is in b. Nothing if they are no pair.
    std::optional<double> measure_of(RowNumber a, RowNumber b) {
        bool is_containment = kind_ == Kind::kContainment;
        double measure = is_containment ? 1 : contents_.header(a).count;
        if (!are_equal(a, b)) {
            auto [of_a, of_b] = contents_.of(a, b);
            CallMemory work;
            if (is_containment)
                set_containment(of_a, of_b, &measure);
            else
                measure =
                    double(longest_common_run(of_a, of_b, size_t(limit_), server_memory(), kPause));
        }
        return measure >= limit_ ? std::optional(measure) : std::nullopt;
    }

    PagePool* pool_;
    Kind kind_;
    double limit_;
    size_t most_;
    int64 widespread_ = 0;
    RowNumber first_of_second_ = kNoRow;
    bool is_second_first_ = false;
    Contents contents_;
    std::optional<HashFilter> of_first_; // the hashes of the first of two queries
    ExternalSorter<Pair> hashes_;        // (hash, row)
    Collector candidates_;               // both rows
    ExternalSorter<Pair> by_first_row_;  // (the first row with a hash, and which of them; row)
    ExternalSorter<Pair> members_;       // (row, number of a shared hash), for chains the reverse
    uint64_t shared_hashes_ = 0;
    SortBuffer<uint64_t> rows_; // those that have one hash, ascending
};

void put(Passages* passages, RowIds* ids, Kind kind, PagePool* pool, ResultRows* result) {
    auto put_row = [&](RowNumber a, RowNumber b, std::optional<double> measure) {
        std::optional<Datum> datum;
        if (measure)
            datum = kind == Kind::kContainment ? Float8GetDatum(*measure)
                                               : Int32GetDatum(int32(*measure));
        result->put(ids, a, b, datum);
    };
    if (kind == Kind::kGroups)
        return passages->give_groups(put_row);
    if (kind != Kind::kChains)
        return passages->give_pairs(put_row);
    Links links(pool, ids->count());
    passages->link(&links);
    links.give(put_row);
}

// The result of a function whose first arguments are the queries, and the next the words or the
// containment, and most_documents. A query that is NULL gives no rows.
Datum passage_result(FunctionCallInfo fcinfo, Kind kind) {
    int query_count = kind == Kind::kJoin ? 2 : 1;
    bool is_containment = kind == Kind::kContainment;
    InitMaterializedSRF(fcinfo, 0);
    require_not_null(fcinfo, query_count, is_containment ? "containment" : "words");
    require_not_null(fcinfo, query_count + 1, "most_documents");
    double limit = is_containment ? share_argument(fcinfo, query_count, "containment")
                                  : double(positive_argument(fcinfo, query_count, "words"));
    size_t most_documents = positive_argument(fcinfo, query_count + 1, "most_documents");
    for (int i = 0; i < query_count; i++)
        if (PG_ARGISNULL(i))
            return Datum(0);
    size_t memory = get_hash_memory_limit();
    int64 widespread = 0;
    give_result(fcinfo, [&](ResultRows* result, bool keep) {
        PagePool pool(CurrentMemoryContext, memory / 8 * 3);
        RowIds ids(&pool, result->id_type());
        Passages passages(&pool, memory, kind, limit, most_documents);
        std::optional<RowQuery> queries[2];
        for (int i = 0; i < query_count; i++)
            queries[i].emplace(PG_GETARG_TEXT_PP(i), fcinfo->flinfo->fn_oid, keep);
        // Of the larger query only documents that share a hash with one of the other matter.
        int smaller = query_count == 2 &&
                      queries[1]->expected_rows(passages) < queries[0]->expected_rows(passages);
        queries[smaller]->read(&ids, &passages);
        if (query_count == 2) {
            passages.begin_second(smaller == 1);
            queries[1 - smaller]->read(&ids, &passages);
        }
        passages.find_candidates();
        for (int i = 0; i < query_count; i++) {
            if (!passages.has_contents())
                queries[i]->read_contents();
            queries[i]->close();
        }
        if (passages.has_contents())
            put(&passages, &ids, kind, &pool, result);
        widespread = passages.widespread();
        return passages.has_contents();
    });
    if (widespread > 0)
        ereport(NOTICE,
                errmsg_plural("%lld hash is of more documents than %zu, and pairs none of them",
                              "%lld hashes are of more documents than %zu, and pair none of them",
                              static_cast<unsigned long>(widespread),
                              static_cast<long long>(widespread), most_documents),
                errhint("The argument most_documents sets this number."));
    return Datum(0);
}

} // namespace

// (query text, words integer, most_documents integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_passage_pairs) { return passage_result(fcinfo, Kind::kPairs); }

// (a_query text, b_query text, words integer, most_documents integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_passage_join) { return passage_result(fcinfo, Kind::kJoin); }

// (query text, words integer, most_documents integer, chains boolean [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_passage_groups) {
    require_not_null(fcinfo, 3, "chains");
    return passage_result(fcinfo, PG_GETARG_BOOL(3) ? Kind::kChains : Kind::kGroups);
}

// (query text, containment double precision, most_documents integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_containment_pairs) { return passage_result(fcinfo, Kind::kContainment); }
