// Distance of two fingerprints, as SQL sees it.
#include "pg.hpp"
#include "core/bits.hpp"

extern "C" {
PG_MODULE_MAGIC;

PG_FUNCTION_INFO_V1(simhash_hamming);

Datum simhash_hamming(PG_FUNCTION_ARGS) {
    PG_RETURN_INT32(
        simhash::hamming_distance((uint64_t)PG_GETARG_INT64(0), (uint64_t)PG_GETARG_INT64(1)));
}
}
