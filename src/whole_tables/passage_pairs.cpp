// passage_pairs: the pairs of documents of a query that have a run of words in common, with the
// length of the longest.
//
//     first pass     the winnowed hashes of each document (core/text/passages.hpp)
//     candidates     documents that share a hash: (hash, row), sorted
//     second pass    the words of those that are candidates
//     pairs          by the longest common run of their words
//
// Every long enough run shows in a common hash, so no pair is missed but for the one bound that
// there is: a hash that very many documents have, of a footer or a licence, gives no pairs. It
// would give as many as the square of that number.
//
// The memory is shared out as in table_functions.cpp; what it does not hold is in temporary files.
#include "core/text/passages.hpp"
#include "server/arguments.hpp"
#include "server/progress.hpp"
#include "server/sorter.hpp"
#include "whole_tables/collector.hpp"
#include "whole_tables/contents.hpp"
#include "whole_tables/row_query.hpp"

using namespace simhash;

namespace {

class PassagePairs final : public RowValues {
  public:
    PassagePairs(PagePool* pool, size_t memory, size_t least_words, size_t most_documents)
        : RowValues("an id and a text", "SELECT id, body FROM docs"), least_(least_words),
          most_(most_documents), contents_(pool, double(least_words)), hashes_(memory / 4),
          candidates_(memory / 4), group_(most_documents * 2 * sizeof(uint64_t)),
          words_of_a_(server_memory()), words_of_b_(server_memory()) {}

    void begin(const Column& column) override {
        if (!IsBinaryCoercible(column.type, TEXTOID))
            report_type(column, Wanted::kDocuments);
    }
    const PassFunctions* passes() const override { return &kPassagePasses; }
    bytea* pass_arguments() override { return contents_.pass_arguments(); }
    void add_content(Datum content) override { contents_.add(content); }
    bool has_contents() const override { return contents_.are_complete(); }

    void add(RowNumber row, Datum digest, bool is_null) override {
        if (is_null)
            return contents_.add_row({});
        PassResult<DigestHeader, uint64_t> result(digest);
        contents_.add_row(result.header);
        for (size_t at = 0; at < result.rest_bytes; at += sizeof(uint64_t)) {
            uint64_t hash;
            memcpy(&hash, result.rest + at, sizeof(hash));
            hashes_.add({hash, row});
        }
    }

    void find_candidates() {
        hashes_.finish();
        Pair entry{};
        bool more = hashes_.next(&entry);
        while (more) {
            uint64_t hash = entry.first, documents = 0;
            group_.clear();
            for (; more && entry.first == hash; more = hashes_.next(&entry)) {
                CHECK_FOR_INTERRUPTS();
                if (documents++ < most_)
                    group_.add(entry.second);
            }
            if (documents > most_)
                widespread_++;
            else
                add_pairs();
        }
        hashes_.release();
        candidates_.finish();
        contents_.ask();
    }

    // Calls give(a, b, words) for each pair, in order of the first row and then of the other.
    void give(const auto& give) {
        RowNumber last_a = kNoRow;
        Words a;
        candidates_.each([&](uint64_t pair) {
            auto of_a = RowNumber(pair >> 32), of_b = RowNumber(pair);
            CHECK_FOR_INTERRUPTS();
            size_t words = contents_.header(of_a).count;
            if (!have_equal_words(of_a, of_b)) {
                if (of_a != last_a)
                    a = contents_.read(last_a = of_a, &words_of_a_);
                words = longest_common_run(a, contents_.read(of_b, &words_of_b_), least_,
                                           server_memory(), kPause);
            }
            if (words >= least_)
                give(of_a, of_b, words);
            return true;
        });
        candidates_.release();
    }

    // Hashes of so many documents that they gave no pairs.
    int64 widespread() const { return widespread_; }

  private:
    // Tables have many equal documents, of which the words need not be compared.
    bool have_equal_words(RowNumber a, RowNumber b) {
        DigestHeader of_a = contents_.header(a), of_b = contents_.header(b);
        return of_a.content_hash == of_b.content_hash && of_a.count == of_b.count;
    }

    void add_pairs() {
        std::span<const uint64_t> rows = group_.entries();
        for (size_t i = 0; i < rows.size(); i++)
            for (size_t j = i + 1; j < rows.size(); j++) {
                auto a = RowNumber(rows[i]), b = RowNumber(rows[j]);
                CHECK_FOR_INTERRUPTS();
                candidates_.add(rows[i] << 32 | rows[j]);
                if (have_equal_words(a, b))
                    continue;
                contents_.want(a);
                contents_.want(b);
            }
    }

    size_t least_, most_;
    int64 widespread_ = 0;
    Contents contents_;
    ExternalSorter<Pair> hashes_; // (hash, row)
    Collector candidates_;        // both rows
    SortBuffer<uint64_t> group_;  // the rows that have one hash, ascending
    Contents::Buffer words_of_a_, words_of_b_;
};

} // namespace

// (query text, words integer, most_documents integer [, id_type anyelement]).
SIMHASH_FUNCTION(simhash_passage_pairs) {
    InitMaterializedSRF(fcinfo, 0);
    require_not_null(fcinfo, 1, "words");
    require_not_null(fcinfo, 2, "most_documents");
    size_t words = positive_argument(fcinfo, 1, "words");
    size_t most_documents = positive_argument(fcinfo, 2, "most_documents");
    if (PG_ARGISNULL(0))
        return Datum(0);
    text* query = PG_GETARG_TEXT_PP(0);
    size_t memory = get_hash_memory_limit();
    int64 widespread = 0;
    // As in table_functions.cpp.
    auto read = [&](bool keep) {
        ResultRows result(fcinfo);
        PagePool pool(CurrentMemoryContext, memory / 16 * 7);
        RowIds ids(&pool, result.id_type());
        PassagePairs pairs(&pool, memory, words, most_documents);
        RowQuery rows(query, fcinfo->flinfo->fn_oid, keep, int(memory / 16 / 1024));
        rows.read(&ids, &pairs);
        pairs.find_candidates();
        if (!pairs.has_contents())
            rows.read_contents();
        rows.close();
        bool is_read = pairs.has_contents();
        if (is_read)
            pairs.give([&](RowNumber a, RowNumber b, size_t longest) {
                result.put(&ids, a, b, Int32GetDatum(int32(longest)));
            });
        widespread = pairs.widespread();
        result.finish();
        return is_read;
    };
    Progress::tell_of(fcinfo->flinfo->fn_oid, [&] {
        if (!read(false))
            read(true);
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
