// Converts text of the server to UTF-8. See the header.
#include "server/server_text.hpp"

#include "core/text/unicode.hpp"

#include <algorithm>

namespace simhash {
namespace {

// Large enough that a call costs little beside the reading. A conversion may take four times as
// many bytes (MAX_CONVERSION_GROWTH).
constexpr ptrdiff_t kSlice = 256 * 1024; // bytes

bool needs_conversion() {
    int encoding = GetDatabaseEncoding();
    return encoding != PG_UTF8 && encoding != PG_SQL_ASCII;
}

// Expects that the text needs conversion and is not empty; only then the result is another string.
// It ends with a 0 byte, and text of the server contains none.
char* to_utf8(const char* text, size_t bytes) {
    auto* given = reinterpret_cast<unsigned char*>(const_cast<char*>(text));
    return reinterpret_cast<char*>(
        pg_do_encoding_conversion(given, int(bytes), GetDatabaseEncoding(), PG_UTF8));
}

// The longest part of [at, end) of at most kSlice bytes that ends between characters.
const char* end_of_piece(const char* at, const char* end) {
    if (end - at <= kSlice)
        return end;
    if (!needs_conversion()) {
        // In UTF-8 the bytes after the first one of a character are 10xxxxxx, three at most. The
        // loop looks at the last four bytes only: bytes that are not UTF-8 may never show a
        // beginning.
        const char* cut = at + kSlice;
        while (cut > at + kSlice - 4 && (uint8_t(*cut) & 0xC0) == 0x80)
            cut--;
        return cut;
    }
    // The server knows where characters of other encodings end.
    return at + pg_mbcliplen(at, int(end - at), int(kSlice));
}

} // namespace

void TextPart::release() {
    if (converted != nullptr)
        pfree(converted);
    converted = nullptr;
}

void TextPart::take(const char* from, const char* to) {
    release();
    converted = needs_conversion() && from < to ? to_utf8(from, size_t(to - from)) : nullptr;
    at = reinterpret_cast<const uint8_t*>(converted != nullptr ? converted : from);
    end = at + (converted != nullptr ? strlen(converted) : size_t(to - from));
}

bool ServerText::next(void* context, const uint8_t** piece, size_t* bytes) {
    auto* text = static_cast<ServerText*>(context);
    CHECK_FOR_INTERRUPTS();
    const char* begin = text->at_;
    text->at_ = end_of_piece(begin, text->end_);
    // The reader is done with the last piece when it asks for the next.
    text->part_.take(begin, text->at_);
    *piece = text->part_.at;
    *bytes = size_t(text->part_.end - *piece);
    return begin < text->at_;
}

PlacedText::PlacedText(const text* value)
    : begin_(VARDATA_ANY(value)), at_(begin_), end_(at_ + VARSIZE_ANY_EXHDR(value)),
      one_by_one_(begin_) {}

const char* PlacedText::end_of_character() const {
    return std::min(at_ + pg_encoding_mblen(GetDatabaseEncoding(), at_), end_);
}

// Code points of a converted part are paired off with the server's characters, which is simple
// where there are as many. Some encodings have one character for what are two code points (a kana
// with a mark in EUC_JIS_2004): a part with such is converted again, character by character.
void PlacedText::next_part() {
    CHECK_FOR_INTERRUPTS();
    is_one_character_ = at_ < one_by_one_;
    const char* end = is_one_character_ ? end_of_character() : end_of_piece(at_, end_);
    part_.take(at_, end);
    if (part_.converted == nullptr || is_one_character_)
        return;
    auto begins_character = [](uint8_t byte) { return (byte & 0xC0) != 0x80; };
    if (std::count_if(part_.at, part_.end, begins_character) !=
        pg_mbstrlen_with_len(at_, int(end - at_))) {
        one_by_one_ = end;
        is_one_character_ = true;
        part_.take(at_, end_of_character());
    }
}

bool PlacedText::next(const uint8_t** at, size_t* bytes, WordPlace* place) {
    if (part_.at == part_.end) {
        if (at_ == end_)
            return false;
        next_part();
    }
    *at = part_.at;
    decode_utf8(part_.at, part_.end);
    *bytes = size_t(part_.at - *at);
    // substr() of a SQL_ASCII database counts bytes.
    const char* end = part_.converted != nullptr ? end_of_character() : at_ + *bytes;
    size_t counted = GetDatabaseEncoding() == PG_SQL_ASCII ? *bytes : 1;
    place->begin = {characters_, size_t(at_ - begin_)};
    place->end = {characters_ + counted, size_t(end - begin_)};
    if (!is_one_character_ || part_.at == part_.end) {
        at_ = end;
        characters_ += counted;
    }
    return true;
}

CharacterKind kind_at(const text* value, size_t byte) {
    size_t bytes = VARSIZE_ANY_EXHDR(value);
    if (byte == bytes)
        return kSeparator;
    const char *at = VARDATA_ANY(value) + byte, *end = VARDATA_ANY(value) + bytes;
    // In a SQL_ASCII database a character is a byte, and what is read may be four.
    TextPart part;
    part.take(at, needs_conversion() ? at + pg_encoding_mblen(GetDatabaseEncoding(), at) : end);
    CharacterKind kind = kind_of_class(character_class(decode_utf8(part.at, part.end)));
    part.release();
    return kind;
}

CharacterKind kind_before(const text* value, size_t byte, size_t begin) {
    if (byte == begin)
        return kSeparator;
    const char* text_begin = VARDATA_ANY(value);
    size_t at = byte - 1;
    if (needs_conversion())
        at = begin + size_t(pg_mbcliplen(text_begin + begin, int(byte - begin), int(at - begin)));
    else
        while (at > begin && byte - at < 4 && (uint8_t(text_begin[at]) & 0xC0) == 0x80)
            at--;
    return kind_at(value, at);
}

uint64_t hash_server_bytes(HashKind kind, const char* bytes, size_t length) {
    TextPart part;
    part.take(bytes, bytes + length);
    uint64_t hash = hash_feature(kind, part.at, size_t(part.end - part.at));
    part.release();
    return hash;
}

void add_words(const text* value, GrowingArray<uint64_t>* words) {
    add_words(ServerText(value).source(), words);
    // The core numbers the words of two texts, and marks between them, by 32 bits.
    constexpr size_t kMost = (size_t{1} << 30) - 1;
    if (size_t count = words->size(); count > kMost)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a document has too many words to look for passages"),
                errdetail("It has %zu, and the most are %zu.", count, kMost));
}

