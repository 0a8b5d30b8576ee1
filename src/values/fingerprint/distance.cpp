// The distance of two fingerprints, and the predicates that compare it, as SQL functions.
//
//     hamming(a, b), a <~> b           number of differing bits, 0..64
//     hamming_within(a, b, radius)     a <~> b <= radius
//     a ~= b                           a <~> b <= 3
//     a ~|||||= b                      a <~> b <= 5: as many bars as bits, 1..8
//
// The planner's side (planner/rewrite.cpp) turns comparisons of a distance with a limit into the
// second of these. None raises an error, whatever the limit, and all are LEAKPROOF:
// otherwise a table with row-level security would not use the index.
#include "values/fingerprint/fingerprint.hpp"

#include "core/bits/fingerprint.hpp"

using namespace simhash;

namespace {

int distance_of_first_two(FunctionCallInfo fcinfo) {
    return hamming_distance(uint64_t(PG_GETARG_INT64(0)), uint64_t(PG_GETARG_INT64(1)));
}

} // namespace

SIMHASH_FUNCTION(simhash_hamming_bigint) { PG_RETURN_INT32(distance_of_first_two(fcinfo)); }

SIMHASH_FUNCTION(simhash_hamming_within_bigint) {
    // A bigint holds any radius: a negative one has no row, and one of 64 or more has all.
    PG_RETURN_BOOL(distance_of_first_two(fcinfo) <= PG_GETARG_INT64(2));
}

// The radius of "distance < limit": limit - 1, or for the least bigint that number itself.
SIMHASH_FUNCTION(simhash_hamming_radius_below) {
    int64 limit = PG_GETARG_INT64(0);
    // No distance is below either of them.
    PG_RETURN_INT64(limit == PG_INT64_MIN ? limit : limit - 1);
}

// The greatest radius that is not above a limit of any size or, with `below`, that is below it: -1
// to the length of the longest bit string, as it is asked for codes, too. NaN is above all.
SIMHASH_FUNCTION(simhash_hamming_radius) {
    Datum limit = PG_GETARG_DATUM(0);
    bool below = PG_GETARG_BOOL(1);
    auto is_less = [limit](int64 number) {
        Datum other = NumericGetDatum(int64_to_numeric(number));
        return DatumGetBool(DirectFunctionCall2(numeric_lt, limit, other));
    };
    // A limit below 0, or equal to 0 with `below`, leaves no distance.
    if (is_less(0))
        PG_RETURN_INT64(kNoRadius);
    // Numbers of any size, infinity and NaN end here, so the conversion below cannot fail.
    if (!is_less(int64(VARBITMAXLEN) + 1))
        PG_RETURN_INT64(VARBITMAXLEN);
    // Below 3.2 are distances up to 3 = ceil(3.2) - 1, and below 3 up to 2 = ceil(3) - 1. Not above
    // 3.2 are those up to 3 = floor(3.2).
    Datum whole = DirectFunctionCall1(below ? numeric_ceil : numeric_floor, limit);
    PG_RETURN_INT64(DatumGetInt64(DirectFunctionCall1(numeric_int8, whole)) - below);
}

SIMHASH_FUNCTION(simhash_hamming_near) {
    PG_RETURN_BOOL(distance_of_first_two(fcinfo) <= kCloseRadius);
}

#define SIMHASH_NEAR(radius)                                                                       \
    SIMHASH_FUNCTION(simhash_hamming_near_##radius) {                                              \
        PG_RETURN_BOOL(distance_of_first_two(fcinfo) <= (radius));                                 \
    }
SIMHASH_FOR_EACH_RADIUS(SIMHASH_NEAR)
