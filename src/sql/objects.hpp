// Finding this extension's own objects in the catalogs.
//
// The extension may live in any schema, outside the search_path, beside other people's functions of
// the same names. So a function is ours when its C code is ours, and its siblings are looked up
// beside it, in its schema. Whatever was renamed, moved or dropped is just not found (InvalidOid),
// and then nothing is rewritten.
#pragma once
#include "pg.hpp"

namespace simhash {

// A C function of this library: its symbol, as pg_proc names it, and its address.
struct OurFunction {
    const char* symbol;
    PGFunction address;
};

extern const OurFunction kHamming, kHammingWithin, kHammingAt, kHammingBeyond, kHammingRadiusBelow,
    kBallMake, kBallContained;

bool is_our_function(Oid function, const OurFunction& ours);

// The function `name`(bigint, ...) with `arguments` bigint arguments in the schema of the function
// `beside`.
Oid sibling_function(Oid beside, const char* name, int arguments, const OurFunction& ours);

// The operator <~>(bigint, bigint) in the schema of the function `hamming`, which implements it.
Oid distance_operator(Oid hamming);

} // namespace simhash
