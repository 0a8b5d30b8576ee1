// Passages, runs of words that two texts have in common, or that one repeats: shares_passage(), its
// operator &~~, common_passages(), repeated_passages() and passage_hashes().
// core/text/passages.hpp says which passages there are.
#include <optional>

#include "core/layout/lane_radii.hpp"
#include "core/text/document.hpp"
#include "core/text/passages.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "values/text/kept_text.hpp"
#include "values/text/word_places.hpp"

namespace simhash {

// So that an index by the hashes finds every pair of texts for which &~~ is true.
static_assert(kPassageWords >= kWinnowedRun);

namespace {

// ---- whether two texts share a passage ----

// A text's words, and its runs of one length, by which another text is searched.
class WordsOfText {
  public:
    explicit WordsOfText(text* given) : memory_(server_memory()), hashes_(memory_) {
        add_words(given, &hashes_);
    }

    Words words() const { return hashes_.all(); }
    size_t size() const { return hashes_.size(); }

    // The finder stays for calls with the same length.
    bool shares_with(const WordsOfText& other, size_t length) {
        if (length > size() || length > other.size())
            return false;
        if (!finder_ || length != finder_length_) {
            if (finder_)
                finder_->release();
            finder_.emplace(words(), length, memory_, kPause);
            finder_length_ = length;
        }
        return finder_->has_run_of(other.words(), server_memory(), kPause);
    }

    void release() {
        if (finder_)
            finder_->release();
        hashes_.release();
    }

  private:
    Memory memory_;
    WordHashes hashes_;
    std::optional<RunFinder> finder_;
    size_t finder_length_ = 0;
};

// The text that is the same as in the last call is the one by whose runs the other is searched.
bool compare_arguments(FunctionCallInfo fcinfo, size_t length) {
    if (auto* kept = kept_texts<WordsOfText>(fcinfo, 2)) {
        WordsOfText* a = kept[0].of(fcinfo, 0);
        WordsOfText* b = kept[1].of(fcinfo, 1);
        return kept[0].is_same() && !kept[1].is_same() ? a->shares_with(*b, length)
                                                       : b->shares_with(*a, length);
    }
    text* given_a = PG_GETARG_TEXT_PP(0);
    text* given_b = PG_GETARG_TEXT_PP(1);
    WordsOfText a(given_a), b(given_b);
    // The shorter one takes less memory.
    bool result = a.size() < b.size() ? a.shares_with(b, length) : b.shares_with(a, length);
    a.release();
    b.release();
    PG_FREE_IF_COPY(given_a, 0);
    PG_FREE_IF_COPY(given_b, 1);
    return result;
}

// ---- where the passages are ----

void return_passages(ReturnSetInfo* result, text* a, text* b, std::span<const Passage> passages) {
    if (passages.empty())
        return;
    WordPlace* in_a = places_of(a, passages, &Passage::a);
    WordPlace* in_b = places_of(b, passages, &Passage::b);
    // SQL counts characters from 1.
    auto start = [](const WordPlace& place) {
        return Int32GetDatum(int32(place.begin.character + 1));
    };
    auto length = [](const WordPlace& place) {
        return Int32GetDatum(int32(place.end.character - place.begin.character));
    };
    for (size_t i = 0; i < passages.size(); i++) {
        text* passage = cstring_to_text_with_len(VARDATA_ANY(a) + in_a[i].begin.byte,
                                                 int(in_a[i].end.byte - in_a[i].begin.byte));
        Datum values[] = {start(in_a[i]),
                          length(in_a[i]),
                          start(in_b[i]),
                          length(in_b[i]),
                          Int32GetDatum(int32(passages[i].words)),
                          PointerGetDatum(passage)};
        bool nulls[std::size(values)] = {};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
        pfree(passage);
        CHECK_FOR_INTERRUPTS();
    }
}

// Returns find(words of a, words of b) as rows.
Datum passages_of(FunctionCallInfo fcinfo, text* a, text* b, const auto& find) {
    InitMaterializedSRF(fcinfo, 0);
    // The core leaves the release of its memory to us.
    MemoryContext work =
        AllocSetContextCreate(CurrentMemoryContext, "simhash passages", ALLOCSET_DEFAULT_SIZES);
    MemoryContext caller = MemoryContextSwitchTo(work);
    WordsOfText words_a(a), words_b(b);
    return_passages(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), a, b,
                    find(words_a.words(), words_b.words()));
    MemoryContextSwitchTo(caller);
    MemoryContextDelete(work);
    return Datum(0);
}

} // namespace
} // namespace simhash

using namespace simhash;

// shares_passage(a text, b text, words integer) -> boolean
SIMHASH_FUNCTION(simhash_shares_passage) {
    PG_RETURN_BOOL(compare_arguments(fcinfo, positive_argument(fcinfo, 2, "words")));
}

// passage_shared(a text, b text) -> boolean, the operator &~~
SIMHASH_FUNCTION(simhash_passage_shared) {
    PG_RETURN_BOOL(compare_arguments(fcinfo, kPassageWords));
}

// common_passages(a text, b text, words integer) -> setof (a_start integer, a_length integer,
// b_start integer, b_length integer, words integer, passage text)
SIMHASH_FUNCTION(simhash_common_passages) {
    size_t least = positive_argument(fcinfo, 2, "words");
    return passages_of(fcinfo, PG_GETARG_TEXT_PP(0), PG_GETARG_TEXT_PP(1), [&](Words a, Words b) {
        return common_passages(a, b, least, server_memory(), kPause);
    });
}

// repeated_passages(body text, words integer) -> setof (start integer, length integer,
// first_start integer, first_length integer, words integer, passage text)
SIMHASH_FUNCTION(simhash_repeated_passages) {
    size_t least = positive_argument(fcinfo, 1, "words");
    text* body = PG_GETARG_TEXT_PP(0);
    return passages_of(fcinfo, body, body, [&](Words words, Words) {
        return repeated_passages(words, least, server_memory(), kPause);
    });
}

// passage_hashes(document text) -> bigint[]
SIMHASH_FUNCTION(simhash_passage_hashes) {
    text* document = PG_GETARG_TEXT_PP(0);
    WordHashes words(server_memory());
    FeatureSet winnowed(server_memory());
    each_word(ServerText(document).source(), words);
    winnow(words.all(), {}, &winnowed, kPause);
    FeatureHashes hashes = winnowed.finish();
    Datum array = bigint_array(hashes.data(), hashes.size());
    words.release();
    winnowed.release();
    PG_FREE_IF_COPY(document, 0);
    return array;
}

// passage_lane_layout(type modifier integer) -> integer[]: that a text has any number of lanes, and
// that one in common is enough
SIMHASH_FUNCTION(simhash_passage_lane_layout) {
    return lane_layout({1, 0, int(LaneRule::kCommon)});
}
