// The type hamming_ball: all fingerprints within a radius of a center. It is what the index
// searches for: fp <@ hamming_ball(query, radius).
#pragma once
#include "pg.hpp"

extern "C" {
PGDLLEXPORT Datum simhash_ball_in(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_ball_make(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_ball_contained(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_ball_contains(PG_FUNCTION_ARGS);
}

namespace simhash {

// As stored: typlen 16, alignment double, passed by reference. The radius is any int32; whoever
// uses it takes a negative one for "nothing" and one above 64 for "everything" (saturate_radius in
// core/bits/ball.hpp).
struct HammingBall {
    int64 center;
    int32 radius;
    int32 reserved; // 0, so that equal balls are equal bytes
};
static_assert(sizeof(HammingBall) == 16);

inline HammingBall* datum_get_ball(Datum datum) {
    return reinterpret_cast<HammingBall*>(DatumGetPointer(datum));
}

// A ball in the current memory context; a radius beyond int32 saturates.
HammingBall* make_ball(int64 center, int64 radius);

} // namespace simhash
