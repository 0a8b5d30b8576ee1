// The C entry points of the distance functions. The planner's side recognises the functions by
// these addresses.
#pragma once

#include "server/pg.hpp"

extern "C" {
PGDLLEXPORT Datum simhash_hamming_bigint(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_within_bigint(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_radius_below(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_radius(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near(PG_FUNCTION_ARGS);

// The operator of an exclusion constraint takes no radius, so there is one function for each.
#define SIMHASH_FOR_EACH_RADIUS(macro)                                                             \
    macro(1) macro(2) macro(3) macro(4) macro(5) macro(6) macro(7) macro(8)
#define SIMHASH_DECLARE_NEAR(radius)                                                               \
    PGDLLEXPORT Datum simhash_hamming_near_##radius(PG_FUNCTION_ARGS);
SIMHASH_FOR_EACH_RADIUS(SIMHASH_DECLARE_NEAR)
}
