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
PGDLLEXPORT Datum simhash_hamming_near_1(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near_2(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near_3(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near_4(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near_5(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near_6(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near_7(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_hamming_near_8(PG_FUNCTION_ARGS);
}
