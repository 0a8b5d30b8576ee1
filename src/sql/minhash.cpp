// minhash(), whose fingerprint has one bit of each of 64 minima (core/text/minhash.hpp). It takes a
// document, the caller's features or hashes, or a tsvector; minhash_agg() takes the features in the
// rows of a group. minhash_radius() and minhash_similarity() tell how distance and similarity
// relate.
#include "pg.hpp"

#include "core/bits/distance.hpp"
#include "core/text/minhash.hpp"
#include "core/text/minhash_distance.hpp"
#include "sql/aggregate_context.hpp"
#include "sql/arguments.hpp"
#include "sql/server_text.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(simhash_minhash_document);
PG_FUNCTION_INFO_V1(simhash_minhash_features);
PG_FUNCTION_INFO_V1(simhash_minhash_hashes);
PG_FUNCTION_INFO_V1(simhash_minhash_tsvector);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_transition);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_serialize);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_deserialize);
PG_FUNCTION_INFO_V1(simhash_minhash_agg_final);
PG_FUNCTION_INFO_V1(simhash_minhash_radius);
PG_FUNCTION_INFO_V1(simhash_minhash_similarity);
}

namespace {

using namespace simhash;

constexpr int kDefaultWidth = 3;

// Returns the fingerprint, or NULL if there was no feature.
Datum minhash_datum(FunctionCallInfo fcinfo, Minima& minima) {
    uint64_t fingerprint;
    if (!minhash(minima, &fingerprint))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(fingerprint));
}

// Returns the fingerprint of the features that are not NULL.
template <typename HashOf>
Datum array_minhash(FunctionCallInfo fcinfo, const char* what, HashOf hash_of) {
    Elements features = array_elements(PG_GETARG_ARRAYTYPE_P(0), what);
    Minima minima;
    for (int i = 0; i < features.count; i++) {
        if (i % 1024 == 0)
            CHECK_FOR_INTERRUPTS();
        if (!features.nulls[i])
            minima.add(hash_of(features.values[i]));
    }
    return minhash_datum(fcinfo, minima);
}

// ---- the aggregate ----

// The state holds features back and adds them to its minima in batches. A call that reads the
// minima adds the waiting features first. The state stands for the same set of features before and
// after, so final and combine functions may do this to a state that is used again, as in a window.

Minima* new_state(MemoryContext context) {
    auto* minima = static_cast<Minima*>(MemoryContextAlloc(context, sizeof(Minima)));
    *minima = Minima{};
    return minima;
}

Minima* state_argument(FunctionCallInfo fcinfo, int argument) {
    return reinterpret_cast<Minima*>(PG_GETARG_POINTER(argument));
}

} // namespace

// minhash(document text, features text, width integer) -> bigint
Datum simhash_minhash_document(PG_FUNCTION_ARGS) {
    FeatureKind features = features_argument(fcinfo, 1);
    int width = width_argument(fcinfo, 2, kDefaultWidth);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    text* document = PG_GETARG_TEXT_PP(0);
    ServerText source(document);
    uint64_t fingerprint;
    bool found = document_minhash(features, width, source.source(), &fingerprint);
    PG_FREE_IF_COPY(document, 0);
    if (!found)
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(fingerprint));
}

// minhash(features text[]) -> bigint
Datum simhash_minhash_features(PG_FUNCTION_ARGS) {
    return array_minhash(fcinfo, "features",
                         [](Datum feature) { return hash_server_text(HashKind::kXxh3, feature); });
}

// minhash(hashes bigint[]) -> bigint
Datum simhash_minhash_hashes(PG_FUNCTION_ARGS) {
    return array_minhash(fcinfo, "hashes",
                         [](Datum hash) { return uint64_t(DatumGetInt64(hash)); });
}

// minhash(document tsvector) -> bigint
Datum simhash_minhash_tsvector(PG_FUNCTION_ARGS) {
    TSVector document = PG_GETARG_TSVECTOR(0);
    const WordEntry* lexemes = ARRPTR(document);
    Minima minima;
    for (int i = 0; i < document->size; i++)
        minima.add(
            hash_server_bytes(HashKind::kXxh3, STRPTR(document) + lexemes[i].pos, lexemes[i].len));
    return minhash_datum(fcinfo, minima);
}

