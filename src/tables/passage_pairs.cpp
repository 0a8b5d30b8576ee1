// passage_pairs: the pairs of documents of a query that have a run of words in common, with the
// length of the longest.
//
//     documents --> their words, kept
//               --> (winnowed hash, row), sorted --> pairs of rows that share a hash, each once
//               --> the longest common run of each pair, from the words
//
// Every long enough run shows in a common hash (core/text/passages.hpp), so no pair is missed but
// for the one bound that there is: a hash that very many documents have, of a footer or a licence,
// gives no pairs. It would give as many as the square of that number.
//
// The memory is shared out as in table_functions.cpp; what it does not hold is in temporary files.
#include "core/text/passages.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "server/sorter.hpp"
#include "tables/query_rows.hpp"

using namespace simhash;

namespace {

// The words of the documents, by row.
class KeptWords {
  public:
    explicit KeptWords(PagePool* pool) : begins_(pool), words_(pool) { begins_.add(0); }

    void add(Words words) {
        words_.append(words.data(), words.size_bytes());
        begins_.add(words_.size());
    }

    // In the current memory context.
    Words of(RowNumber row) {
        uint64_t begin = begins_[row], bytes = begins_[row + size_t{1}] - begin;
        auto* words = static_cast<uint64_t*>(
            MemoryContextAllocHuge(CurrentMemoryContext, std::max<size_t>(bytes, 1)));
        words_.read(begin, words, bytes);
        return {words, size_t(bytes / sizeof(uint64_t))};
    }

  private:
    PagedArray<uint64_t> begins_; // of each row and of what follows the last, in bytes
    PagedBytes words_;
};

class PassagePairs final : public RowValues {
  public:
    PassagePairs(size_t memory, size_t least_words, size_t most_documents)
        : RowValues("an id and a text", "SELECT id, body FROM docs"),
          pool_(CurrentMemoryContext, memory / 2), words_(&pool_), least_(least_words),
          most_(most_documents), hashes_(memory / 4), candidates_(memory / 4),
          row_words_(server_memory()), winnowed_(server_memory()),
          group_(most_documents * 2 * sizeof(uint64_t)) {}

    void begin(Form_pg_attribute column) override {
        if (!IsBinaryCoercible(column->atttypid, TEXTOID))
            report_type(column, Wanted::kDocuments);
    }

    void add(RowNumber row, Datum document, bool is_null) override {
        row_words_.clear();
        if (!is_null)
            add_words(DatumGetTextPP(document), &row_words_);
        Words words = row_words_.all();
        words_.add(words);
        winnowed_.clear();
        winnow(words, WinnowedLengths::for_runs_of(least_), &winnowed_, kPause);
        for (uint64_t hash : winnowed_.finish())
            hashes_.add({hash, row});
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
    }

    // Calls give(a, b, words) for each pair, in order of the first row and then of the other.
    void give(const auto& give) {
        candidates_.finish();
        MemoryContext of_first =
            AllocSetContextCreate(CurrentMemoryContext, "simhash words", ALLOCSET_DEFAULT_SIZES);
        MemoryContext of_pair =
            AllocSetContextCreate(CurrentMemoryContext, "simhash pair", ALLOCSET_DEFAULT_SIZES);
        MemoryContext caller = CurrentMemoryContext;
        RowNumber first = kNoRow;
        Words a;
        // Rows are below kNoRow, so no pair has this number.
        uint64_t last = UINT64_MAX;
        for (uint64_t pair; candidates_.next(&pair);) {
            CHECK_FOR_INTERRUPTS();
            if (pair == last)
                continue; // by another hash
            last = pair;
            if (RowNumber(pair >> 32) != first) {
                first = RowNumber(pair >> 32);
                MemoryContextReset(of_first);
                MemoryContextSwitchTo(of_first);
                a = words_.of(first);
            }
            MemoryContextSwitchTo(of_pair);
            size_t words = longest_run(a, words_.of(RowNumber(pair)));
            MemoryContextSwitchTo(caller);
            if (words > 0)
                give(first, RowNumber(pair), words);
            MemoryContextReset(of_pair);
        }
        candidates_.release();
    }

    PagePool* pool() { return &pool_; }

    // Hashes of so many documents that they gave no pairs.
    int64 widespread() const { return widespread_; }

  private:
    // The length of the longest common run; 0 if that is less than asked for.
    size_t longest_run(Words a, Words b) const {
        // Tables have many equal documents.
        if (a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin()))
            return a.size() >= least_ ? a.size() : 0;
        return longest_common_run(a, b, least_, server_memory(), kPause);
    }

    void add_pairs() {
        std::span<const uint64_t> rows = group_.entries();
        for (size_t i = 0; i < rows.size(); i++)
            for (size_t j = i + 1; j < rows.size(); j++) {
                CHECK_FOR_INTERRUPTS();
                candidates_.add(rows[i] << 32 | rows[j]);
            }
    }

    PagePool pool_;
    KeptWords words_;
    size_t least_, most_;
    int64 widespread_ = 0;
    ExternalSorter<Pair> hashes_;         // (hash, row)
    ExternalSorter<uint64_t> candidates_; // both rows
    WordHashes row_words_;                // of the row that is being read
    FeatureSet winnowed_;                 // its hashes
    SortBuffer<uint64_t> group_;          // the rows that have one hash, ascending
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
    ResultRows result(fcinfo);
    PassagePairs pairs(get_hash_memory_limit(), words, most_documents);
    RowIds ids(pairs.pool(), result.id_type());
    read_rows(query, &ids, &pairs);
    pairs.find_candidates();
    pairs.give([&](RowNumber a, RowNumber b, size_t longest) {
        result.put(&ids, a, b, Int32GetDatum(int32(longest)));
    });
    if (int64 count = pairs.widespread(); count > 0)
        ereport(NOTICE,
                errmsg_plural("%lld hash is of more documents than %zu, and pairs none of them",
                              "%lld hashes are of more documents than %zu, and pair none of them",
                              static_cast<unsigned long>(count), static_cast<long long>(count),
                              most_documents),
                errhint("The argument most_documents sets this number."));
    result.finish();
    return Datum(0);
}
