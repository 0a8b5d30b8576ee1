// simhash_pairs, simhash_join and their relatives, of fingerprints and of codes: the server's side
// of core/pairs/near_pairs.hpp and near_codes.hpp. They collect the values of arrays, rows or
// queries, and return the near pairs in order.
#include "server/pg.hpp"

#include <optional>

#include "core/bits/ball.hpp"
#include "core/bits/distance.hpp"
#include "server/aggregate_context.hpp"
#include "tables/collector.hpp"
#include "tables/near_codes.hpp"
#include "tables/pair_sort.hpp"
#include "tables/query_fingerprints.hpp"

using namespace simhash;

namespace {

// A row of the type simhash_pair, or simhash_bit_pair; no column is null.
struct PairRow {
    Datum values[3];
    bool nulls[3] = {};
};

// a and b are in the order of the search; the row has them as bigint.
PairRow pair_row(uint64_t a, uint64_t b) {
    return {{Int64GetDatum(from_ordered(a)), Int64GetDatum(from_ordered(b)),
             Int32GetDatum(hamming_distance(a, b))}};
}

// Whatever a search leaves behind in memory goes with this context.
MemoryContext pairs_context() {
    return AllocSetContextCreate(CurrentMemoryContext, "simhash_pairs", ALLOCSET_DEFAULT_SIZES);
}

// ---- as rows: of arrays and of queries ----

// An array stores no bytes for a NULL, so the data of any array, of any number of dimensions, is a
// sequence of fingerprints.
Collector collect_array(ArrayType* array, const Collector* other = nullptr) {
    // These are the elements that are not NULL.
    size_t elements = (ARR_SIZE(array) - ARR_DATA_OFFSET(array)) / sizeof(int64);
    const char* data = ARR_DATA_PTR(array);
    Collector collector(CurrentMemoryContext, elements, other);
    for (size_t i = 0; i < elements; i++) {
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

CodeSet collect_codes(ArrayType* array, int sets) {
    CodeSet codes(CurrentMemoryContext, sets);
    Datum* values;
    bool* nulls;
    int count;
    // A bit string is a varlena, aligned as an int.
    deconstruct_array(array, BITOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
    for (int i = 0; i < count; i++) {
        CHECK_FOR_INTERRUPTS();
        if (!nulls[i])
            codes.add(values[i]);
    }
    pfree(values);
    pfree(nulls);
    return codes;
}

CodeSet collect_codes(text* query, int sets) {
    CodeSet codes(CurrentMemoryContext, sets);
    collect_query(query, &codes);
    return codes;
}

// Calls give(row) for the near pairs of finished sets, in order, and check(count) before with their
// number.
template <typename Check, typename Give>
void give_pairs(Collector* a, Collector* b, int32 radius, const Check& check, const Give& give) {
    // The pairs have the memory that the search leaves, and more of them go to a file.
    PairSort pairs(memory_beside(*a, b));
    find_pairs(a, b, radius, pairs.receiver());
    // This comes before the first pair is given, so that too many of them are an error at once.
    check(pairs.count());
    pairs.give_in_order([&](uint64_t a, uint64_t b) {
        CHECK_FOR_INTERRUPTS();
        give(pair_row(a, b));
    });
}

// The same of codes. The row's values are freed after the call.
template <typename Check, typename Give>
void give_pairs(CodeSet* a, CodeSet* b, int32 radius, const Check& check, const Give& give) {
    if (b != nullptr)
        check_same_length(*a, *b);
    // Without codes their length is not known, and there is no pair.
    if (a->bits() == 0 || (b != nullptr && b->bits() == 0)) {
        a->release();
        if (b != nullptr)
            b->release();
        return;
    }
    NearCodes codes(a, b);
    PairSort pairs(NearCodes::memory_of_results(lane_count_of_bits(codes.bits())));
    codes.search(code_radius(radius, codes.bits()), pairs.receiver());
    check(pairs.count());
    pairs.give_in_order([&](uint64_t a, uint64_t b) {
        PairRow row = {{codes.code(0, a), codes.code(codes.between() ? 1 : 0, b),
                        Int32GetDatum(codes.distance(a, b))}};
        CHECK_FOR_INTERRUPTS();
        give(row);
        pfree(DatumGetPointer(row.values[0]));
        pfree(DatumGetPointer(row.values[1]));
    });
    codes.release();
}

// Puts the near pairs of finished sets into the function's result.
template <typename Set>
void put_pairs(FunctionCallInfo fcinfo, Set* a, Set* b, int32 radius) {
    // The tuplestore spills to disk by itself where work_mem does not hold the rows.
    auto* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    give_pairs(
        a, b, radius, [](size_t) {},
        [&](PairRow row) {
            tuplestore_putvalues(result->setResult, result->setDesc, row.values, row.nulls);
        });
}

// The result of a function that returns a set: put() puts the rows there. It runs in a memory
// context of its own, which is deleted at the end.
template <typename Put>
Datum pairs_result(FunctionCallInfo fcinfo, const Put& put) {
    InitMaterializedSRF(fcinfo, 0);
    MemoryContext context = pairs_context();
    MemoryContext caller = MemoryContextSwitchTo(context);
    put();
    MemoryContextSwitchTo(caller);
    MemoryContextDelete(context);
    return Datum(0);
}

// The last argument of a function of fingerprints.
int32 fingerprint_radius(FunctionCallInfo fcinfo, int argument) {
    int32 radius = PG_GETARG_INT32(argument);
    check_radius(radius);
    return radius;
}

// The last argument of a function of codes, which may be left out.
// Returns kRadiusOfLength if it is left out: the length is known when the codes have been read.
int32 code_radius_argument(FunctionCallInfo fcinfo, int argument) {
    if (PG_NARGS() <= argument)
        return kRadiusOfLength;
    int32 radius = PG_GETARG_INT32(argument);
    check_code_radius(radius);
    return radius;
}

// ---- as an array: of rows ----

// Set: Collector or CodeSet
template <typename Set>
struct PairsState {
    std::optional<int32> radius; // nullopt stands for NULL
    Set set;
    bool has_shutdown; // a callback will remove the files of a group that is never finished
};

// What differs between fingerprints and codes.
// An aggregate of fingerprints and one of codes share all else. bytes_of_values: the size of both
// values of a pair in a row.
template <typename Set>
struct GroupOf;

template <>
struct GroupOf<Collector> {
    static constexpr int32 kDefaultRadius = kCloseRadius;

    static Collector make(MemoryContext context) { return {context, kUnknownRows}; }
    static void check(int32 radius) { check_radius(radius); }
    static void add(Collector* set, Datum value) { set->add(to_ordered(DatumGetInt64(value))); }
    static void finish(Collector* set) { set->finish(); }
    static size_t bytes_of_values(const Collector&) { return 2 * sizeof(int64); }
};

template <>
struct GroupOf<CodeSet> {
    static constexpr int32 kDefaultRadius = kRadiusOfLength;

    static CodeSet make(MemoryContext context) { return CodeSet(context); }
    static void check(int32 radius) { check_code_radius(radius); }
    static void add(CodeSet* set, Datum value) { set->add(value); }
    static void finish(CodeSet*) {}
    static size_t bytes_of_values(const CodeSet& set) {
        return 2 * MAXALIGN(VARBITTOTALLEN(set.bits()));
    }
};

// The radius of the transition's row.
// Without the argument the default stands; NULL as the argument makes the result NULL.
std::optional<int32> radius_argument(FunctionCallInfo fcinfo, int32 default_radius) {
    if (PG_NARGS() < 3)
        return default_radius;
    if (PG_ARGISNULL(2))
        return std::nullopt;
    return PG_GETARG_INT32(2);
}

template <typename Set>
PairsState<Set>* new_state(FunctionCallInfo fcinfo, MemoryContext context,
                           std::optional<int32> radius) {
    // The default needs no check, and kRadiusOfLength would not pass one.
    if (radius && PG_NARGS() == 3)
        GroupOf<Set>::check(*radius);
    // The state is in the context of the group, which lasts from row to row.
    auto* state = allocate<PairsState<Set>>(context, 1);
    return new (state) PairsState<Set>{radius, GroupOf<Set>::make(context), false};
}

// The server does not finish a group that the query no longer needs, for example after a LIMIT. Its
// files are then removed when the aggregate node is shut down.
template <typename Set>
void remove_files_at_shutdown(FunctionCallInfo fcinfo, PairsState<Set>* state) {
    AggRegisterCallback(
        fcinfo,
        [](Datum state) {
            reinterpret_cast<PairsState<Set>*>(DatumGetPointer(state))->set.release();
        },
        PointerGetDatum(state));
    state->has_shutdown = true;
}

void check_same_radius(std::optional<int32> radius, std::optional<int32> of_state) {
    if (radius != of_state)
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("radius of simhash_pairs_agg must be the same in all rows of a group"),
                 errhint("Use a constant, or add the radius to GROUP BY.")));
}

// bytes_of_values: of a pair's two values
void check_pair_count(size_t pairs, size_t bytes_of_values, const char* without_limit) {
    size_t row_bytes = MAXALIGN(SizeofHeapTupleHeader) + bytes_of_values + sizeof(int64);
    // Each element of the array is a row with its header, the two values and the distance. An array
    // has less than 1 GB.
    size_t most = (MaxAllocSize - ARR_OVERHEAD_NONULLS(1)) / row_bytes;
    if (pairs > most)
        ereport(ERROR,
                (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED), errmsg("too many pairs for an array"),
                 errdetail("There are %zu pairs; the limit is %zu.", pairs, most),
                 errhint("Use a smaller radius or smaller groups, or %s FROM ...'), which has no "
                         "such limit.",
                         without_limit)));
}

// The pairs as an array of row_type.
template <typename Set>
Datum pair_array(PairsState<Set>* state, Oid row_type, const char* without_limit) {
    MemoryContext context = pairs_context();
    MemoryContext caller = MemoryContextSwitchTo(context);
    size_t bytes_of_values = GroupOf<Set>::bytes_of_values(state->set);
    GroupOf<Set>::finish(&state->set);
    // The type counts this reference until ReleaseTupleDesc(); after an error the server does that.
    TupleDesc description = lookup_rowtype_tupdesc(row_type, -1);
    ArrayBuildState* array = initArrayResult(row_type, context, false);
    give_pairs(
        &state->set, static_cast<Set*>(nullptr), *state->radius,
        [&](size_t pairs) { check_pair_count(pairs, bytes_of_values, without_limit); },
        [&](PairRow row) {
            HeapTuple tuple = heap_form_tuple(description, row.values, row.nulls);
            accumArrayResult(array, HeapTupleGetDatum(tuple), false, row_type, context);
            heap_freetuple(tuple);
        });
    ReleaseTupleDesc(description);
    MemoryContextSwitchTo(caller);
    // The result goes to the caller's context; all else goes with `context`.
    Datum result = makeArrayResult(array, caller);
    MemoryContextDelete(context);
    return result;
}

// (state, value [, radius integer]).
template <typename Set>
Datum add_to_group(FunctionCallInfo fcinfo) {
    MemoryContext context = aggregate_context(fcinfo);
    std::optional<int32> radius = radius_argument(fcinfo, GroupOf<Set>::kDefaultRadius);
    auto* state = PG_ARGISNULL(0) ? new_state<Set>(fcinfo, context, radius)
                                  : reinterpret_cast<PairsState<Set>*>(PG_GETARG_POINTER(0));
    check_same_radius(radius, state->radius);
    if (!PG_ARGISNULL(1))
        GroupOf<Set>::add(&state->set, PG_GETARG_DATUM(1));
    // This is done when the first file has been made. Memory needs no callback, because it goes
    // with its context.
    if (state->set.is_spilled() && !state->has_shutdown)
        remove_files_at_shutdown(fcinfo, state);
    PG_RETURN_POINTER(state);
}

template <typename Set>
Datum pairs_of_group(FunctionCallInfo fcinfo, const char* without_limit) {
    aggregate_context(fcinfo);
    auto* state =
        PG_ARGISNULL(0) ? nullptr : reinterpret_cast<PairsState<Set>*>(PG_GETARG_POINTER(0));
    // The group has no rows, or its radius is NULL.
    if (state == nullptr || !state->radius)
        PG_RETURN_NULL();
    return pair_array(state, get_element_type(get_fn_expr_rettype(fcinfo->flinfo)), without_limit);
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_pairs);
PG_FUNCTION_INFO_V1(simhash_pairs_of);
PG_FUNCTION_INFO_V1(simhash_join_arrays);
PG_FUNCTION_INFO_V1(simhash_join_of);
PG_FUNCTION_INFO_V1(simhash_pairs_agg_transition);
PG_FUNCTION_INFO_V1(simhash_pairs_agg_final);
PG_FUNCTION_INFO_V1(simhash_bit_pairs);
PG_FUNCTION_INFO_V1(simhash_bit_pairs_of);
PG_FUNCTION_INFO_V1(simhash_bit_join);
PG_FUNCTION_INFO_V1(simhash_bit_join_of);
PG_FUNCTION_INFO_V1(simhash_bit_pairs_agg_transition);
PG_FUNCTION_INFO_V1(simhash_bit_pairs_agg_final);
}

