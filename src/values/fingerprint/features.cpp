// simhash_features(), the features that simhash() takes out of a document, and simhash_hash(), the
// hash of one feature.
#include "server/pg.hpp"

#include <algorithm>

#include "core/text/feature_list.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(simhash_features);
PG_FUNCTION_INFO_V1(simhash_hash);
}

using namespace simhash;

// simhash_features(document text, features text, width integer) -> setof (feature text, frequency
// integer)
Datum simhash_features(PG_FUNCTION_ARGS) {
    InitMaterializedSRF(fcinfo, 0);
    ReturnSetInfo* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    FeatureKind features = features_argument(fcinfo, 1);
    int width = width_argument(fcinfo, 2, default_width(features));
    if (PG_ARGISNULL(0))
        return Datum(0);

    ServerText source(PG_GETARG_TEXT_PP(0));
    FeatureList list(server_memory());
    each_feature(features, width, source.source(), list);
    for (size_t i = 0; i < list.listed.size(); i++) {
        const ListedFeature& feature = list.listed[i];
        // This is the feature as simhash() hashes it, normalised and folded, in the server's
        // encoding.
        text* shown = shown_as_server_text(&list.texts[feature.begin], feature.bytes);
        Datum values[] = {PointerGetDatum(shown),
                          Int32GetDatum(int(std::min(feature.frequency, uint32_t(PG_INT32_MAX))))};
        bool nulls[] = {false, false};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
        pfree(shown);
        if (i % 1024 == 0)
            CHECK_FOR_INTERRUPTS();
    }
    list.release();
    return Datum(0);
}

// simhash_hash(feature text, hash text) -> bigint
Datum simhash_hash(PG_FUNCTION_ARGS) {
    HashKind hash = hash_argument(fcinfo, 1);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(hash_server_text(hash, PG_GETARG_DATUM(0))));
}