// (state, feature text). A feature that is NULL is none.
Datum simhash_minhash_agg_transition(PG_FUNCTION_ARGS) {
    MemoryContext context = aggregate_context(fcinfo);
    Minima* minima = PG_ARGISNULL(0) ? new_state(context) : state_argument(fcinfo, 0);
    if (!PG_ARGISNULL(1))
        minima->add(hash_server_text(HashKind::kXxh3, PG_GETARG_DATUM(1)));
    PG_RETURN_POINTER(minima);
}

Datum simhash_minhash_agg_combine(PG_FUNCTION_ARGS) {
    MemoryContext context = aggregate_context(fcinfo);
    Minima* minima = PG_ARGISNULL(0) ? new_state(context) : state_argument(fcinfo, 0);
    if (!PG_ARGISNULL(1) && state_argument(fcinfo, 1)->any())
        minima->add(state_argument(fcinfo, 1)->values());
    PG_RETURN_POINTER(minima);
}

// The minima as a worker sends them to its leader on the same machine. The array is empty if there
// was no feature.
Datum simhash_minhash_agg_serialize(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    Minima* minima = state_argument(fcinfo, 0);
    size_t bytes = minima->any() ? sizeof(Minima::Values) : 0;
    bytea* serialized = static_cast<bytea*>(palloc(VARHDRSZ + bytes));
    SET_VARSIZE(serialized, VARHDRSZ + bytes);
    memcpy(VARDATA(serialized), minima->values().data(), bytes);
    PG_RETURN_BYTEA_P(serialized);
}

// All values of minima are possible, so only their number can be wrong.
Datum simhash_minhash_agg_deserialize(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    const bytea* serialized = PG_GETARG_BYTEA_PP(0);
    size_t bytes = VARSIZE_ANY_EXHDR(serialized);
    Minima::Values values;
    if (bytes != 0 && bytes != sizeof values)
        ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg("invalid state of aggregate minhash_agg"),
                        errdetail("The state has %zu bytes.", bytes),
                        errhint("It has %zu bytes, or none.", sizeof values)));
    Minima* minima = new_state(CurrentMemoryContext);
    if (bytes != 0) {
        memcpy(values.data(), VARDATA_ANY(serialized), bytes);
        minima->add(values);
    }
    PG_RETURN_POINTER(minima);
}

Datum simhash_minhash_agg_final(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    return minhash_datum(fcinfo, *state_argument(fcinfo, 0));
}

// minhash_radius(similarity double precision, recall double precision) -> integer
Datum simhash_minhash_radius(PG_FUNCTION_ARGS) {
    double similarity = share_argument(fcinfo, 0, "similarity");
    double recall = share_argument(fcinfo, 1, "recall");
    PG_RETURN_INT32(minhash_radius(similarity, recall));
}

// minhash_similarity(distance integer, confidence double precision) -> (similarity, low, high)
Datum simhash_minhash_similarity(PG_FUNCTION_ARGS) {
    int32 distance = PG_GETARG_INT32(0);
    double confidence = PG_GETARG_FLOAT8(1);
    if (distance < 0 || distance > kFingerprintBits)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("distance is out of range"),
                 errdetail("The distance is %d.", distance),
                 errhint("Use a distance from 0 to %d.", kFingerprintBits)));
    if (!(confidence > 0 && confidence < 1))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("confidence is out of range"),
                 errdetail("The confidence is %g.", confidence),
                 errhint("Use a number between 0 and 1, without these.")));
    TupleDesc columns;
    if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    SimilarityEstimate estimate = minhash_similarity(distance, confidence);
    Datum values[] = {Float8GetDatum(estimate.similarity), Float8GetDatum(estimate.low),
                      Float8GetDatum(estimate.high)};
    bool nulls[3] = {};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}
