// simhash_pairs_agg: the server's side of core/pairs/near_pairs.hpp. It collects the fingerprints
// of the rows of a group, and returns the near pairs in order as an array.
#include <optional>

#include "core/bits/fingerprint.hpp"
#include "server/aggregates.hpp"
#include "server/call_memory.hpp"
#include "server/sorter.hpp"
#include "whole_tables/collector.hpp"

using namespace simhash;

namespace {

// The limit of memory is that of a hash table in the same query. Half of it is for the
// fingerprints, and half for the pairs; more of them go to files.
struct PairsState {
    std::optional<int32> radius; // nullopt stands for NULL
    Collector fingerprints{get_hash_memory_limit() / 2};
};

// The radius of the transition's row.
// Without the argument the default stands; NULL as the argument makes the result NULL.
std::optional<int32> radius_argument(FunctionCallInfo fcinfo) {
    if (PG_NARGS() < 3)
        return kCloseRadius;
    if (PG_ARGISNULL(2))
        return std::nullopt;
    return PG_GETARG_INT32(2);
}

void check_same_radius(std::optional<int32> radius, std::optional<int32> of_state) {
    if (radius != of_state)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("radius of simhash_pairs_agg must be the same in all rows of a group"),
                errhint("Use a constant, or add the radius to GROUP BY."));
}

// The pairs as an array of row_type.
Datum pair_array(PairsState* state, Oid row_type) {
    // Each element of the array is a row with its header, the two fingerprints and the distance. An
    // array has less than 1 GB.
    constexpr size_t kRowBytes = MAXALIGN(SizeofHeapTupleHeader) + 3 * sizeof(int64);
    constexpr size_t kMost = (MaxAllocSize - ARR_OVERHEAD_NONULLS(1)) / kRowBytes;
    CallMemory memory;
    ExternalSorter<Pair> pairs(get_hash_memory_limit() / 2);
    size_t count = 0;
    auto add = [&](uint64_t a, uint64_t b) {
        if (++count > kMost)
            ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("too many pairs for an array"),
                    errdetail("There are more than %zu pairs.", kMost),
                    errhint("Use a smaller radius or smaller groups, or simhash_pairs('SELECT "
                            "id, fp FROM ...', radius), which has no such limit."));
        pairs.add({a, b});
        return true;
    };
    state->fingerprints.finish();
    find_pairs(&state->fingerprints, nullptr, *state->radius, {add});
    pairs.finish();
    // The type counts this reference until ReleaseTupleDesc(); after an error the server does that.
    TupleDesc description = lookup_rowtype_tupdesc(row_type, -1);
    ArrayBuildState* array = initArrayResult(row_type, CurrentMemoryContext, false);
    for (Pair pair{}; pairs.next(&pair);) {
        Datum values[3] = {Int64GetDatum(from_ordered(pair.first)),
                           Int64GetDatum(from_ordered(pair.second)),
                           Int32GetDatum(hamming_distance(pair.first, pair.second))};
        bool nulls[3] = {};
        CHECK_FOR_INTERRUPTS();
        HeapTuple tuple = heap_form_tuple(description, values, nulls);
        accumArrayResult(array, HeapTupleGetDatum(tuple), false, row_type, array->mcontext);
        heap_freetuple(tuple);
    }
    pairs.release();
    ReleaseTupleDesc(description);
    return makeArrayResult(array, memory.caller());
}

} // namespace

// (state, fp bigint [, radius integer]).
SIMHASH_FUNCTION(simhash_pairs_agg_transition) {
    MemoryContext context = aggregate_context(fcinfo);
    std::optional<int32> radius = radius_argument(fcinfo);
    if (PG_ARGISNULL(0) && radius)
        check_radius(*radius, kFingerprintBits);
    auto* state = PG_ARGISNULL(0) ? new_state<PairsState>(context, radius)
                                  : state_argument<PairsState>(fcinfo, 0);
    check_same_radius(radius, state->radius);
    if (!PG_ARGISNULL(1))
        state->fingerprints.add(to_ordered(PG_GETARG_INT64(1)));
    PG_RETURN_POINTER(state);
}

SIMHASH_FUNCTION(simhash_pairs_agg_final) {
    aggregate_context(fcinfo);
    auto* state = PG_ARGISNULL(0) ? nullptr : state_argument<PairsState>(fcinfo, 0);
    if (state == nullptr || !state->radius)
        PG_RETURN_NULL();
    PG_RETURN_DATUM(pair_array(state, get_element_type(get_fn_expr_rettype(fcinfo->flinfo))));
}
