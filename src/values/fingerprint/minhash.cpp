// minhash(), whose fingerprint has one bit of each of 64 minima (core/text/minhash.hpp), and
// minhash_code(), whose code has one bit of each of 64, 128 or 256. They take a document, the
// caller's features or hashes, or a tsvector; minhash_agg() takes the features in the rows of a
// group. minhash_radius() and minhash_similarity() tell how distance and similarity relate.
#include "core/bits/fingerprint.hpp"
#include "core/text/minhash.hpp"
#include "server/aggregates.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"

namespace {

using namespace simhash;

// It counts words or characters: the default does not depend on the kind of features.
constexpr int kDefaultWidth = 3;
constexpr int kDefaultBits = 128;

// ---- results ----

// `add_features` adds those of argument 0 to minima of any number.
Datum fingerprint_of(FunctionCallInfo fcinfo, const auto& add_features) {
    Minima minima;
    if (!PG_ARGISNULL(0))
        add_features(fcinfo, minima);
    return fingerprint_result(fcinfo, minhash(minima));
}

// The bit string of the words in order, each from its highest bit on: so one word is, cast to
// bigint, the fingerprint.
template <size_t bits>
Datum code_of_bits(FunctionCallInfo fcinfo, const auto& add_features) {
    MinimaOf<bits> minima;
    if (!PG_ARGISNULL(0))
        add_features(fcinfo, minima);
    if (!minima.any())
        PG_RETURN_NULL();
    auto* code = static_cast<VarBit*>(palloc(VARBITTOTALLEN(bits)));
    SET_VARSIZE(code, VARBITTOTALLEN(bits));
    VARBITLEN(code) = int(bits);
    auto words = minima.words();
    for (uint64_t& word : words)
        word = pg_hton64(word);
    memcpy(VARBITS(code), words.data(), sizeof words);
    PG_RETURN_VARBIT_P(code);
}

// Argument 1 is the number of bits. The definition goes on to 1 024.
Datum code_of(FunctionCallInfo fcinfo, const auto& add_features) {
    int bits = PG_ARGISNULL(1) ? kDefaultBits : PG_GETARG_INT32(1);
    switch (bits) {
    case 64:
        return code_of_bits<64>(fcinfo, add_features);
    case 128:
        return code_of_bits<128>(fcinfo, add_features);
    case 256:
        return code_of_bits<256>(fcinfo, add_features);
    }
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("invalid value for parameter \"bits\": %d", bits),
            errdetail("A code has one bit of each of 64, 128 or 256 minima."),
            errhint("Accepted values are 64, 128 and 256."));
}

// ---- features, from argument 0 to minima ----

// A wrong option, from argument `options` on, is an error also where the document is NULL.
auto document_adder(FunctionCallInfo call, int options) {
    FeatureKind features = features_argument(call, options);
    int width = width_argument(call, options + 1, kDefaultWidth);
    return [=](FunctionCallInfo fcinfo, FeatureBatches& minima) {
        text* document = PG_GETARG_TEXT_PP(0);
        add_document(features, width, ServerText(document).source(), minima);
        PG_FREE_IF_COPY(document, 0);
    };
}

void add_texts(FunctionCallInfo fcinfo, FeatureBatches& minima) {
    array_elements(PG_GETARG_ARRAYTYPE_P(0), "features").each([&](int, Datum feature) {
        minima.add(hash_server_text(HashKind::kXxh3, feature));
    });
}

void add_hashes(FunctionCallInfo fcinfo, FeatureBatches& minima) {
    array_elements(PG_GETARG_ARRAYTYPE_P(0), "hashes").each([&](int, Datum hash) {
        minima.add(uint64_t(DatumGetInt64(hash)));
    });
}

// Positions do not matter: minima depend on the set of lexemes.
void add_lexemes(FunctionCallInfo fcinfo, FeatureBatches& minima) {
    each_lexeme(PG_GETARG_TSVECTOR(0), [&](uint64_t hash, int) { minima.add(hash); });
}

} // namespace

// minhash(document text, features text, width integer) -> bigint
SIMHASH_FUNCTION(simhash_minhash_text) { return fingerprint_of(fcinfo, document_adder(fcinfo, 1)); }

// minhash_of(features text[]) -> bigint
SIMHASH_FUNCTION(simhash_minhash_of_text_array) { return fingerprint_of(fcinfo, add_texts); }

// minhash_of(hashes bigint[]) -> bigint
SIMHASH_FUNCTION(simhash_minhash_of_bigint_array) { return fingerprint_of(fcinfo, add_hashes); }

// minhash(document tsvector) -> bigint
SIMHASH_FUNCTION(simhash_minhash_tsvector) { return fingerprint_of(fcinfo, add_lexemes); }