// ---- of fingerprints ----

// (fps bigint[], radius integer).
Datum simhash_pairs(PG_FUNCTION_ARGS) {
    int32 radius = fingerprint_radius(fcinfo, 1);
    return pairs_result(fcinfo, [&] {
        Collector set = collect_array(PG_GETARG_ARRAYTYPE_P(0));
        put_pairs<Collector>(fcinfo, &set, nullptr, radius);
    });
}

// (query text, radius integer).
Datum simhash_pairs_of(PG_FUNCTION_ARGS) {
    int32 radius = fingerprint_radius(fcinfo, 1);
    return pairs_result(fcinfo, [&] {
        Collector set = collect_rows_of(PG_GETARG_TEXT_PP(0));
        put_pairs<Collector>(fcinfo, &set, nullptr, radius);
    });
}

// (a bigint[], b bigint[], radius integer). The symbol simhash_join is a join estimator since 1.0.
Datum simhash_join_arrays(PG_FUNCTION_ARGS) {
    int32 radius = fingerprint_radius(fcinfo, 2);
    return pairs_result(fcinfo, [&] {
        Collector a = collect_array(PG_GETARG_ARRAYTYPE_P(0));
        Collector b = collect_array(PG_GETARG_ARRAYTYPE_P(1), &a);
        put_pairs(fcinfo, &a, &b, radius);
    });
}

