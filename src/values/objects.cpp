// Finds this extension's own objects in the catalogs. See the header.
#include "values/objects.hpp"

#include "core/bits/ball.hpp"
#include "values/fingerprint/ball.hpp"
#include "values/code/bit_ball.hpp"
#include "values/code/code.hpp"
#include "values/fingerprint/distance.hpp"

// These are in files without headers.
extern "C" {
PGDLLEXPORT Datum simhash_near_duplicate(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_documents_alike(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_document_in_ball(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_minhash_code_text(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_minhash_radius(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_passage_shared(PG_FUNCTION_ARGS);
PGDLLEXPORT Datum simhash_shares_passage(PG_FUNCTION_ARGS);
}

namespace simhash {

const DistanceFamily kFingerprints = {
    .type = INT8OID,
    .distance = "<~>",
    .ball_sql = "hamming_ball",
    .hamming = {"simhash_hamming_bigint", simhash_hamming_bigint},
    .within = {"simhash_hamming_within_bigint", simhash_hamming_within_bigint},
    .ball_in = kHammingBallIn,
    .ball_make = {"simhash_hamming_ball", simhash_hamming_ball},
    .ball_contained = {"simhash_hamming_ball_contained", simhash_hamming_ball_contained},
    .ball_contains = {"simhash_hamming_ball_contains", simhash_hamming_ball_contains},
};
const DistanceFamily kCodes = {
    .type = BITOID,
    .distance = "<~~>",
    .ball_sql = "bit_ball",
    .hamming = {"simhash_hamming_bit", simhash_hamming_bit},
    .within = {"simhash_hamming_within_bit", simhash_hamming_within_bit},
    .ball_in = kBitBallIn,
    .ball_make = {"simhash_bit_ball", simhash_bit_ball},
    .ball_contained = {"simhash_bit_ball_contained", simhash_bit_ball_contained},
    .ball_contains = {"simhash_bit_ball_contains", simhash_bit_ball_contains},
};

const OurFunction kHammingRadius = {"simhash_hamming_radius", simhash_hamming_radius};
const OurFunction kHammingRadiusBelow = {"simhash_hamming_radius_below",
                                         simhash_hamming_radius_below};
const OurFunction kCodesAlike = {"simhash_codes_alike", simhash_codes_alike};
const OurFunction kNearDuplicate = {"simhash_near_duplicate", simhash_near_duplicate};
const OurFunction kDocumentsAlike = {"simhash_documents_alike", simhash_documents_alike};
const OurFunction kDocumentInBall = {"simhash_document_in_ball", simhash_document_in_ball};
const OurFunction kMinhashCodeText = {"simhash_minhash_code_text", simhash_minhash_code_text};
const OurFunction kMinhashRadius = {"simhash_minhash_radius", simhash_minhash_radius};
const OurFunction kPassageShared = {"simhash_passage_shared", simhash_passage_shared};
const OurFunction kSharesPassage = {"simhash_shares_passage", simhash_shares_passage};

namespace {

constexpr const DistanceFamily* kFamilies[] = {&kFingerprints, &kCodes};

constexpr struct {
    OurFunction function;
    int radius;
} kNearFunctions[] = {
    {{"simhash_hamming_near", simhash_hamming_near}, kCloseRadius},
    {{"simhash_hamming_near_1", simhash_hamming_near_1}, 1},
    {{"simhash_hamming_near_2", simhash_hamming_near_2}, 2},
    {{"simhash_hamming_near_3", simhash_hamming_near_3}, 3},
    {{"simhash_hamming_near_4", simhash_hamming_near_4}, 4},
    {{"simhash_hamming_near_5", simhash_hamming_near_5}, 5},
    {{"simhash_hamming_near_6", simhash_hamming_near_6}, 6},
    {{"simhash_hamming_near_7", simhash_hamming_near_7}, 7},
    {{"simhash_hamming_near_8", simhash_hamming_near_8}, 8},
};

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

bool has_values_as_centers(Oid ball, Oid type) {
    const DistanceFamily* family = family_of_ball(ball);
    return family != nullptr && family->type == type;
}

Oid sibling_function(Oid beside, const char* name, const Oid* types, int count,
                     const OurFunction& ours) {
    Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
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
    return OidIsValid(distance) && get_opcode(distance) == hamming ? distance : InvalidOid;
}

} // namespace simhash
