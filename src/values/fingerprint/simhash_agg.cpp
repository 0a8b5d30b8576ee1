// simhash_agg: a fingerprint from rows of (feature, weight), for weights that are computed in SQL.
// Sums are integers, so that neither the order of the rows nor the number of parallel workers
// changes the result.
#include "server/pg.hpp"

#include "core/text/votes.hpp"
#include "server/aggregate_context.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(simhash_agg_transition);
PG_FUNCTION_INFO_V1(simhash_agg_combine);
PG_FUNCTION_INFO_V1(simhash_agg_serialize);
PG_FUNCTION_INFO_V1(simhash_agg_deserialize);
PG_FUNCTION_INFO_V1(simhash_agg_final);
}

namespace {

using namespace simhash;

// A worker sends its state to its leader on the same machine as it is in memory.
static_assert(sizeof(Votes) == 65 * sizeof(Votes::Sum) + sizeof(uint64_t), "there is no padding");

} // namespace

// (state, feature text [, weight float8]). A feature that is NULL does not vote.
Datum simhash_agg_transition(PG_FUNCTION_ARGS) {
    auto* votes = group_state<Votes>(fcinfo);
    if (PG_ARGISNULL(1))
        PG_RETURN_POINTER(votes);
    __int128 weight = __int128(1) << kWeightFraction;
    if (PG_NARGS() > 2) {
        if (PG_ARGISNULL(2))
            ereport(ERROR,
                    (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a weight must not be null"),
                     errhint("Weights are finite numbers; 0 leaves a feature out.")));
        weight = weight_argument(PG_GETARG_FLOAT8(2));
    }
    votes->add(hash_server_text(HashKind::kXxh3, PG_GETARG_DATUM(1)), weight);
    PG_RETURN_POINTER(votes);
}

Datum simhash_agg_combine(PG_FUNCTION_ARGS) {
    auto* votes = group_state<Votes>(fcinfo);
    // The state of a worker that had no row is NULL. The first state may be changed in place, the
    // second one only read.
    if (!PG_ARGISNULL(1))
        votes->add(*state_argument<Votes>(fcinfo, 1));
    PG_RETURN_POINTER(votes);
}

Datum simhash_agg_serialize(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    bytea* bytes = static_cast<bytea*>(palloc(VARHDRSZ + sizeof(Votes)));
    SET_VARSIZE(bytes, VARHDRSZ + sizeof(Votes));
    memcpy(VARDATA(bytes), state_argument<Votes>(fcinfo, 0), sizeof(Votes));
    PG_RETURN_BYTEA_P(bytes);
}

Datum simhash_agg_deserialize(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    const bytea* bytes = PG_GETARG_BYTEA_PP(0);
    // The server gives a context that lasts until the state is combined.
    auto* votes = new_state<Votes>(CurrentMemoryContext);
    bool has_size = VARSIZE_ANY_EXHDR(bytes) == sizeof(Votes);
    if (has_size)
        memcpy(votes, VARDATA_ANY(bytes), sizeof(Votes));
    // Sums of damaged bytes could overflow when others are added.
    if (!has_size || !votes->are_possible())
        ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg("invalid state of aggregate simhash_agg")));
    PG_RETURN_POINTER(votes);
}

Datum simhash_agg_final(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    uint64_t fingerprint;
    if (PG_ARGISNULL(0) || !state_argument<Votes>(fcinfo, 0)->fingerprint(&fingerprint))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(fingerprint));
}