// (a_query text, b_query text, radius integer).
Datum simhash_join_of(PG_FUNCTION_ARGS) {
    int32 radius = fingerprint_radius(fcinfo, 2);
    return pairs_result(fcinfo, [&] {
        Collector a = collect_rows_of(PG_GETARG_TEXT_PP(0));
        Collector b = collect_rows_of(PG_GETARG_TEXT_PP(1), &a);
        put_pairs(fcinfo, &a, &b, radius);
    });
}

// (state, fp bigint [, radius integer]).
Datum simhash_pairs_agg_transition(PG_FUNCTION_ARGS) {
    return add_to_group<Collector>(fcinfo);
}

Datum simhash_pairs_agg_final(PG_FUNCTION_ARGS) {
    return pairs_of_group<Collector>(fcinfo, "simhash_pairs_of('SELECT fp");
}

// ---- of codes; without a radius it follows from their length ----

// (codes bit[] [, radius integer]).
Datum simhash_bit_pairs(PG_FUNCTION_ARGS) {
    int32 radius = code_radius_argument(fcinfo, 1);
    return pairs_result(fcinfo, [&] {
        CodeSet set = collect_codes(PG_GETARG_ARRAYTYPE_P(0), 1);
        put_pairs<CodeSet>(fcinfo, &set, nullptr, radius);
    });
}

