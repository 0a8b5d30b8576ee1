// Passages, runs of words that two texts have in common, or that one repeats: shares_passage(), its
// operator &~~, common_passages(), repeated_passages(), and passage_hashes() with all that an index
// by these asks its operator class. core/text/passages.hpp says which passages there are.
#include "values/text/passages.hpp"

#include <optional>

#include "core/bits/fingerprint.hpp"
#include "core/bits/sort.hpp"
#include "core/layout/lane_radii.hpp"
#include "core/text/document.hpp"
#include "core/text/passages.hpp"
#include "server/arguments.hpp"
#include "server/call_memory.hpp"
#include "server/server_text.hpp"
#include "values/text/kept_text.hpp"

namespace simhash {

WordPlace* places_of(const text* given, std::span<const Passage> passages,
                     uint32_t Passage::*first) {
    auto* places = allocate_array<WordPlace>(server_memory(), passages.size());
    // The first and the last word of each passage, as they are sorted: the word's number, then
    // twice the passage's, and 1 more for the last.
    GrowingArray<uint64_t> wanted(server_memory());
    for (size_t i = 0; i < passages.size(); i++) {
        uint64_t begin = passages[i].*first;
        wanted.add(begin << 32 | 2 * i);
        wanted.add((begin + passages[i].words - 1) << 32 | (2 * i + 1));
    }
    sort_ascending(wanted.data(), wanted.end());
    const uint64_t *next = wanted.data(), *end = wanted.end();
    uint64_t word = 0; // the number of the next one
    auto take_word = [&](const WordPlace& place) {
        for (; next < end && *next >> 32 == word; next++)
            if (WordPlace& its = places[uint32_t(*next) / 2]; *next % 2 == 1)
                its.end = place.end;
            else
                its.begin = place.begin;
        word++;
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

  private:
    Memory memory_;
    GrowingArray<uint64_t> hashes_;
    std::optional<RunFinder> finder_;
    size_t finder_length_ = 0;
};

// The text that is the same as in the last call is the one by whose runs the other is searched.
bool share_run(FunctionCallInfo fcinfo, text* given_a, text* given_b, size_t length) {
    if (auto* kept = kept_texts<WordsOfText>(fcinfo, 2)) {
        WordsOfText* a = kept[0].of(given_a);
        WordsOfText* b = kept[1].of(given_b);
        return kept[0].is_same() && !kept[1].is_same() ? a->shares_with(*b, length)
                                                       : b->shares_with(*a, length);
    }
    CallMemory memory;
    WordsOfText a(given_a), b(given_b);
    // The shorter one takes less memory.
    return a.size() < b.size() ? a.shares_with(b, length) : b.shares_with(a, length);
}

bool compare_arguments(FunctionCallInfo fcinfo, size_t length) {
    text* a = PG_GETARG_TEXT_PP(0);
    text* b = PG_GETARG_TEXT_PP(1);
    bool result = share_run(fcinfo, a, b, length);
    PG_FREE_IF_COPY(a, 0);
    PG_FREE_IF_COPY(b, 1);
    return result;
}

// ---- what an index by the hashes asks ----

// A passage_query, of which a field may be NULL.
struct PassageQuery {
    Datum document, words;
    bool has_all;

    explicit PassageQuery(HeapTupleHeader row) {
        bool is_null[2];
        document = GetAttributeByNum(row, 1, &is_null[0]);
        words = GetAttributeByNum(row, 2, &is_null[1]);
        has_all = !is_null[0] && !is_null[1];
    }
};

// The number of words of the index that calls this function; that of &~~ for any other caller.
int words_of_index(FunctionCallInfo fcinfo) {
    return words_of_options(PG_HAS_OPCLASS_OPTIONS() ? PG_GET_OPCLASS_OPTIONS() : nullptr);
}

Datum winnowed_hashes(text* document, size_t run) {
    GrowingArray<uint64_t> words(server_memory());
    FeatureSet winnowed(server_memory());
    add_words(ServerText(document).source(), &words);
    winnow(words.all(), run, &winnowed, kPause);
    FeatureHashes hashes = winnowed.finish();
    Datum array = bigint_array(hashes.data(), hashes.size());
    words.release();
    winnowed.release();
    return array;
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
    // As the query has it: a look-up of the row type leaves memory with the query at each call.
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    // The core leaves the release of its memory to us.
    CallMemory work;
    WordsOfText words_a(a), words_b(b);
    return_passages(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), a, b,
                    find(words_a.words(), words_b.words()));
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

// passage_hashes(document text [, words integer]) -> bigint[]: support function 2 of passage_ops
SIMHASH_FUNCTION(simhash_passage_hashes) {
    size_t words = PG_NARGS() > 1 ? positive_argument(fcinfo, 1, "words") : words_of_index(fcinfo);
    text* document = PG_GETARG_TEXT_PP(0);
    Datum hashes = winnowed_hashes(document, words);
    PG_FREE_IF_COPY(document, 0);
    return hashes;
}

// passage_query(document text, words integer) -> passage_query: the right side of &~~
SIMHASH_FUNCTION(simhash_passage_query) {
    positive_argument(fcinfo, 1, "words");
    TupleDesc fields;
    if (get_call_result_type(fcinfo, nullptr, &fields) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    Datum values[] = {PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)};
    bool nulls[2] = {};
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(fields), values, nulls));
}

// passage_query_shared(document text, query passage_query) -> boolean, the operator &~~ with a
// number of words
SIMHASH_FUNCTION(simhash_passage_query_shared) {
    PassageQuery query(PG_GETARG_HEAPTUPLEHEADER(1));
    if (!query.has_all)
        PG_RETURN_NULL();
    text* a = PG_GETARG_TEXT_PP(0);
    bool result = share_run(fcinfo, a, DatumGetTextPP(query.document),
                            positive_number(DatumGetInt32(query.words), "words"));
    PG_FREE_IF_COPY(a, 0);
    PG_RETURN_BOOL(result);
}

// passage_query_hashes(query passage_query) -> bigint[]: support function 2 of passage_ops for a
// query that has a number of words; null where that is less than the hashes of the index show
SIMHASH_FUNCTION(simhash_passage_query_hashes) {
    PassageQuery query(PG_GETARG_HEAPTUPLEHEADER(0));
    int words = words_of_index(fcinfo);
    if (!query.has_all || DatumGetInt32(query.words) < words)
        PG_RETURN_NULL();
    return winnowed_hashes(DatumGetTextPP(query.document), words);
}

// passage_lane_layout(type modifier integer) -> integer[]: that a text has any number of lanes, and
// that one in common is enough for &~~, unless the index is for longer runs
SIMHASH_FUNCTION(simhash_passage_lane_layout) {
    int radius = words_of_index(fcinfo) <= kPassageWords ? 0 : kFingerprintBits;
    return lane_layout_array(
        {1, radius, int(LaneRule::kCommon), kFingerprintBits, kWordsDefinition});
}

// passage_options(internal) -> void: support function 4 of passage_ops
SIMHASH_FUNCTION(simhash_passage_options) {
    auto* options = reinterpret_cast<local_relopts*>(PG_GETARG_POINTER(0));
    init_local_reloptions(options, sizeof(PassageOptions));
    add_local_int_reloption(
        options, "words", "Words in a row in common by which the index finds a text", kPassageWords,
        kLeastWinnowedRun, kMostWinnowedRun, offsetof(PassageOptions, words));
    PG_RETURN_VOID();
}
