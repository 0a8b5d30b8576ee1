// simhash_pairs and simhash_pairs_agg: the server's side of core/whole/near_pairs.hpp. They collect
// the fingerprints of an array or of rows, find the memory, let the search be cancelled, and give
// the pairs in order.
#include "pg.hpp"

#include <optional>
#include <span>

#include "core/bits/ball.hpp"
#include "core/bits/distance.hpp"
#include "core/whole/near_pairs.hpp"
#include "sql/aggregate_context.hpp"
#include "sql/collector.hpp"
#include "sql/pair_spool.hpp"

using namespace simhash;

namespace {

// All pairs of what was collected.
PairSpool find_pairs(Collector* collector, int32 radius, MemoryContext context) {
    collector->finish();
    NearPairsMemory memory = collector->near_pairs_memory(context);
    size_t unused = get_hash_memory_limit() - memory.count * kBytesPerFingerprint;
    PairSpool spool(context, std::max<size_t>(unused / (2 * sizeof(uint64_t)), 8192));
    find_near_pairs(memory, radius, {PairSpool::add, nullptr, &spool}, kPause);
    free_scratch(memory);
    return spool;
}

// A row of the type simhash_pair; no column is null.
struct PairRow {
    Datum values[3];
    bool nulls[3] = {};

    PairRow(uint64_t a, uint64_t b)
        : values{Int64GetDatum(from_ordered(a)), Int64GetDatum(from_ordered(b)),
                 Int32GetDatum(hamming_distance(a, b))} {}
};

// ---- of an array ----

// NULLs take no room in an array, whatever its dimensions: the others follow each other.
void collect_array(ArrayType* array, size_t elements, Collector* collector) {
    const char* data = ARR_DATA_PTR(array);
    for (size_t i = 0; i < elements; ++i) {
        int64 fingerprint;
        if (i % kEntriesPerPause == 0)
            CHECK_FOR_INTERRUPTS();
        memcpy(&fingerprint, data + i * sizeof(int64), sizeof(int64));
        collector->add(to_ordered(fingerprint));
    }
}

void put_pairs(ArrayType* array, int32 radius, ReturnSetInfo* result, MemoryContext context) {
    size_t elements = (ARR_SIZE(array) - ARR_DATA_OFFSET(array)) / sizeof(int64);
    Collector collector(context, elements);
    collect_array(array, elements, &collector);
    PairSpool spool = find_pairs(&collector, radius, context);
    std::span<const uint64_t> distinct = collector.distinct();
    spool.give_in_order([&](uint32_t a, uint32_t b) {
        PairRow row(distinct[a], distinct[b]);
        CHECK_FOR_INTERRUPTS();
        tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
    });
}

// ---- of rows ----

struct PairsState {
    std::optional<int32> radius; // none: NULL
    Collector collector;
};

// The radius of the transition's row.
std::optional<int32> radius_argument(FunctionCallInfo fcinfo) {
    if (PG_NARGS() < 3)
        return kNearDuplicateRadius;
    if (PG_ARGISNULL(2))
        return std::nullopt;
    return PG_GETARG_INT32(2);
}

PairsState* new_state(MemoryContext context, std::optional<int32> radius) {
    if (radius)
        check_radius(*radius);
    auto* state = allocate<PairsState>(context, 1);
    *state = {radius, Collector(context, kUnknownRows)};
    return state;
}

void check_same_radius(const PairsState* state, std::optional<int32> radius) {
    if (radius != state->radius)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("radius of simhash_pairs_agg must be the same in all rows of a group"),
                 errhint("Use a constant, or add the radius to GROUP BY.")));
}

size_t most_pairs_of_array() {
    constexpr size_t kRowBytes =
        MAXALIGN(SizeofHeapTupleHeader) + 2 * sizeof(int64) + sizeof(int64);
    return (MaxAllocSize - ARR_OVERHEAD_NONULLS(1)) / kRowBytes;
}

void check_pair_count(size_t pairs) {
    if (pairs > most_pairs_of_array())
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many pairs for an array"),
                 errdetail("There are %zu pairs; the limit is %zu.", pairs, most_pairs_of_array()),
                 errhint("Use a smaller radius or smaller groups, or simhash_pairs((SELECT "
                         "array_agg(fp) FROM ...)), which has no such limit.")));
}

// The pairs as an array of row_type.
Datum pair_array(PairsState* state, Oid row_type, MemoryContext context) {
    PairSpool spool = find_pairs(&state->collector, *state->radius, context);
    check_pair_count(spool.size());
    std::span<const uint64_t> distinct = state->collector.distinct();
    TupleDesc description = lookup_rowtype_tupdesc(row_type, -1);
    ArrayBuildState* array = initArrayResult(row_type, context, false);
    spool.give_in_order([&](uint32_t a, uint32_t b) {
        PairRow row(distinct[a], distinct[b]);
        CHECK_FOR_INTERRUPTS();
        HeapTuple tuple = heap_form_tuple(description, row.values, row.nulls);
        accumArrayResult(array, HeapTupleGetDatum(tuple), false, row_type, context);
        heap_freetuple(tuple);
    });
    ReleaseTupleDesc(description);
    return makeArrayResult(array, CurrentMemoryContext);
}

MemoryContext pairs_context() {
    return AllocSetContextCreate(CurrentMemoryContext, "simhash_pairs", ALLOCSET_DEFAULT_SIZES);
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_pairs);
PG_FUNCTION_INFO_V1(simhash_pairs_agg_transition);
PG_FUNCTION_INFO_V1(simhash_pairs_agg_final);
}

Datum simhash_pairs(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(1);
    check_radius(radius);
    InitMaterializedSRF(fcinfo, 0);
    MemoryContext context = pairs_context();
    put_pairs(PG_GETARG_ARRAYTYPE_P(0), radius,
              reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), context);
    MemoryContextDelete(context);
    return Datum(0);
}

// (state, fp bigint [, radius integer]).
Datum simhash_pairs_agg_transition(PG_FUNCTION_ARGS) {
    MemoryContext context = aggregate_context(fcinfo);
    std::optional<int32> radius = radius_argument(fcinfo);
    PairsState* state = PG_ARGISNULL(0) ? new_state(context, radius)
                                        : reinterpret_cast<PairsState*>(PG_GETARG_POINTER(0));
    check_same_radius(state, radius);
    if (!PG_ARGISNULL(1))
        state->collector.add(to_ordered(PG_GETARG_INT64(1)));
    PG_RETURN_POINTER(state);
}

Datum simhash_pairs_agg_final(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<PairsState*>(PG_GETARG_POINTER(0));
    if (state == nullptr || !state->radius)
        PG_RETURN_NULL();
    MemoryContext context = pairs_context();
    Datum array = pair_array(state, get_element_type(get_fn_expr_rettype(fcinfo->flinfo)), context);
    MemoryContextDelete(context);
    return array;
}
