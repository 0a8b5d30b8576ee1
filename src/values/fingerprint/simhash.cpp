// simhash() in its four forms: of a document, of the caller's features, of the caller's hashes, of
// a tsvector.
#include "server/pg.hpp"

#include "core/text/document.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(simhash_text);
PG_FUNCTION_INFO_V1(simhash_of_text_array);
PG_FUNCTION_INFO_V1(simhash_of_bigint_array);
PG_FUNCTION_INFO_V1(simhash_tsvector);
}

namespace {

using namespace simhash;

// The arguments after the document.
DocumentOptions document_options(FunctionCallInfo fcinfo) {
    DocumentOptions options;
    options.features = features_argument(fcinfo, 1);
    options.width = width_argument(fcinfo, 2, default_width(options.features));
    options.weighting = weighting_argument(fcinfo, 3);
    options.hash = hash_argument(fcinfo, 4);
    return options;
}

// ---- arrays ----

// Returns the weights, one for each of the `features`. Returns no elements if the argument is NULL:
// then every feature weighs 1.
Elements weight_elements(FunctionCallInfo fcinfo, int argument, int features) {
    if (PG_ARGISNULL(argument))
        return {nullptr, nullptr, 0};
    Elements weights = array_elements(PG_GETARG_ARRAYTYPE_P(argument), "weights");
    // A shorter array would silently give the last features another weight.
    if (weights.count != features)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("there must be as many weights as features"),
                 errdetail("The number of weights is %d, of features %d.", weights.count, features),
                 errhint("Leave the weights out to give every feature the weight 1.")));
    return weights;
}

__int128 weight_of(const Elements& weights, int i) {
    if (weights.values == nullptr)
        return __int128(1) << kWeightFraction;
    // 0 leaves a feature out; NULL is more likely a mistake.
    if (weights.nulls[i])
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a weight must not be null"),
                 errdetail("The weight of feature %d is null.", i + 1),
                 errhint("Weights are finite numbers; 0 leaves a feature out.")));
    return weight_argument(DatumGetFloat8(weights.values[i]));
}

// As in an aggregate, a feature that is NULL does not vote.
template <typename HashOf>
Datum array_fingerprint(FunctionCallInfo fcinfo, const Elements& features, HashOf hash_of) {
    Elements weights = weight_elements(fcinfo, 1, features.count);
    Votes votes;
    for (int i = 0; i < features.count; i++) {
        if (features.nulls[i])
            continue;
        if (i % 1024 == 0)
            CHECK_FOR_INTERRUPTS();
        votes.add(hash_of(features.values[i]), weight_of(weights, i));
    }
    uint64_t fingerprint;
    if (!votes.fingerprint(&fingerprint))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(fingerprint));
}

} // namespace

// simhash(document text, features text, width integer, weighting text, hash text) -> bigint
Datum simhash_text(PG_FUNCTION_ARGS) {
    // The options come first: a wrong one is an error also where the document is NULL.
    DocumentOptions options = document_options(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();

    text* document = PG_GETARG_TEXT_PP(0);
    ServerText source(document);
    uint64_t fingerprint;
    bool found = document_fingerprint(options, source.source(), server_memory(), &fingerprint);
    // A query may call this for millions of rows in one memory context.
    PG_FREE_IF_COPY(document, 0);
    if (!found)
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(fingerprint));
}

// simhash_of(features text[], weights float8[], hash text) -> bigint
Datum simhash_of_text_array(PG_FUNCTION_ARGS) {
    // Here, too, a wrong option is an error whatever the features are.
    HashKind hash = hash_argument(fcinfo, 2);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    Elements features = array_elements(PG_GETARG_ARRAYTYPE_P(0), "features");
    return array_fingerprint(fcinfo, features,
                             [hash](Datum feature) { return hash_server_text(hash, feature); });
}

// simhash_of(hashes bigint[], weights float8[]) -> bigint
Datum simhash_of_bigint_array(PG_FUNCTION_ARGS) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    Elements hashes = array_elements(PG_GETARG_ARRAYTYPE_P(0), "hashes");
    return array_fingerprint(fcinfo, hashes,
                             [](Datum hash) { return uint64_t(DatumGetInt64(hash)); });
}

// simhash(document tsvector) -> bigint. The weight of a lexeme is its number of positions, or 1
// where it has none, as in a stripped tsvector.
Datum simhash_tsvector(PG_FUNCTION_ARGS) {
    TSVector document = PG_GETARG_TSVECTOR(0);
    const WordEntry* lexemes = ARRPTR(document);
    Votes votes;
    for (int i = 0; i < document->size; i++) {
        // A tsvector has at most 1 MB of lexemes, so the loop ends soon and looks for no
        // interrupts.
        int positions = lexemes[i].haspos ? POSDATALEN(document, lexemes + i) : 0;
        uint64_t hash =
            hash_server_bytes(HashKind::kXxh3, STRPTR(document) + lexemes[i].pos, lexemes[i].len);
        // As simhash() weighs a word by how often it occurs.
        votes.add(hash, positions > 0 ? positions : 1);
    }
    uint64_t fingerprint;
    if (!votes.fingerprint(&fingerprint))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(fingerprint));
}
