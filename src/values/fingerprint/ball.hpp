// The type hamming_ball: all fingerprints within a radius of a center. The index searches for
// fp <@ hamming_ball(query, radius).
#pragma once

#include "server/our_function.hpp"

extern "C" {
PGDLLEXPORT Datum simhash_hamming_ball_in(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_ball(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_ball_contained(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_ball_contains(PG_FUNCTION_ARGS);
}

namespace simhash {

// The stored form: typlen 16, alignment double, passed by reference. The radius is any int32: with
// a negative one the ball is empty, and above 64 it holds every fingerprint (saturate_radius in
// core/bits/ball.hpp).
struct HammingBall {
    int64 center;
    int32 radius;
    int32 reserved; // 0, so that equal balls are equal bytes
};
static_assert(sizeof(HammingBall) == 16);

constexpr OurFunction kHammingBallIn = {"simhash_hamming_ball_in", simhash_hamming_ball_in};

// No detoasting: a type of fixed length is never compressed or moved out of its row.
inline HammingBall* datum_get_ball(Datum datum) {
    return reinterpret_cast<HammingBall*>(DatumGetPointer(datum));
}

// Makes a ball in the current memory context. A radius beyond int32 saturates.
HammingBall* make_ball(int64 center, int64 radius);

} // namespace simhash
