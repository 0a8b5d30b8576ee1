// A text value of the server as the core reads it: UTF-8, piece by piece.
//
// Text is converted because a fingerprint must be the same in every server encoding. It is
// converted in pieces so that a large document needs no second copy, and so that the query can be
// cancelled. A SQL_ASCII database does not know the encoding of its bytes: they are read as UTF-8,
// and bytes that are not UTF-8 separate words.
#pragma once

#include "server/pg.hpp"

#include "core/text/document.hpp"
#include "core/text/passages.hpp"
#include "core/text/placed_words.hpp"

namespace simhash {

// A part of a text as UTF-8.
struct TextPart {
    const uint8_t* at = nullptr;
    const uint8_t* end = nullptr;
    char* converted = nullptr; // the whole part; null where it was not converted

    // Releases the last part.
    void take(const char* from, const char* to);
    void release();
};

class ServerText {
  public:
    explicit ServerText(const text* value)
        : at_(VARDATA_ANY(value)), end_(at_ + VARSIZE_ANY_EXHDR(value)) {}

    TextSource source() { return {this, next}; } // while this lasts

  private:
    // This is the callback of a TextSource. A piece is valid until the next call, which frees it.
    // Returns false at the end.
    static bool next(void* context, const uint8_t** piece, size_t* bytes);

    const char* at_;
    const char* end_;
    TextPart part_;
};

// The same, a code point at a time, and with the places of the server's characters, as substr()
// counts them. In a SQL_ASCII database these are bytes.
class PlacedText {
  public:
    explicit PlacedText(const text* value);

    // Sets `at` to the next code point in UTF-8, and `place` to that of the character that it
    // belongs to. Valid until the next call. Returns false at the end.
    bool next(const uint8_t** at, size_t* bytes, WordPlace* place);

  private:
    void next_part();
    const char* end_of_character() const;

    const char* begin_;
    const char* at_; // the character of the next code point
    const char* end_;
    size_t characters_ = 0;         // before at_
    TextPart part_;                 // from the next code point on
    const char* one_by_one_;        // up to here each character is a part of its own
    bool is_one_character_ = false; // the part is, whatever the number of its code points
};

// The kinds of the characters that begin and end at a byte of the text: separators beyond its ends.
// begin: where some character before begins, or the same byte
CharacterKind kind_at(const text* value, size_t byte);
CharacterKind kind_before(const text* value, size_t byte, size_t begin);

// Adds the words of the text, for a search for passages. Raises an error where they are too many.
void add_words(const text* value, GrowingArray<uint64_t>* words);

// The hash of a text value, or of `length` bytes of text, as UTF-8.
uint64_t hash_server_text(HashKind kind, Datum value);
uint64_t hash_server_bytes(HashKind kind, const char* bytes, size_t length);

// Calls take(hash, positions) for each lexeme of a tsvector; a stripped one has no positions. It
// has at most 1 MB of lexemes, so this looks for no interrupts.
void each_lexeme(TSVector document, const auto& take) {
    const WordEntry* lexemes = ARRPTR(document);
    for (int i = 0; i < document->size; i++)
        take(hash_server_bytes(HashKind::kXxh3, STRPTR(document) + lexemes[i].pos, lexemes[i].len),
             lexemes[i].haspos ? POSDATALEN(document, lexemes + i) : 0);
}

// `bytes` bytes of UTF-8 as text of the server. A character that the server's encoding lacks is
// written as PostgreSQL's U&'' strings write it: backslash and hexadecimal digits, \03bc or
// \+01f600. So the result is for people to read, and cannot fail.
text* shown_as_server_text(const uint8_t* utf8, size_t bytes);

} // namespace simhash
