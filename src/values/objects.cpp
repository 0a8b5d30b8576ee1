// Finds this extension's own objects in the catalogs. See the header.
#include "values/objects.hpp"

#include "core/bits/fingerprint.hpp"
#include "core/text/document_lanes.hpp"
#include "values/code/code.hpp"
#include "values/fingerprint/fingerprint.hpp"

// These are in files without headers.
extern "C" {
using Function = Datum(PG_FUNCTION_ARGS);
PGDLLEXPORT Function simhash_hamming_bigint, simhash_hamming_within_bigint, simhash_hamming_ball_in,
    simhash_hamming_ball, simhash_hamming_ball_contained, simhash_hamming_bit,
    simhash_hamming_within_bit, simhash_bit_ball_in, simhash_bit_ball, simhash_bit_ball_contained,
    simhash_hamming_radius, simhash_hamming_radius_below, simhash_documents_alike,
    simhash_document_in_ball, simhash_minhash_code_text, simhash_minhash_radius,
    simhash_passage_shared, simhash_passage_query_shared, simhash_passage_query,
    simhash_passage_options, simhash_shares_passage, simhash_hamming_near;
#define SIMHASH_DECLARE_NEAR(radius) PGDLLEXPORT Function simhash_hamming_near_##radius;
SIMHASH_FOR_EACH_RADIUS(SIMHASH_DECLARE_NEAR)
}
// The catalogs name the symbol, and the address tells it from that of another library.
#define SIMHASH_OURS(symbol, ...) (OurFunction{#symbol, symbol __VA_OPT__(, ) __VA_ARGS__})

namespace simhash {

const DistanceFamily kFingerprints = {
    .type = INT8OID,
    .distance = "<~>",
    .hamming = SIMHASH_OURS(simhash_hamming_bigint, "hamming"),
    .within = SIMHASH_OURS(simhash_hamming_within_bigint, "hamming_within"),
    .ball_in = SIMHASH_OURS(simhash_hamming_ball_in),
    .ball_make = SIMHASH_OURS(simhash_hamming_ball, "hamming_ball"),
    .ball_contained = SIMHASH_OURS(simhash_hamming_ball_contained),
};
const DistanceFamily kCodes = {
    .type = BITOID,
    .distance = "<~~>",
    .hamming = SIMHASH_OURS(simhash_hamming_bit, "hamming"),
    .within = SIMHASH_OURS(simhash_hamming_within_bit, "hamming_within"),
    .ball_in = SIMHASH_OURS(simhash_bit_ball_in),
    .ball_make = SIMHASH_OURS(simhash_bit_ball, "bit_ball"),
    .ball_contained = SIMHASH_OURS(simhash_bit_ball_contained),
};

const OurFunction kHammingRadius = SIMHASH_OURS(simhash_hamming_radius, "hamming_radius");
const OurFunction kHammingRadiusBelow =
    SIMHASH_OURS(simhash_hamming_radius_below, "hamming_radius_below");
const OurFunction kDocumentsAlike = SIMHASH_OURS(simhash_documents_alike);
const OurFunction kDocumentInBall = SIMHASH_OURS(simhash_document_in_ball);
const OurFunction kMinhashCodeText = SIMHASH_OURS(simhash_minhash_code_text, "minhash_code");
const OurFunction kMinhashRadius = SIMHASH_OURS(simhash_minhash_radius, "minhash_radius");
const OurFunction kPassageShared = SIMHASH_OURS(simhash_passage_shared);
const OurFunction kSharesPassage = SIMHASH_OURS(simhash_shares_passage);
const OurFunction kPassageQuery = SIMHASH_OURS(simhash_passage_query, "passage_query");
const OurFunction kPassageQueryShared = SIMHASH_OURS(simhash_passage_query_shared);
const OurFunction kPassageOptions = SIMHASH_OURS(simhash_passage_options);

namespace {

constexpr const DistanceFamily* kFamilies[] = {&kFingerprints, &kCodes};

constexpr struct {
    OurFunction function;
    int radius;
    // A radius is in no argument of these operators, so it is found by the function. Texts that
    // share a passage are taken to be as many as near-duplicates.
} kNearFunctions[] = {{SIMHASH_OURS(simhash_hamming_near), kCloseRadius},
                      {SIMHASH_OURS(simhash_documents_alike), kAlikeRadius},
                      {SIMHASH_OURS(simhash_passage_shared), kAlikeRadius},
                      {SIMHASH_OURS(simhash_passage_query_shared), kAlikeRadius},
#define SIMHASH_NEAR_FUNCTION(radius) {SIMHASH_OURS(simhash_hamming_near_##radius), radius},
                      SIMHASH_FOR_EACH_RADIUS(SIMHASH_NEAR_FUNCTION)};

} // namespace

int radius_of_near(Oid function) {
    for (const auto& near : kNearFunctions)
        if (is_our_function(function, near.function))
            return near.radius;
    return kNoRadius;
}

const DistanceFamily* family_of(Oid function, OurFunction DistanceFamily::*role) {
    for (const DistanceFamily* family : kFamilies)
        if (is_our_function(function, family->*role))
            return family;
    return nullptr;
}

const DistanceFamily* family_of_ball(Oid type) {
    for (const DistanceFamily* family : kFamilies)
        if (is_our_type(type, family->ball_in))
            return family;
    return nullptr;
}

Oid sibling_function(Oid beside, const OurFunction& ours, const Oid* types, int count) {
    Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(ours.name),
                                   PointerGetDatum(buildoidvector(types, count)),
                                   ObjectIdGetDatum(get_func_namespace(beside)));
    // may_call() asks for EXECUTE: the plan calls the function in the user's name.
    bool usable = OidIsValid(function) && is_our_function(function, ours) && may_call(function);
    return usable ? function : InvalidOid;
}

Oid distance_operator(const DistanceFamily& family, Oid hamming) {
    Oid distance =
        GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum(family.distance),
                        ObjectIdGetDatum(family.type), ObjectIdGetDatum(family.type),
                        ObjectIdGetDatum(get_func_namespace(hamming)));
    // Somebody may have put another operator of that name there.
    // It must be the one whose distance the index orders by.
    return OidIsValid(distance) && get_opcode(distance) == hamming ? distance : InvalidOid;
}

} // namespace simhash
