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

// The state lives in the context of the group, from row to row.
Votes* new_state(MemoryContext context) {
    Votes* votes = static_cast<Votes*>(MemoryContextAlloc(context, sizeof(Votes)));
    *votes = Votes{};
    return votes;
}

// The state as a worker sends it to its leader. Both run on one machine, so the bytes are as they
// are in memory.
// All fields have 16 bytes, so the struct has no padding, whose bytes would be undefined.
struct Packed {
    __int128 ones[64], total;
    __int128 any; // 0 or 1
};

// Returns false if the bytes are no state.
// Bytes that are damaged are an error here: sums beyond the limit could overflow when others are
// added.
bool unpack(const bytea* bytes, Votes* votes) {
    Packed packed;
    if (VARSIZE_ANY_EXHDR(bytes) != sizeof(packed))
        return false;
    memcpy(&packed, VARDATA_ANY(bytes), sizeof(packed));
    memcpy(votes->ones, packed.ones, sizeof(votes->ones));
    votes->total = packed.total;
    votes->any = packed.any == 1;
    return (votes->any || packed.any == 0) && votes->are_possible();
}

} // namespace

// (state, feature text [, weight float8]). A feature that is NULL does not vote.
Datum simhash_agg_transition(PG_FUNCTION_ARGS) {
    MemoryContext context = aggregate_context(fcinfo);
    Votes* votes =
        PG_ARGISNULL(0) ? new_state(context) : reinterpret_cast<Votes*>(PG_GETARG_POINTER(0));
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
    MemoryContext context = aggregate_context(fcinfo);
    Votes* votes =
        PG_ARGISNULL(0) ? new_state(context) : reinterpret_cast<Votes*>(PG_GETARG_POINTER(0));
    // The state of a worker that had no row is NULL. The first state may be changed in place, the
    // second one only read.
    if (!PG_ARGISNULL(1))
        votes->add(*reinterpret_cast<const Votes*>(PG_GETARG_POINTER(1)));
    PG_RETURN_POINTER(votes);
}

Datum simhash_agg_serialize(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    const Votes* votes = reinterpret_cast<const Votes*>(PG_GETARG_POINTER(0));
    Packed packed;
    memcpy(packed.ones, votes->ones, sizeof(votes->ones));
    packed.total = votes->total;
    packed.any = votes->any;
    bytea* bytes = static_cast<bytea*>(palloc(VARHDRSZ + sizeof(packed)));
    SET_VARSIZE(bytes, VARHDRSZ + sizeof(packed));
    memcpy(VARDATA(bytes), &packed, sizeof(packed));
    PG_RETURN_BYTEA_P(bytes);
}

Datum simhash_agg_deserialize(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    // The server gives a context that lasts until the state is combined.
    Votes* votes = new_state(CurrentMemoryContext);
    if (!unpack(PG_GETARG_BYTEA_PP(0), votes))
        ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg("invalid state of aggregate simhash_agg")));
    PG_RETURN_POINTER(votes);
}

Datum simhash_agg_final(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    uint64_t fingerprint;
    if (PG_ARGISNULL(0) ||
        !reinterpret_cast<const Votes*>(PG_GETARG_POINTER(0))->fingerprint(&fingerprint))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(fingerprint));
}
