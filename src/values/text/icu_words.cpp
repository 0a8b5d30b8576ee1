// icu_words: the words that ICU's break iterator finds by its dictionaries, for languages without
// spaces between words, such as Chinese, Japanese and Thai. They depend on the version of ICU, so
// simhash() does not use them by default: its results are stored.
#include "server/pg.hpp"

#ifdef SIMHASH_ICU
#include <unicode/ubrk.h>
#include <unicode/uloc.h>
#include <unicode/utext.h>
#endif

extern "C" {
PG_FUNCTION_INFO_V1(simhash_icu_words);
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

// ICU divides a run of Han, Thai and the like by its dictionaries in one call, in which a query
// cannot be cancelled. So it gets a document in pieces.
constexpr int32_t kPiece = 16 * 1024; // bytes
// The words of such a run depend on what follows, but hardly on what is so far away.
constexpr int32_t kContext = 1024;

// The length of the longest piece of [at, end) that ends between characters.
int32_t piece_at(const char* at, const char* end) {
    if (end - at <= kPiece)
        return int32_t(end - at);
    // In UTF-8 the bytes after the first one of a character are 10xxxxxx, three at most. Bytes of a
    // SQL_ASCII database that are not UTF-8 may never show a beginning.
    int32_t bytes = kPiece;
    while (bytes > kPiece - 4 && (uint8_t(at[bytes]) & 0xC0) == 0x80)
        bytes--;
    return bytes;
}

// True when the iterator stands at the end of spaces or punctuation, not of a word.
bool is_after_separator(UBreakIterator* iterator) {
    return ubrk_getRuleStatus(iterator) < UBRK_WORD_NONE_LIMIT;
}

// How many of a piece's bytes to take if the document goes on after it; the next piece begins
// there.
int32_t taken_of(UBreakIterator* iterator, int32_t bytes) {
    int32_t last = ubrk_preceding(iterator, bytes - kContext);
    // Up to a separator: around it ICU finds the same words as in the whole document.
    for (int32_t at = last; at > bytes / 2; at = ubrk_previous(iterator))
        if (is_after_separator(iterator))
            return at;
    // Otherwise up to a word in a run; and a word that fills the piece is divided.
    return last > 0 ? last : bytes;
}

void add_word(const char* utf8, int32_t bytes, ArrayBuildState* words) {
    char* word = pnstrdup(utf8, Size(bytes));
    char* converted = pg_any_to_server(word, bytes, PG_UTF8);
    text* value = cstring_to_text(converted);
    accumArrayResult(words, PointerGetDatum(value), false, TEXTOID, CurrentMemoryContext);
    // The memory of each word is freed at once: accumArrayResult() has its own copy.
    pfree(value);
    if (converted != word)
        pfree(converted);
    pfree(word);
}

// ICU's objects, which it allocates itself: no memory context frees them when an error is raised.
struct Icu {
    UBreakIterator* iterator;
    UText* text;
};

ArrayBuildState* collect_words(const Icu& icu, const char* document, size_t bytes) {
    ArrayBuildState* words = initArrayResult(TEXTOID, CurrentMemoryContext, false);
    const char* end = document + bytes;
    for (const char* at = document; at < end;) {
        CHECK_FOR_INTERRUPTS();
        int32_t piece = piece_at(at, end);
        UErrorCode status = U_ZERO_ERROR;
        utext_openUTF8(icu.text, at, piece, &status);
        ubrk_setUText(icu.iterator, icu.text, &status);
        check(status, "read text");
        int32_t taken = at + piece < end ? taken_of(icu.iterator, piece) : piece;
        // What lies between two boundaries is a word, spaces, or punctuation.
        for (int32_t begin = ubrk_first(icu.iterator), next = ubrk_next(icu.iterator);
             next != UBRK_DONE && next <= taken; begin = next, next = ubrk_next(icu.iterator))
            if (!is_after_separator(icu.iterator))
                add_word(at + begin, next - begin, words);
        at += taken;
    }
    return words;
}

} // namespace

// icu_words(document text, locale text) -> text[]
Datum simhash_icu_words(PG_FUNCTION_ARGS) {
    const char* locale = text_to_cstring(PG_GETARG_TEXT_PP(1));
    check_locale(locale);
    const text* document = PG_GETARG_TEXT_PP(0);
    size_t bytes = VARSIZE_ANY_EXHDR(document);
    // Where the server's encoding is UTF-8 this is the document itself, which does not end with a 0
    // byte.
    const char* utf8 = pg_server_to_any(VARDATA_ANY(document), int(bytes), PG_UTF8);
    if (utf8 != VARDATA_ANY(document))
        bytes = strlen(utf8);
    UErrorCode status = U_ZERO_ERROR;
    Icu icu;
    icu.iterator = ubrk_open(UBRK_WORD, locale, nullptr, 0, &status);
    icu.text = utext_openUTF8(nullptr, "", 0, &status);
    ArrayBuildState* volatile words;
    PG_TRY();
    {
        check(status, "open a word break iterator");
        words = collect_words(icu, utf8, bytes);
    }
    PG_FINALLY();
    {
        ubrk_close(icu.iterator);
        utext_close(icu.text);
    }
    PG_END_TRY();
    PG_RETURN_DATUM(makeArrayResult(words, CurrentMemoryContext));
}

#else

Datum simhash_icu_words([[maybe_unused]] PG_FUNCTION_ARGS) {
    ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED), errmsg("simhash was built without ICU"),
                    errhint("Build it where libicu-dev is installed.")));
}

#endif
