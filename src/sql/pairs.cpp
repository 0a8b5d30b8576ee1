// simhash_pairs, simhash_join and their relatives: the server's side of core/whole/near_pairs.hpp.
// They collect the fingerprints of arrays, rows or queries, and return the near pairs in order.
#include "pg.hpp"

#include <optional>

#include "core/bits/ball.hpp"
#include "core/bits/distance.hpp"
#include "sql/aggregate_context.hpp"
#include "sql/collector.hpp"
#include "sql/pair_sort.hpp"
#include "sql/query_fingerprints.hpp"

using namespace simhash;

namespace {

// A row of the type simhash_pair; no column is null.
struct PairRow {
    Datum values[3];
    bool nulls[3] = {};

    PairRow(uint64_t a, uint64_t b)
        : values{Int64GetDatum(from_ordered(a)), Int64GetDatum(from_ordered(b)),
                 Int32GetDatum(hamming_distance(a, b))} {}
};

MemoryContext pairs_context() {
    return AllocSetContextCreate(CurrentMemoryContext, "simhash_pairs", ALLOCSET_DEFAULT_SIZES);
}

// ---- as rows: of arrays and of queries ----

// An array stores no bytes for a NULL, so the data of any array, of any number of dimensions, is a
// sequence of fingerprints.
Collector collect_array(ArrayType* array, const Collector* other = nullptr) {
    size_t elements = (ARR_SIZE(array) - ARR_DATA_OFFSET(array)) / sizeof(int64);
    const char* data = ARR_DATA_PTR(array);
    Collector collector(CurrentMemoryContext, elements, other);
    for (size_t i = 0; i < elements; ++i) {
        int64 fingerprint;
        if (i % kEntriesPerPause == 0)
            CHECK_FOR_INTERRUPTS();
        memcpy(&fingerprint, data + i * sizeof(int64), sizeof(int64));
        collector.add(to_ordered(fingerprint));
    }
    collector.finish();
    return collector;
}

Collector collect_rows_of(text* query, const Collector* other = nullptr) {
    Collector collector(CurrentMemoryContext, kUnknownRows, other);
    collect_query(query, &collector);
    collector.finish();
    return collector;
}

// Puts the near pairs of finished sets into the function's result.
void put_pairs(FunctionCallInfo fcinfo, Collector* a, Collector* b, int32 radius) {
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    PairSort pairs(memory_beside(*a, b));
    find_pairs(a, b, radius, pairs.receiver());
    pairs.give_in_order([&](uint64_t a, uint64_t b) {
        PairRow row(a, b);
        CHECK_FOR_INTERRUPTS();
        tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
    });
}

// The result of a function that returns a set: put() puts the rows there. It runs in a memory
// context of its own, which is deleted at the end.
template <typename Put>
Datum pairs_result(FunctionCallInfo fcinfo, int32 radius, const Put& put) {
    check_radius(radius);
    InitMaterializedSRF(fcinfo, 0);
    MemoryContext context = pairs_context();
    MemoryContext caller = MemoryContextSwitchTo(context);
    put();
    MemoryContextSwitchTo(caller);
    MemoryContextDelete(context);
    return Datum(0);
}

// ---- as an array: of rows ----

struct PairsState {
    std::optional<int32> radius; // nullopt stands for NULL
    Collector collector;
    bool has_shutdown; // a callback will remove the files of a group that is never finished
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
    *state = {radius, Collector(context, kUnknownRows), false};
    return state;
}

// The server does not finish a group that the query no longer needs, for example after a LIMIT. Its
// files are then removed when the aggregate node is shut down.
void remove_files_at_shutdown(FunctionCallInfo fcinfo, PairsState* state) {
    AggRegisterCallback(
        fcinfo,
        [](Datum state) {
            reinterpret_cast<PairsState*>(DatumGetPointer(state))->collector.release();
        },
        PointerGetDatum(state));
    state->has_shutdown = true;
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
                 errhint("Use a smaller radius or smaller groups, or simhash_pairs_of('SELECT fp "
                         "FROM ...'), which has no such limit.")));
}

// The pairs as an array of row_type.
Datum pair_array(PairsState* state, Oid row_type) {
    MemoryContext context = pairs_context();
    MemoryContext caller = MemoryContextSwitchTo(context);
    state->collector.finish();
    PairSort pairs(memory_beside(state->collector));
    find_pairs(&state->collector, nullptr, *state->radius, pairs.receiver());
    check_pair_count(pairs.count());
    TupleDesc description = lookup_rowtype_tupdesc(row_type, -1);
    ArrayBuildState* array = initArrayResult(row_type, context, false);
    pairs.give_in_order([&](uint64_t a, uint64_t b) {
        PairRow row(a, b);
        CHECK_FOR_INTERRUPTS();
        HeapTuple tuple = heap_form_tuple(description, row.values, row.nulls);
        accumArrayResult(array, HeapTupleGetDatum(tuple), false, row_type, context);
        heap_freetuple(tuple);
    });
    ReleaseTupleDesc(description);
    MemoryContextSwitchTo(caller);
    Datum result = makeArrayResult(array, caller);
    MemoryContextDelete(context);
    return result;
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_pairs);
PG_FUNCTION_INFO_V1(simhash_pairs_of);
PG_FUNCTION_INFO_V1(simhash_join_arrays);
PG_FUNCTION_INFO_V1(simhash_join_of);
PG_FUNCTION_INFO_V1(simhash_pairs_agg_transition);
PG_FUNCTION_INFO_V1(simhash_pairs_agg_final);
}

// (fps bigint[], radius integer).
Datum simhash_pairs(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(1);
    return pairs_result(fcinfo, radius, [&] {
        Collector set = collect_array(PG_GETARG_ARRAYTYPE_P(0));
        put_pairs(fcinfo, &set, nullptr, radius);
    });
}

// (query text, radius integer).
Datum simhash_pairs_of(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(1);
    return pairs_result(fcinfo, radius, [&] {
        Collector set = collect_rows_of(PG_GETARG_TEXT_PP(0));
        put_pairs(fcinfo, &set, nullptr, radius);
    });
}

// (a bigint[], b bigint[], radius integer). The symbol simhash_join is a join estimator since 1.0.
Datum simhash_join_arrays(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(2);
    return pairs_result(fcinfo, radius, [&] {
        Collector a = collect_array(PG_GETARG_ARRAYTYPE_P(0));
        Collector b = collect_array(PG_GETARG_ARRAYTYPE_P(1), &a);
        put_pairs(fcinfo, &a, &b, radius);
    });
}

// (a_query text, b_query text, radius integer).
Datum simhash_join_of(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(2);
    return pairs_result(fcinfo, radius, [&] {
        Collector a = collect_rows_of(PG_GETARG_TEXT_PP(0));
        Collector b = collect_rows_of(PG_GETARG_TEXT_PP(1), &a);
        put_pairs(fcinfo, &a, &b, radius);
    });
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
    if (state->collector.is_spilled() && !state->has_shutdown)
        remove_files_at_shutdown(fcinfo, state);
    PG_RETURN_POINTER(state);
}

Datum simhash_pairs_agg_final(PG_FUNCTION_ARGS) {
    aggregate_context(fcinfo);
    auto* state = PG_ARGISNULL(0) ? nullptr : reinterpret_cast<PairsState*>(PG_GETARG_POINTER(0));
    if (state == nullptr || !state->radius)
        PG_RETURN_NULL();
    return pair_array(state, get_element_type(get_fn_expr_rettype(fcinfo->flinfo)));
}
