// The distance functions' C entry points, by whose addresses the planner part recognises them, and
// the radius rule that all predicates share.
#pragma once
#include "pg.hpp"

extern "C" {
PGDLLEXPORT Datum simhash_hamming(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_within(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_at(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_beyond(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_radius_below(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_radius(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_duplicate(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_1(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_2(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_3(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_4(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_5(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_6(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_7(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_near_8(PG_FUNCTION_ARGS);
}

namespace simhash {

// The radius of ~= : the distance up to which two documents count as near-duplicates.
constexpr int kNearDuplicateRadius = 3;
constexpr int kNoRadius = -1;

// A radius is never a reason to fail: below 0 nothing matches, above 64 everything. So -1 stands
// for all negative ones and 64 for all greater ones.
constexpr int saturate_radius(int64 radius) {
    return radius < 0 ? -1 : radius > 64 ? 64 : (int)radius;
}

} // namespace simhash
