// Text of the server as UTF-8. See server_text.hpp.
#include "sql/server_text.hpp"

namespace simhash {

namespace {

constexpr ptrdiff_t kSlice = 256 * 1024; // bytes

bool needs_conversion() {
    int encoding = GetDatabaseEncoding();
    return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

// As pg_do_encoding_conversion(): the text itself where there is nothing to convert.
char* convert(const char* text, size_t bytes, int from, int to) {
    auto* given = reinterpret_cast<unsigned char*>(const_cast<char*>(text));
    return reinterpret_cast<char*>(pg_do_encoding_conversion(given, int(bytes), from, to));
}

char* to_utf8(const char* text, size_t bytes) {
    return convert(text, bytes, GetDatabaseEncoding(), PG_UTF8);
}

// The longest part of [at, end) of at most kSlice bytes that ends between characters.
const char* end_of_piece(const char* at, const char* end) {
    if (end - at <= kSlice)
        return end;
    if (!needs_conversion()) {
        const char* cut = at + kSlice;
        while (cut > at + kSlice - 4 && (uint8_t(*cut) & 0xC0) == 0x80)
            cut--;
        return cut;
    }
    return at + pg_mbcliplen(at, int(end - at), int(kSlice));
}

} // namespace

bool ServerText::next(void* context, const uint8_t** piece, size_t* bytes) {
    ServerText* text = static_cast<ServerText*>(context);
    CHECK_FOR_INTERRUPTS();
    if (text->converted_ != nullptr) {
        pfree(text->converted_);
        text->converted_ = nullptr;
    }
    if (text->at_ == text->end_)
        return false;
    const char* begin = text->at_;
    text->at_ = end_of_piece(begin, text->end_);
    *piece = reinterpret_cast<const uint8_t*>(begin);
    *bytes = text->at_ - begin;
    if (needs_conversion()) {
        char* converted = to_utf8(begin, *bytes);
        if (converted != begin) {
            text->converted_ = converted;
            *piece = reinterpret_cast<const uint8_t*>(converted);
            *bytes = strlen(converted);
        }
    }
    return true;
}

uint64_t hash_server_bytes(HashKind kind, const char* bytes, size_t length) {
    if (!needs_conversion() || length == 0)
        return hash_feature(kind, reinterpret_cast<const uint8_t*>(bytes), length);
    char* converted = to_utf8(bytes, length);
    if (converted == bytes)
        return hash_feature(kind, reinterpret_cast<const uint8_t*>(bytes), length);
    const uint64_t hash =
        hash_feature(kind, reinterpret_cast<const uint8_t*>(converted), strlen(converted));
    pfree(converted);
    return hash;
}

uint64_t hash_server_text(HashKind kind, Datum value) {
    const text* feature = DatumGetTextPP(value);
    uint64_t hash = hash_server_bytes(kind, VARDATA_ANY(feature), VARSIZE_ANY_EXHDR(feature));
    if (static_cast<const void*>(feature) != DatumGetPointer(value))
        pfree(const_cast<text*>(feature));
    return hash;
}

text* server_text_from_utf8(const uint8_t* utf8, size_t bytes) {
    auto* given = reinterpret_cast<const char*>(utf8);
    if (!needs_conversion())
        return cstring_to_text_with_len(given, int(bytes));
    char* converted = convert(given, bytes, PG_UTF8, GetDatabaseEncoding());
    if (converted == given)
        return cstring_to_text_with_len(converted, int(bytes));
    text* result = cstring_to_text(converted);
    pfree(converted);
    return result;
}

} // namespace simhash
