// Passages, runs of words that two texts have in common: shares_passage(), its operator &~~,
// common_passages() and passage_hashes(). core/text/passages.hpp says which passages there are.
#include <algorithm>
#include <numeric>
#include <optional>

#include "core/bits/fingerprint.hpp"
#include "core/layout/lane_radii.hpp"
#include "core/text/document.hpp"
#include "core/text/passages.hpp"
#include "core/text/placed_words.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "values/text/kept_text.hpp"

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

// The places of passages in one text, of which Passage::*first has the numbers of words.
WordPlace* places_of(const text* given, std::span<const Passage> passages,
                     uint32_t Passage::*first) {
    auto* places = allocate_array<WordPlace>(server_memory(), passages.size());
    auto* order = allocate_array<uint32_t>(server_memory(), passages.size());
    const uint32_t *next = order, *end = order + passages.size();
    std::iota(order, order + passages.size(), 0);
    std::sort(order, order + passages.size(),
              [&](uint32_t a, uint32_t b) { return passages[a].*first < passages[b].*first; });
    uint64_t words = 0; // so far
    auto take_word = [&](const WordPlace& place) {
        uint64_t number = words++;
        if (next == end)
            return;
        uint64_t begin = passages[*next].*first;
        if (number == begin)
            places[*next].begin = place.begin;
        if (number + 1 == begin + passages[*next].words)
            places[*next++].end = place.end;
    };
    PlacedWords placed(take_word);
    PlacedText source(given);
    const uint8_t* at;
    size_t bytes;
    WordPlace place;
    // What is behind the last passage need not be read.
    while (next < end && source.next(&at, &bytes, &place))
        placed.code_point(at, bytes, place);
    placed.finish();
    Assert(next == end);
    return places;
}

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
    InitMaterializedSRF(fcinfo, 0);
    size_t least = positive_argument(fcinfo, 2, "words");
    text* a = PG_GETARG_TEXT_PP(0);
    text* b = PG_GETARG_TEXT_PP(1);
    // The core leaves the release of its memory to us.
    MemoryContext work =
        AllocSetContextCreate(CurrentMemoryContext, "simhash passages", ALLOCSET_DEFAULT_SIZES);
    MemoryContext caller = MemoryContextSwitchTo(work);
    WordsOfText words_a(a), words_b(b);
    std::span<const Passage> passages =
        common_passages(words_a.words(), words_b.words(), least, server_memory(), kPause);
    return_passages(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), a, b, passages);
    MemoryContextSwitchTo(caller);
    MemoryContextDelete(work);
    return Datum(0);
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
    return lane_layout({1, 0, int(LaneRule::kCommon), kFingerprintBits, kWordsDefinition});
}
