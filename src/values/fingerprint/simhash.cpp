// simhash() in its four forms: of a document, of the caller's features, of the caller's hashes, of
// a tsvector; simhash_agg(), of rows of (feature, weight), for weights that are computed in SQL;
// simhash_features(), the features that simhash() takes out of a document; and simhash_hash(), the
// hash of one feature.
#include <algorithm>

#include "core/bits/hash_table.hpp"
#include "core/text/document.hpp"
#include "server/aggregates.hpp"
#include "server/arguments.hpp"
#include "server/call_memory.hpp"
#include "server/server_text.hpp"

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
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("there must be as many weights as features"),
                errdetail("The number of weights is %d, of features %d.", weights.count, features),
                errhint("Leave the weights out to give every feature the weight 1."));
    return weights;
}

__int128 weight_of(const Elements& weights, int i) {
    if (weights.values == nullptr)
        return __int128(1) << kWeightFraction;
    // 0 leaves a feature out; NULL is more likely a mistake.
    if (weights.nulls[i])
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("a weight must not be null"),
                errdetail("The weight of feature %d is null.", i + 1),
                errhint("Weights are finite numbers; 0 leaves a feature out."));
    return weight_argument(DatumGetFloat8(weights.values[i]));
}

// As in an aggregate, a feature that is NULL does not vote.
Datum array_fingerprint(FunctionCallInfo fcinfo, const char* what, const auto& hash_of) {
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    Elements features = array_elements(PG_GETARG_ARRAYTYPE_P(0), what);
    Elements weights = weight_elements(fcinfo, 1, features.count);
    Votes votes;
    features.each(
        [&](int i, Datum feature) { votes.add(hash_of(feature), weight_of(weights, i)); });
    return fingerprint_result(fcinfo, votes.fingerprint());
}

} // namespace

// simhash(document text, features text, width integer, weighting text, hash text) -> bigint
SIMHASH_FUNCTION(simhash_text) {
    // The options come first: a wrong one is an error also where the document is NULL.
    DocumentOptions options = document_options(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();

    text* document = PG_GETARG_TEXT_PP(0);
    std::optional<uint64_t> fingerprint =
        document_fingerprint(options, ServerText(document).source(), server_memory());
    // A query may call this for millions of rows in one memory context.
    PG_FREE_IF_COPY(document, 0);
    return fingerprint_result(fcinfo, fingerprint);
}

// simhash_of(features text[], weights float8[], hash text) -> bigint
SIMHASH_FUNCTION(simhash_of_text_array) {
    // Here, too, a wrong option is an error whatever the features are.
    HashKind hash = hash_argument(fcinfo, 2);
    return array_fingerprint(fcinfo, "features",
                             [hash](Datum feature) { return hash_server_text(hash, feature); });
}

// simhash_of(hashes bigint[], weights float8[]) -> bigint
SIMHASH_FUNCTION(simhash_of_bigint_array) {
    return array_fingerprint(fcinfo, "hashes",
                             [](Datum hash) { return uint64_t(DatumGetInt64(hash)); });
}

// simhash(document tsvector) -> bigint. The weight of a lexeme is its number of positions, or 1
// where it has none, as in a stripped tsvector.
SIMHASH_FUNCTION(simhash_tsvector) {
    Votes votes;
    each_lexeme(PG_GETARG_TSVECTOR(0),
                [&](uint64_t hash, int positions) { votes.add(hash, std::max(positions, 1)); });
    return fingerprint_result(fcinfo, votes.fingerprint());
}

// ---- the aggregate ----

// Sums are integers, so that neither the order of the rows nor the number of parallel workers
// changes the result. A worker sends its state to its leader, on the same machine, as it is.
static_assert(sizeof(Votes) == 65 * sizeof(Votes::Sum) + sizeof(uint64_t), "there is no padding");

// (state, feature text [, weight float8]). A feature that is NULL does not vote.
SIMHASH_FUNCTION(simhash_agg_transition) {
    auto* votes = group_state<Votes>(fcinfo);
    if (PG_ARGISNULL(1))
        PG_RETURN_POINTER(votes);
    __int128 weight = __int128(1) << kWeightFraction;
    if (PG_NARGS() > 2) {
        if (PG_ARGISNULL(2))
            ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("a weight must not be null"),
                    errhint("Weights are finite numbers; 0 leaves a feature out."));
        weight = weight_argument(PG_GETARG_FLOAT8(2));
    }
    votes->add(hash_server_text(HashKind::kXxh3, PG_GETARG_DATUM(1)), weight);
    PG_RETURN_POINTER(votes);
}