uint64_t hash_server_text(HashKind kind, Datum value) {
    const text* feature = DatumGetTextPP(value);
    uint64_t hash = hash_server_bytes(kind, VARDATA_ANY(feature), VARSIZE_ANY_EXHDR(feature));
    // DatumGetTextPP() made a copy of a toasted value. An aggregate calls this for each row, so the
    // copy is freed here and not left to the context.
    if (static_cast<const void*>(feature) != DatumGetPointer(value))
        pfree(const_cast<text*>(feature));
    return hash;
}

text* shown_as_server_text(const uint8_t* utf8, size_t bytes) {
    Assert(bytes < MaxAllocSize / (MAX_CONVERSION_GROWTH + 1)); // room, below, is palloc'd
    const uint8_t *at = utf8, *end = utf8 + bytes;
    if (!needs_conversion())
        return cstring_to_text_with_len(reinterpret_cast<const char*>(at), int(bytes));
    int encoding = GetDatabaseEncoding();
    Oid conversion = FindDefaultConversionProc(PG_UTF8, encoding);
    if (!OidIsValid(conversion)) // the words of pg_do_encoding_conversion(), which are translated
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
                errmsg("default conversion function for encoding \"%s\" to \"%s\" does not exist",
                       pg_encoding_to_char(PG_UTF8), pg_encoding_to_char(encoding)));
    // The pieces that can be converted, and between them the characters that cannot.
    StringInfoData shown;
    initStringInfo(&shown);
    while (at < end) {
        // The conversion stops at the first character that the encoding lacks. Its result may be
        // MAX_CONVERSION_GROWTH times as long, and pg_do_encoding_conversion_buf() takes less of
        // the input where there is not room for that.
        int room = int(end - at) * MAX_CONVERSION_GROWTH + MAX_CONVERSION_GROWTH + 1;
        enlargeStringInfo(&shown, room);
        auto* result = reinterpret_cast<unsigned char*>(shown.data + shown.len);
        at += pg_do_encoding_conversion_buf(conversion, PG_UTF8, encoding,
                                            const_cast<unsigned char*>(at), int(end - at), result,
                                            room, true);
        shown.len += int(strlen(reinterpret_cast<char*>(result)));
        if (at < end) {
            // The character that the encoding lacks; decode_utf8() moves `at` past it.
            uint32_t code_point = decode_utf8(at, end);
            appendStringInfo(&shown, code_point > 0xFFFF ? "\\+%06x" : "\\%04x", code_point);
        }
    }
    text* result = cstring_to_text_with_len(shown.data, shown.len);
    pfree(shown.data);
    return result;
}

} // namespace simhash
