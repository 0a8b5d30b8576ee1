// Finds this extension's own objects in the catalogs.
//
// The extension may be in any schema, outside of search_path, beside other people's functions of
// the same names. So a function is ours when its C code is ours, and the functions that belong to
// it are looked up in its schema. One that was renamed, moved or dropped is not found (InvalidOid),
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
    kHammingRadius, kBallMake, kBallContained, kBallContains, kNearDuplicateDocuments,
    kDocumentsAlike, kDocumentInBall, kShingleSetsAlike, kMinhashDocument, kMinhashRadius;

// True where the function of the catalogs is this one of ours. Schema and name do not matter.
bool is_our_function(Oid function, const OurFunction& ours);

// The radius of a function that implements ~= or one of ~|= to ~||||||||=; kNoRadius for another.
int radius_of_near(Oid function);

// True for the type hamming_ball.
bool is_ball_type(Oid type);

// The function `name`(types[0], ... types[count - 1]) in the schema of the function `beside`.
// InvalidOid also where the user may not call it.
Oid sibling_function(Oid beside, const char* name, const Oid* types, int count,
                     const OurFunction& ours);

// The operator <~>(bigint, bigint) in the schema of the function `hamming`, which implements it.
Oid distance_operator(Oid hamming);

} // namespace simhash
