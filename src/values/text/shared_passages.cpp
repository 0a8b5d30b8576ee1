// shared_passages_agg: what several documents of a group share, as the footer of a site's pages.
//
//     documents --> (hash of a run of words, document, place), sorted
//               --> of each run that enough documents have, where it stands first, sorted
//               --> such runs in a row are a passage, read from the document
//
// So a passage is as long as each of its runs is in enough documents, and a run is in one passage
// only. The documents, and what is sorted, go to temporary files beyond the memory of a hash table.
#include "core/bits/entry.hpp"
#include "core/text/passages.hpp"
#include "server/aggregates.hpp"
#include "server/arguments.hpp"
#include "server/call_memory.hpp"
#include "server/paged_array.hpp"
#include "server/server_text.hpp"
#include "server/sorter.hpp"
#include "values/text/passages.hpp"

namespace simhash {
namespace {

struct Limits {
    size_t least = 2, most = SIZE_MAX; // documents
    size_t words = kPassageWords;

    // NULL stands for the default.
    static Limits arguments(FunctionCallInfo fcinfo) {
        Limits limits;
        auto take = [&](int argument, const char* what, size_t* limit) {
            if (PG_NARGS() > argument && !PG_ARGISNULL(argument))
                *limit = positive_argument(fcinfo, argument, what);
        };
        take(2, "least_documents", &limits.least);
        take(3, "most_documents", &limits.most);
        take(4, "words", &limits.words);
        return limits;
    }

    friend bool operator==(const Limits&, const Limits&) = default;
};

// A document and the number of a word in it, in the order of both.
constexpr uint64_t place_of(uint64_t document, uint64_t word) { return document << 32 | word; }
constexpr uint64_t document_of(uint64_t place) { return place >> 32; }
constexpr uint32_t word_of(uint64_t place) { return uint32_t(place); }

// The state of a group; all of it is in the group's memory.
class SharedPassages {
  public:
    SharedPassages(const Limits& limits, MemoryContext context, size_t memory)
        : limits(limits), pool_(context, memory / 4), begins_(&pool_), bytes_(&pool_),
          runs_(memory / 2) {
        begins_.add(0);
    }

    void add(const text* document) {
        uint64_t number = begins_.size() - 1;
        if (number == UINT32_MAX)
            ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("too many documents in a group"),
                    errdetail("The limit is %u.", UINT32_MAX));
        GrowingArray<uint64_t> words(server_memory());
        GrowingArray<uint64_t> hashes(server_memory());
        add_words(document, &words);
        hash_runs(words.all(), limits.words, &hashes, kPause);
        for (size_t i = 0; i < hashes.size(); i++)
            runs_.add({hashes[i], place_of(number, i)});
        bytes_.append(VARDATA_ANY(document), VARSIZE_ANY_EXHDR(document));
        begins_.add(bytes_.size());
    }

    // Calls give(text) for each passage, in order of the documents.
    void give(size_t memory, const auto& give) {
        ExternalSorter<uint64_t> first(memory / 4);
        find_first(&first);
        first.finish();
        GrowingArray<Passage> passages(server_memory()); // of one document
        uint64_t last = 0;
        for (uint64_t place; first.next(&place); last = place) {
            CHECK_FOR_INTERRUPTS();
            bool is_same_document = passages.size() > 0 && document_of(place) == document_of(last);
            if (passages.size() > 0 && !is_same_document) {
                give_of(document_of(last), passages.all(), give);
                passages.clear();
            }
            if (is_same_document && place == last + 1)
                passages[passages.size() - 1].words++;
            else
                passages.add({word_of(place), 0, uint32_t(limits.words)});
        }
        if (passages.size() > 0)
            give_of(document_of(last), passages.all(), give);
        first.release();
    }

    const Limits limits;

  private:
    // Where each run that enough documents have stands first.
    void find_first(ExternalSorter<uint64_t>* first) {
        runs_.finish();
        Pair run{};
        for (bool more = runs_.next(&run); more;) {
            Pair begin = run, last = run;
            size_t documents = 1;
            while ((more = runs_.next(&run)) && run.first == begin.first) {
                CHECK_FOR_INTERRUPTS();
                documents += document_of(run.second) != document_of(last.second);
                last = run;
            }
            if (documents >= limits.least && documents <= limits.most)
                first->add(begin.second);
        }
        runs_.release();
    }

    void give_of(uint64_t document, std::span<const Passage> passages, const auto& give) {
        CallMemory work;
        uint64_t begin = begins_[document], bytes = begins_[document + 1] - begin;
        auto* value = static_cast<text*>(palloc(VARHDRSZ + bytes));
        SET_VARSIZE(value, VARHDRSZ + bytes);
        bytes_.read(begin, VARDATA(value), bytes);
        WordPlace* places = places_of(value, passages, &Passage::a);
        for (size_t i = 0; i < passages.size(); i++)
            give(cstring_to_text_with_len(VARDATA(value) + places[i].begin.byte,
                                          int(places[i].end.byte - places[i].begin.byte)));
    }

    PagePool pool_;
    PagedArray<uint64_t> begins_; // of each document and of what follows the last, in bytes
    PagedBytes bytes_;
    ExternalSorter<Pair> runs_;
};

} // namespace
} // namespace simhash

using namespace simhash;

// (state, body text [, least_documents integer [, most_documents integer, words integer]])
SIMHASH_FUNCTION(simhash_shared_passages_agg_transition) {
    MemoryContext context = aggregate_context(fcinfo);
    Limits limits = Limits::arguments(fcinfo);
    auto* state = PG_ARGISNULL(0)
                      ? new_state<SharedPassages>(context, limits, context, get_hash_memory_limit())
                      : state_argument<SharedPassages>(fcinfo, 0);
    if (limits != state->limits)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("arguments of shared_passages_agg must be the same in all rows of a group"),
                errhint("Use constants, or add them to GROUP BY."));
    if (!PG_ARGISNULL(1)) {
        text* document = PG_GETARG_TEXT_PP(1);
        state->add(document);
        PG_FREE_IF_COPY(document, 1);
    }
    PG_RETURN_POINTER(state);
}

SIMHASH_FUNCTION(simhash_shared_passages_agg_final) {
    aggregate_context(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    CallMemory memory;
    ArrayBuildState* array = initArrayResult(TEXTOID, CurrentMemoryContext, false);
    state_argument<SharedPassages>(fcinfo, 0)->give(get_hash_memory_limit(), [&](text* passage) {
        accumArrayResult(array, PointerGetDatum(passage), false, TEXTOID, array->mcontext);
    });
    PG_RETURN_DATUM(makeArrayResult(array, memory.caller()));
}
