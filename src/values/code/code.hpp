// Codes: bit strings, bit(n) in SQL, whose distance is the number of bits in which they differ.
#pragma once

#include "server/pg.hpp"

#include <span>

namespace simhash {

// ---- code.cpp ----

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

// Writes the lanes of a code of at most kMaxCodeBits (lanes_of_bits()) into
// lanes[lane_count_of_bits(bit_count)]. Of codes of one length that come one after another it
// computes them faster.
void lanes_of_code(const Code& code, uint64_t* lanes);

// Raises an error unless both have the same length.
int code_distance(const Code& a, const Code& b);

// ---- bit_ball.cpp ----

// The type bit_ball: all codes within a radius of a center, or all texts of which a lane is. The
// index searches for code <@ bit_ball(query, radius) and text <@~~ bit_ball(minhash_code(query),
// radius).
//
// The stored form: a varlena of alignment int. The radius is any int32: with a negative one the
// ball is empty. The center is a whole value of type bit.
// The center's own header lies at an address divisible by 4, as that of a value of type bit must.
struct BitBall {
    int32 varlena_header;
    int32 radius;
    VarBit center;
};
static_assert(offsetof(BitBall, center) == 8);

// The ball, aligned and with a header of 4 bytes.
inline BitBall* datum_get_bit_ball(Datum datum) {
    return reinterpret_cast<BitBall*>(PG_DETOAST_DATUM(datum));
}

// The center of a ball that datum_get_bit_ball() gave: as a value of type bit, VarBitPGetDatum() of
// it.
inline VarBit* center(BitBall* ball) { return &ball->center; }

// Reads the center as lanes, 64 bits each. Returns false if it has another number of them.
bool read_lanes(const BitBall& ball, std::span<uint64_t> lanes);

// Makes a ball around a value of type bit, in the current context. A radius beyond int32 saturates.
BitBall* make_bit_ball(Datum center_code, int64 radius);

} // namespace simhash
