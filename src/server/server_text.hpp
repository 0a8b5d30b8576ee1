// A text value of the server as the core reads it: UTF-8, piece by piece.
//
// Text is converted because a fingerprint must be the same in every server encoding. It is
// converted in pieces so that a large document needs no second copy, and so that the query can be
// cancelled. A SQL_ASCII database does not know the encoding of its bytes: they are read as UTF-8,
// and bytes that are not UTF-8 separate words.
#pragma once

#include "server/pg.hpp"

#include "core/text/document.hpp"

namespace simhash {

class ServerText {
  public:
    explicit ServerText(const text* value)
        : at_(VARDATA_ANY(value)), end_(at_ + VARSIZE_ANY_EXHDR(value)) {}

    TextSource source() { return {this, next}; }

  private:
    // This is the callback of a TextSource. A piece is valid until the next call, which frees it.
    // Returns false at the end.
    static bool next(void* context, const uint8_t** piece, size_t* bytes);

    const char* at_;
    const char* end_;
    char* converted_ = nullptr; // the last piece in UTF-8; null where it was not converted
};

// The hash of a text value, or of `length` bytes of text, as UTF-8.
uint64_t hash_server_text(HashKind kind, Datum value);
uint64_t hash_server_bytes(HashKind kind, const char* bytes, size_t length);

// `bytes` bytes of UTF-8 as text of the server. A character that the server's encoding lacks is
// written as PostgreSQL's U&'' strings write it: backslash and hexadecimal digits, \03bc or
// \+01f600. So the result is for people to read, and cannot fail.
text* shown_as_server_text(const uint8_t* utf8, size_t bytes);

} // namespace simhash