SIMHASH_FUNCTION(simhash_agg_combine) {
    auto* votes = group_state<Votes>(fcinfo);
    // The state of a worker that had no row is NULL. The first state may be changed in place, the
    // second one only read.
    if (!PG_ARGISNULL(1))
        votes->add(*state_argument<Votes>(fcinfo, 1));
    PG_RETURN_POINTER(votes);
}

SIMHASH_FUNCTION(simhash_agg_serialize) {
    aggregate_context(fcinfo);
    return bytea_of(state_argument<Votes>(fcinfo, 0), sizeof(Votes));
}

SIMHASH_FUNCTION(simhash_agg_deserialize) {
    aggregate_context(fcinfo);
    const bytea* bytes = PG_GETARG_BYTEA_PP(0);
    // The server gives a context that lasts until the state is combined.
    auto* votes = new_state<Votes>(CurrentMemoryContext);
    bool has_size = VARSIZE_ANY_EXHDR(bytes) == sizeof(Votes);
    if (has_size)
        memcpy(votes, VARDATA_ANY(bytes), sizeof(Votes));
    // Sums of damaged bytes could overflow when others are added.
    if (!has_size || !votes->are_possible())
        ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                errmsg("invalid state of aggregate simhash_agg"));
    PG_RETURN_POINTER(votes);
}

SIMHASH_FUNCTION(simhash_agg_final) {
    aggregate_context(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    return fingerprint_result(fcinfo, state_argument<Votes>(fcinfo, 0)->fingerprint());
}

// ---- features ----

namespace {

struct ListedFeature {
    size_t begin;       // of the text, among the texts of all
    uint32_t bytes;     // of the text
    uint32_t frequency; // at most PG_INT32_MAX
};

} // namespace

// simhash_features(document text, features text, width integer) -> setof (feature text, frequency
// integer)
SIMHASH_FUNCTION(simhash_features) {
    // As the query has it: a look-up of the row type leaves memory with the query at each call.
    InitMaterializedSRF(fcinfo, MAT_SRF_USE_EXPECTED_DESC);
    ReturnSetInfo* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    FeatureKind features = features_argument(fcinfo, 1);
    int width = width_argument(fcinfo, 2, default_width(features));
    if (PG_ARGISNULL(0))
        return Datum(0);

    CallMemory memory;
    // The distinct features, in order of first appearance. They are identified by their hash.
    GrowingArray<ListedFeature> listed(server_memory());
    GrowingArray<uint8_t> texts(server_memory());
    HashTable<uint32_t> numbers(server_memory(), 1024);
    auto list = [&](const uint8_t* text, size_t bytes) {
        uint64_t hash = hash_feature(HashKind::kXxh3, text, bytes);
        uint32_t number = numbers.add(hash, uint32_t(listed.size()));
        if (number == listed.size()) {
            listed.add({texts.size(), uint32_t(bytes), 0});
            texts.append({text, bytes});
        }
        uint32_t& frequency = listed[number].frequency;
        frequency += frequency != PG_INT32_MAX;
    };
    each_feature(features, width, ServerText(PG_GETARG_TEXT_PP(0)).source(), list);
    for (const ListedFeature& feature : listed.all()) {
        // The feature as simhash() hashes it, normalised and folded, in the server's encoding.
        text* shown = shown_as_server_text(&texts[feature.begin], feature.bytes);
        Datum values[] = {PointerGetDatum(shown), Int32GetDatum(int(feature.frequency))};
        bool nulls[] = {false, false};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
        pfree(shown);
        CHECK_FOR_INTERRUPTS();
    }
    return Datum(0);
}

// simhash_hash(feature text, hash text) -> bigint
SIMHASH_FUNCTION(simhash_hash) {
    HashKind hash = hash_argument(fcinfo, 1);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(hash_server_text(hash, PG_GETARG_DATUM(0))));
}
