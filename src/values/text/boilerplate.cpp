// Texts without what they share with others, or with that marked: without_passages() and
// passage_headline(). Both find the words of a text that are in a run which another one has, and
// put a new text together from what is inside of these places and around them, byte for byte.
#include <algorithm>

#include "core/text/passages.hpp"
#include "server/arguments.hpp"
#include "server/call_memory.hpp"
#include "server/server_text.hpp"
#include "values/text/passages.hpp"

namespace simhash {
namespace {

using Places = std::span<WordPlace>;

// The words of a text, and which of them it shares with others.
class SharedWords {
  public:
    explicit SharedWords(const text* given) : given_(given), words_(server_memory()) {
        add_words(given, &words_);
        is_shared_ = allocate_array<bool>(server_memory(), words_.size());
        std::fill_n(is_shared_, words_.size(), false);
    }

    void add_runs_of(Words other, size_t length) {
        CallMemory work;
        mark_shared_runs(words_.all(), other, length, is_shared_, server_memory(), kPause);
    }

    // Where shared words stand in a row, in order and apart from each other.
    Places places() const {
        GrowingArray<Passage> stretches(server_memory());
        for (uint32_t i = 0, end; i < words_.size(); i = end + 1) {
            for (end = i; end < words_.size() && is_shared_[end];)
                end++;
            if (end > i)
                stretches.add({i, 0, end - i});
        }
        WordPlace* places = places_of(given_, stretches.all(), &Passage::a);
        // Words of a script without spaces overlap, and some characters are several words.
        size_t count = 0;
        for (size_t i = 0; i < stretches.size(); i++)
            if (count > 0 && places[i].begin.byte <= places[count - 1].end.byte)
                places[count - 1].end = places[i].end;
            else
                places[count++] = places[i];
        return {places, count};
    }

  private:
    const text* given_;
    GrowingArray<uint64_t> words_;
    bool* is_shared_;
};

// ---- without_passages ----

// A passage is cut by its runs of so many words, and a shorter one as a whole.
struct CutWords {
    size_t run;
    size_t begin, end; // in the words of all passages
};

void mark_passages(ArrayType* passages, size_t words, SharedWords* body) {
    GrowingArray<uint64_t> all(server_memory()), together(server_memory());
    GrowingArray<CutWords> cuts(server_memory());
    array_elements(passages, "passages").each([&](int, Datum passage) {
        size_t begin = all.size();
        add_words(DatumGetTextPP(passage), &all);
        if (all.size() > begin)
            cuts.add({std::min(words, all.size() - begin), begin, all.size()});
    });
    std::sort(cuts.data(), cuts.data() + cuts.size(), [](const CutWords& a, const CutWords& b) {
        return std::pair(a.run, a.begin) < std::pair(b.run, b.begin);
    });
    // Those of one length at once. No text has the empty word that stands between two.
    for (size_t i = 0; i < cuts.size();) {
        size_t run = cuts[i].run;
        together.clear();
        for (; i < cuts.size() && cuts[i].run == run; i++) {
            size_t count = cuts[i].end - cuts[i].begin;
            together.append(all.all().subspan(cuts[i].begin, count));
            together.add(hash_feature(HashKind::kXxh3, nullptr, 0));
        }
        body->add_runs_of(together.all(), run);
    }
}

// ---- passage_headline ----

// In the manner of ts_headline().
struct HeadlineOptions {
    const char* start = "<b>";
    const char* stop = "</b>";
    bool escape_html = false;

    explicit HeadlineOptions(Datum given) {
        ListCell* cell;
        foreach (cell, deserialize_deflist(given)) {
            auto* option = static_cast<DefElem*>(lfirst(cell));
            if (pg_strcasecmp(option->defname, "StartSel") == 0)
                start = defGetString(option);
            else if (pg_strcasecmp(option->defname, "StopSel") == 0)
                stop = defGetString(option);
            else if (pg_strcasecmp(option->defname, "EscapeHtml") == 0)
                escape_html = defGetBoolean(option);
            else
                ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("unrecognized headline parameter: \"%s\"", option->defname),
                        errhint("Accepted parameters are StartSel, StopSel and EscapeHtml."));
        }
    }
};

// In every encoding of a server these bytes are these characters.
constexpr std::pair<char, const char*> kHtmlEscapes[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

void append(StringInfo to, const char* begin, const char* end) {
    appendBinaryStringInfo(to, begin, int(end - begin));
}

void append_escaped(StringInfo to, const char* begin, const char* end) {
    const char* rest = begin;
    auto look_at = [&](size_t i) {
        for (auto [character, escape] : kHtmlEscapes)
            if (begin[i] == character) {
                append(to, rest, begin + i);
                appendStringInfoString(to, escape);
                rest = begin + i + 1;
            }
    };
    one_by_one(size_t(end - begin), look_at, kPause);
    append(to, rest, end);
}

Datum text_of(const StringInfoData& made, MemoryContext context) {
    MemoryContextSwitchTo(context);
    return PointerGetDatum(cstring_to_text_with_len(made.data, made.len));
}

} // namespace
} // namespace simhash

using namespace simhash;

// without_passages(body text, passages text[], words integer) -> text. Not strict: where there are
// no passages, as array_agg() of no rows, the body is as it was.
SIMHASH_FUNCTION(simhash_without_passages) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    size_t words = PG_ARGISNULL(2) ? kPassageWords : positive_argument(fcinfo, 2, "words");
    text* body = PG_GETARG_TEXT_PP(0);
    if (PG_ARGISNULL(1))
        PG_RETURN_TEXT_P(body);
    ArrayType* passages = PG_GETARG_ARRAYTYPE_P(1);
    CallMemory memory;
    SharedWords shared(body);
    mark_passages(passages, words, &shared);
    StringInfoData left;
    initStringInfo(&left);
    const char* at = VARDATA_ANY(body);
    size_t end = 0;
    for (const WordPlace& cut : shared.places()) {
        append(&left, at + end, at + cut.begin.byte);
        // A word before the cut and one behind it do not become one.
        if (kind_at(body, cut.end.byte) != kSeparator &&
            kind_before(body, cut.begin.byte, end) != kSeparator)
            appendStringInfoChar(&left, ' ');
        end = cut.end.byte;
    }
    append(&left, at + end, at + VARSIZE_ANY_EXHDR(body));
    return text_of(left, memory.caller());
}

// passage_headline(a text, b text, words integer, options text) -> text
SIMHASH_FUNCTION(simhash_passage_headline) {
    text* a = PG_GETARG_TEXT_PP(0);
    text* b = PG_GETARG_TEXT_PP(1);
    size_t words = positive_argument(fcinfo, 2, "words");
    CallMemory memory;
    HeadlineOptions options(PG_GETARG_DATUM(3));
    SharedWords shared(a);
    GrowingArray<uint64_t> words_b(server_memory());
    add_words(b, &words_b);
    shared.add_runs_of(words_b.all(), words);
    StringInfoData headline;
    initStringInfo(&headline);
    auto take = [&](size_t begin, size_t end) {
        const char* at = VARDATA_ANY(a);
        (options.escape_html ? append_escaped : append)(&headline, at + begin, at + end);
    };
    size_t end = 0;
    for (const WordPlace& place : shared.places()) {
        take(end, place.begin.byte);
        appendStringInfoString(&headline, options.start);
        take(place.begin.byte, place.end.byte);
        appendStringInfoString(&headline, options.stop);
        end = place.end.byte;
    }
    take(end, VARSIZE_ANY_EXHDR(a));
    return text_of(headline, memory.caller());
}