// (query text [, radius integer]).
Datum simhash_bit_pairs_of(PG_FUNCTION_ARGS) {
    int32 radius = code_radius_argument(fcinfo, 1);
    return pairs_result(fcinfo, [&] {
        CodeSet set = collect_codes(PG_GETARG_TEXT_PP(0), 1);
        put_pairs<CodeSet>(fcinfo, &set, nullptr, radius);
    });
}

// (a bit[], b bit[] [, radius integer]).
Datum simhash_bit_join(PG_FUNCTION_ARGS) {
    int32 radius = code_radius_argument(fcinfo, 2);
    return pairs_result(fcinfo, [&] {
        CodeSet a = collect_codes(PG_GETARG_ARRAYTYPE_P(0), 2);
        CodeSet b = collect_codes(PG_GETARG_ARRAYTYPE_P(1), 2);
        put_pairs(fcinfo, &a, &b, radius);
    });
}

// (a_query text, b_query text [, radius integer]).
Datum simhash_bit_join_of(PG_FUNCTION_ARGS) {
    int32 radius = code_radius_argument(fcinfo, 2);
    return pairs_result(fcinfo, [&] {
        CodeSet a = collect_codes(PG_GETARG_TEXT_PP(0), 2);
        CodeSet b = collect_codes(PG_GETARG_TEXT_PP(1), 2);
        put_pairs(fcinfo, &a, &b, radius);
    });
}

// (state, code bit [, radius integer]).
Datum simhash_bit_pairs_agg_transition(PG_FUNCTION_ARGS) {
    return add_to_group<CodeSet>(fcinfo);
}

Datum simhash_bit_pairs_agg_final(PG_FUNCTION_ARGS) {
    return pairs_of_group<CodeSet>(fcinfo, "simhash_bit_pairs_of('SELECT code");
}
