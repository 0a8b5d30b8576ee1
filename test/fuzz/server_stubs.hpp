// The server as the fuzzers of src/operators, src/sql and src/index see it: the real object files
// are linked against stand-ins of the server's functions that they call (server_stubs.cpp).
#pragma once

#include "server/pg.hpp"

#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <span>

namespace simhash {

inline void require(bool condition) {
    if (!condition)
        abort();
}

namespace stubs {

extern sigjmp_buf error_handler;
// Frees what the statement allocated, and returns the SQLSTATE of its error, 0 without one.
int end_statement();

} // namespace stubs

// Runs `body` as the server runs a statement: an error ends it, and what it allocated is freed.
// Returns the SQLSTATE of the error, 0 without one.
template <typename Body>
[[gnu::noinline]] int run_statement(Body body) {
    if (sigsetjmp(stubs::error_handler, 0) == 0)
        body();
    return stubs::end_statement();
}

// Calls an SQL function with arguments that are not NULL. Returns 0 if the result is NULL.
Datum call(PGFunction function, std::initializer_list<Datum> arguments);

// Copies of exactly this size, so that the sanitizer sees any byte read beyond them.
char* copied_text(std::span<const uint8_t> bytes); // up to the first zero byte
StringInfo copied_message(std::span<const uint8_t> bytes);
// With a header of one byte, at an odd address, if `is_short` and the bytes are few enough.
bytea* copied_bytea(std::span<const uint8_t> bytes, bool is_short);

inline std::span<const uint8_t> content(const bytea* value) {
    return {reinterpret_cast<const uint8_t*>(VARDATA_ANY(value)), VARSIZE_ANY_EXHDR(value)};
}

} // namespace simhash
