// Codes: bit strings, bit(n) in SQL, whose distance is the number of bits in which they differ.
#pragma once

#include "server/pg.hpp"

extern "C" {
PGDLLEXPORT Datum simhash_hamming_bit(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_within_bit(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_codes_alike(PG_FUNCTION_ARGS);
}

namespace simhash {

// A code as it lies in a datum, whose bytes need not be aligned.
struct Code {
    const uint8* bytes; // [(bit_count + 7) / 8], the unused bits of the last one 0
    int bit_count;

    size_t byte_count() const { return (size_t(bit_count) + 7) / 8; }
};

// Takes a value of type bit or bit varying as it is, and unpacks it only where it is compressed or
// in a table of its own.
Code datum_get_code(Datum datum);

[[noreturn]] void report_different_lengths(int bit_count, int other_bit_count);

// Raises an error unless both have the same length.
int code_distance(const Code& a, const Code& b);

} // namespace simhash