// minhash_code(document text, bits integer, features text, width integer) -> bit
SIMHASH_FUNCTION(simhash_minhash_code_text) { return code_of(fcinfo, document_adder(fcinfo, 2)); }

// minhash_code_of(features text[], bits integer) -> bit
SIMHASH_FUNCTION(simhash_minhash_code_of_text_array) { return code_of(fcinfo, add_texts); }

// minhash_code_of(hashes bigint[], bits integer) -> bit
SIMHASH_FUNCTION(simhash_minhash_code_of_bigint_array) { return code_of(fcinfo, add_hashes); }

// minhash_code(document tsvector, bits integer) -> bit
SIMHASH_FUNCTION(simhash_minhash_code_tsvector) { return code_of(fcinfo, add_lexemes); }

// ---- the aggregate ----

// The state holds features back and adds them to its minima in batches. A call that reads the
// minima adds the waiting features first. The state stands for the same set of features before and
// after, so final and combine functions may do this to a state that is used again, as in a window.

// (state, feature text). A feature that is NULL is none.
SIMHASH_FUNCTION(simhash_minhash_agg_transition) {
    auto* minima = group_state<Minima>(fcinfo);
    if (!PG_ARGISNULL(1))
        minima->add(hash_server_text(HashKind::kXxh3, PG_GETARG_DATUM(1)));
    PG_RETURN_POINTER(minima);
}

SIMHASH_FUNCTION(simhash_minhash_agg_combine) {
    auto* minima = group_state<Minima>(fcinfo);
    // Without a feature the other state has no minima to add, and add() would say that it had.
    if (!PG_ARGISNULL(1) && state_argument<Minima>(fcinfo, 1)->any())
        minima->add(state_argument<Minima>(fcinfo, 1)->values());
    PG_RETURN_POINTER(minima);
}

// The array is empty if there was no feature.
SIMHASH_FUNCTION(simhash_minhash_agg_serialize) {
    aggregate_context(fcinfo);
    auto* minima = state_argument<Minima>(fcinfo, 0);
    return bytea_of(minima->values().data(), minima->any() ? sizeof(Minima::Values) : 0);
}

// All values of minima are possible, so only their number can be wrong.
SIMHASH_FUNCTION(simhash_minhash_agg_deserialize) {
    aggregate_context(fcinfo);
    const bytea* serialized = PG_GETARG_BYTEA_PP(0);
    size_t bytes = VARSIZE_ANY_EXHDR(serialized);
    Minima::Values values;
    // A state comes from this function alone, unless a user calls it.
    if (bytes != 0 && bytes != sizeof values)
        ereport(ERROR, errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                errmsg("invalid state of aggregate minhash_agg"),
                errdetail("The state has %zu bytes.", bytes),
                errhint("It has %zu bytes, or none.", sizeof values));
    auto* minima = new_state<Minima>(CurrentMemoryContext);
    if (bytes != 0) {
        memcpy(values.data(), VARDATA_ANY(serialized), bytes);
        minima->add(values);
    }
    PG_RETURN_POINTER(minima);
}

SIMHASH_FUNCTION(simhash_minhash_agg_final) {
    aggregate_context(fcinfo);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    return fingerprint_result(fcinfo, minhash(*state_argument<Minima>(fcinfo, 0)));
}

// minhash_radius(similarity double precision, recall double precision) -> integer
SIMHASH_FUNCTION(simhash_minhash_radius) {
    double similarity = share_argument(fcinfo, 0, "similarity");
    double recall = share_argument(fcinfo, 1, "recall");
    PG_RETURN_INT32(minhash_radius(similarity, recall));
}

// minhash_similarity(distance integer, confidence double precision) -> (similarity, low, high)
SIMHASH_FUNCTION(simhash_minhash_similarity) {
    int32 distance = PG_GETARG_INT32(0);
    double confidence = PG_GETARG_FLOAT8(1);
    if (distance < 0 || distance > kFingerprintBits)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("distance is out of range"),
                errdetail("The distance is %d.", distance),
                errhint("Use a distance from 0 to %d.", kFingerprintBits));
    // The test is written so that NaN fails, too.
    if (!(confidence > 0 && confidence < 1))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("confidence is out of range"),
                errdetail("The confidence is %.15g.", confidence),
                errhint("Use a number between 0 and 1, without these."));
    TupleDesc columns;
    if (get_call_result_type(fcinfo, nullptr, &columns) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    SimilarityEstimate estimate = minhash_similarity(distance, confidence);
    Datum values[] = {Float8GetDatum(estimate.similarity), Float8GetDatum(estimate.low),
                      Float8GetDatum(estimate.high)};
    bool nulls[3] = {};
    PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(columns), values, nulls)));
}
