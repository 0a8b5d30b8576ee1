// Finds this extension's own objects in the catalogs.
//
// The extension may be in any schema, outside of search_path, beside other people's functions of
// the same names. So a function is ours when its C code is ours, and the functions that belong to
// it are looked up in its schema. One that was renamed, moved or dropped is not found (InvalidOid),
// and then nothing is rewritten.
#pragma once

#include "server/our_function.hpp"

namespace simhash {

// The functions of one type of values that have a distance: of fingerprints, or of codes.
struct DistanceFamily {
    Oid type;             // bigint or bit
    const char* distance; // the name of the operator that `hamming` implements

    OurFunction hamming;        // hamming(value, value)
    OurFunction within;         // hamming_within(value, value, radius)
    OurFunction ball_in;        // input of the type of balls
    OurFunction ball_make;      // hamming_ball(value, radius), bit_ball(value, radius)
    OurFunction ball_contained; // value <@ ball
};
extern const DistanceFamily kFingerprints, kCodes;

extern const OurFunction kHammingRadius, kHammingRadiusBelow, kDocumentsAlike, kDocumentInBall,
    kMinhashCodeText, kMinhashRadius, kPassageShared, kSharesPassage, kPassageQuery,
    kPassageQueryShared, kPassageOptions;

// The family that has the function in this role (&DistanceFamily::hamming), or null.
const DistanceFamily* family_of(Oid function, OurFunction DistanceFamily::*role);

// The family of a type of balls, hamming_ball or bit_ball; null for any other type.
const DistanceFamily* family_of_ball(Oid type);

// The radius of a function that implements ~=, one of ~|= to ~||||||||=, or =~~ or &~~ of texts;
// kNoRadius for another.
int radius_of_near(Oid function);

// The function of ours with these argument types in the schema of the function `beside`. InvalidOid
// also where the user may not call it.
Oid sibling_function(Oid beside, const OurFunction& ours, const Oid* types, int count);

// The operator <~>(bigint, bigint) or <~~>(bit, bit) in the schema of the family's function
// `hamming`, which implements it.
Oid distance_operator(const DistanceFamily& family, Oid hamming);

} // namespace simhash
