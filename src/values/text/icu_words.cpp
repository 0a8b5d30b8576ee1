// icu_words: the words that ICU's break iterator finds by its dictionaries, for languages without
// spaces between words, such as Chinese, Japanese and Thai. They depend on the version of ICU, so
// simhash() does not use them by default: its results are stored.
#include "server/pg.hpp"

#ifdef SIMHASH_ICU
#include <unicode/ubrk.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>
#endif

#include "core/text/unicode.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(icu_words);
}

#ifdef SIMHASH_ICU

namespace {

// ICU reports errors by a status that each call takes. Warnings are below zero, and no failures.
void check(UErrorCode status, const char* what) {
    if (U_FAILURE(status))
        ereport(ERROR, (errcode(ERRCODE_EXTERNAL_ROUTINE_EXCEPTION),
                        errmsg("could not %s: %s", what, u_errorName(status))));
}

// The language of a locale; false where the locale has none that can be read.
bool language_of(const char* locale, char (&language)[ULOC_LANG_CAPACITY]) {
    UErrorCode status = U_ZERO_ERROR;
    uloc_getLanguage(locale, language, ULOC_LANG_CAPACITY, &status);
    return U_SUCCESS(status) && status != U_STRING_NOT_TERMINATED_WARNING;
}

// True when ICU has data for the language. "", "root" and "und" stand for no language in
// particular.
bool is_known_language(const char* language) {
    if (*language == '\0' || strcmp(language, "root") == 0 || strcmp(language, "und") == 0)
        return true;
    for (int32_t i = 0; i < uloc_countAvailable(); i++) {
        char available[ULOC_LANG_CAPACITY];
        if (language_of(uloc_getAvailable(i), available) && strcmp(language, available) == 0)
            return true;
    }
    return false;
}

// ICU takes any locale, and uses no language in particular where it does not know it: a misspelt
// name would silently give other words.
void check_locale(const char* locale) {
    char language[ULOC_LANG_CAPACITY];
    bool has_language = language_of(locale, language);
    if (!has_language || !is_known_language(language))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("invalid ICU locale: \"%.*s\"",
                        pg_mbcliplen(locale, int(strlen(locale)), 64), locale),
                 has_language ? errdetail("ICU does not know the language \"%s\".", language)
                              : errdetail("ICU finds no language in it."),
                 errhint("Use the code of a language, such as 'th' or 'zh', or '' for no language "
                         "in particular.")));
}

// The document as UTF-16, `*length` units.
UChar* to_utf16(text* document, int32_t* length) {
    int given_bytes = int(VARSIZE_ANY_EXHDR(document));
    // Where the server's encoding is UTF-8 this is the document itself, which does not end with a 0
    // byte.
    const char* utf8 = pg_server_to_any(VARDATA_ANY(document), given_bytes, PG_UTF8);
    int bytes = utf8 == VARDATA_ANY(document) ? given_bytes : int(strlen(utf8));
    // UTF-16 has at most as many units as UTF-8 has bytes.
    auto* units = static_cast<UChar*>(
        MemoryContextAllocHuge(CurrentMemoryContext, (size_t(bytes) + 1) * sizeof(UChar)));
    UErrorCode status = U_ZERO_ERROR;
    // A SQL_ASCII database may hold bytes that are not UTF-8: they become U+FFFD.
    u_strFromUTF8WithSub(units, bytes + 1, length, utf8, bytes, 0xFFFD, nullptr, &status);
    check(status, "convert text to UTF-16");
    return units;
}

// The longest word: as UTF-8 it is palloc'd, and ICU counts its bytes in 32 bits.
// A unit of UTF-16 becomes 3 bytes at most: the characters of 4 bytes have two units.
constexpr int32_t kMostUnits = (MaxAllocSize - 1) / 3;

void check_length(int32_t units) {
    if (units > kMostUnits)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("a word is too long"),
                 errdetail("It has %d units of UTF-16, and the most are %d.", units, kMostUnits),
                 errhint("Split the document into several.")));
}

// `units` UTF-16 units as text of the server; `buffer` has room for 3 bytes a unit and one more.
text* from_utf16(const UChar* begin, int32_t units, char* buffer) {
    UErrorCode status = U_ZERO_ERROR;
    int32_t bytes;
    u_strToUTF8(buffer, 3 * units + 1, &bytes, begin, units, &status);
    check(status, "convert text from UTF-16");
    const char* converted = pg_any_to_server(buffer, bytes, PG_UTF8);
    return converted == buffer ? cstring_to_text_with_len(buffer, bytes)
                               : cstring_to_text(converted);
}

ArrayBuildState* collect_words(UBreakIterator* iterator, const UChar* units) {
    ArrayBuildState* words = initArrayResult(TEXTOID, CurrentMemoryContext, false);
    // The iterator gives boundaries. What lies between two of them is a word, spaces, or
    // punctuation.
    for (int32_t begin = ubrk_first(iterator), end = ubrk_next(iterator); end != UBRK_DONE;
         begin = end, end = ubrk_next(iterator)) {
        CHECK_FOR_INTERRUPTS();
        if (ubrk_getRuleStatus(iterator) < UBRK_WORD_NONE_LIMIT)
            continue; // spaces and punctuation
        check_length(end - begin);
        // The memory of each word is freed at once: accumArrayResult() has its own copy.
        auto* buffer = static_cast<char*>(palloc(3 * Size(end - begin) + 1));
        text* word = from_utf16(units + begin, end - begin, buffer);
        accumArrayResult(words, PointerGetDatum(word), false, TEXTOID, CurrentMemoryContext);
        pfree(word);
        pfree(buffer);
    }
    return words;
}

} // namespace

// icu_words(document text, locale text) -> text[]
Datum icu_words(PG_FUNCTION_ARGS) {
    const char* locale = text_to_cstring(PG_GETARG_TEXT_PP(1));
    check_locale(locale);
    int32_t length;
    UChar* units = to_utf16(PG_GETARG_TEXT_PP(0), &length);
    UErrorCode status = U_ZERO_ERROR;
    UBreakIterator* iterator = ubrk_open(UBRK_WORD, locale, units, length, &status);
    check(status, "open a word break iterator");
    ArrayBuildState* volatile words;
    // ICU allocates the iterator, so no memory context frees it when an error is raised.
    PG_TRY();
    { words = collect_words(iterator, units); }
    PG_FINALLY();
    { ubrk_close(iterator); }
    PG_END_TRY();
    PG_RETURN_DATUM(makeArrayResult(words, CurrentMemoryContext));
}

#else

Datum icu_words([[maybe_unused]] PG_FUNCTION_ARGS) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("simhash was built without ICU"),
                    errhint("Build it where libicu-dev is installed.")));
}

#endif
