// The type bit_ball: all codes within a radius of a center, or all texts of which a lane is. The
// index searches for code <@ bit_ball(query, radius) and text <@~~ bit_ball(minhash_code(query),
// radius).
#pragma once

#include "server/pg.hpp"

#include <span>

extern "C" {
PGDLLEXPORT Datum simhash_bit_ball_in(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_bit_ball(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_bit_ball_contained(PG_FUNCTION_ARGS);
}

namespace simhash {

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
inline VarBit* center(BitBall* ball) {
    return &ball->center;
}

// Reads the center as lanes, 64 bits each, one after another. Returns false if it has another
// number of them.
bool read_lanes(const BitBall& ball, std::span<uint64_t> lanes);

// Makes a ball around a value of type bit in the current memory context. A radius beyond int32
// saturates.
BitBall* make_bit_ball(Datum center_code, int64 radius);

} // namespace simhash
