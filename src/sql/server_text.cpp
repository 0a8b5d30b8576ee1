// Text of the server as UTF-8. See server_text.hpp.
#include "sql/server_text.hpp"

#include <algorithm>

namespace simhash {

static constexpr ptrdiff_t kSlice = 256 * 1024; // bytes

static bool needs_conversion() {
    const int encoding = GetDatabaseEncoding();
    return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

static char* to_utf8(const char* text, size_t bytes) {
    return (char*)pg_do_encoding_conversion((unsigned char*)text, (int)bytes, GetDatabaseEncoding(),
                                            PG_UTF8);
}

// The longest part of [at, end) of at most kSlice bytes that ends between characters.
static const char* end_of_slice(const char* at, const char* end) {
    if (end - at <= kSlice)
        return end;
    if (!needs_conversion()) {
        const char* cut = at + kSlice;
        while (cut > at + kSlice - 4 && ((uint8_t)*cut & 0xC0) == 0x80)
            cut--;
        return cut;
    }
    return at + pg_mbcliplen(at, (int)(end - at), (int)kSlice);
}

bool ServerText::next(void* context, const uint8_t** slice, size_t* bytes) {
    ServerText* text = (ServerText*)context;
    CHECK_FOR_INTERRUPTS();
    if (text->converted != nullptr) {
        pfree(text->converted);
        text->converted = nullptr;
    }
    if (text->at == text->end)
        return false;
    const char* begin = text->at;
    text->at = end_of_slice(begin, text->end);
    *slice = (const uint8_t*)begin;
    *bytes = text->at - begin;
    if (needs_conversion()) {
        char* converted = to_utf8(begin, *bytes);
        if (converted != begin) {
            text->converted = converted;
            *slice = (const uint8_t*)converted;
            *bytes = strlen(converted);
        }
    }
    return true;
}

uint64_t hash_server_bytes(HashKind kind, const char* bytes, size_t length) {
    if (!needs_conversion() || length == 0)
        return hash_feature(kind, (const uint8_t*)bytes, length);
    char* converted = to_utf8(bytes, length);
    if (converted == bytes)
        return hash_feature(kind, (const uint8_t*)bytes, length);
    const uint64_t hash = hash_feature(kind, (const uint8_t*)converted, strlen(converted));
    pfree(converted);
    return hash;
}

uint64_t hash_server_text(HashKind kind, Datum value) {
    const text* feature = DatumGetTextPP(value);
    const uint64_t hash = hash_server_bytes(kind, VARDATA_ANY(feature), VARSIZE_ANY_EXHDR(feature));
    if ((const void*)feature != DatumGetPointer(value))
        pfree((void*)feature);
    return hash;
}

text* server_text_from_utf8(const uint8_t* utf8, size_t bytes) {
    if (!needs_conversion())
        return cstring_to_text_with_len((const char*)utf8, (int)bytes);
    char* converted = (char*)pg_do_encoding_conversion((unsigned char*)utf8, (int)bytes, PG_UTF8,
                                                       GetDatabaseEncoding());
    if (converted == (const char*)utf8)
        return cstring_to_text_with_len(converted, (int)bytes);
    text* result = cstring_to_text(converted);
    pfree(converted);
    return result;
}

} // namespace simhash
