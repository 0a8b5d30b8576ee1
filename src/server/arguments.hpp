// Helpers that SQL functions share: options by name, arrays, memory, and the arrays that support
// functions of operator classes return.
#pragma once

#include "server/pg.hpp"

#include <initializer_list>

#include "core/text/document.hpp"

namespace simhash {

// The value of an option; `argument` is its place among the function's arguments. NULL stands for
// the default, so these functions are not strict. An unknown value raises an error that names the
// accepted ones.
FeatureKind features_argument(FunctionCallInfo fcinfo, int argument); // "words", "chars"
// Returns the name by which SQL knows the kind, "words", "chars" or "own".
const char* name_of(FeatureKind features);
Weighting weighting_argument(FunctionCallInfo fcinfo, int argument);
HashKind hash_argument(FunctionCallInfo fcinfo, int argument);
// A feature has this many words or characters, 1 to kMaxWidth.
int width_argument(FunctionCallInfo fcinfo, int argument, int default_width);

// The weight as a fixed-point number. Raises an error where it is not finite or is out of range.
// kWeightFraction bits stand after the point.
__int128 weight_argument(double weight);

// A number from 0 to 1. Raises an error where it is another; `what` names the parameter in it.
double share_argument(FunctionCallInfo fcinfo, int argument, const char* what);

// An integer of 1 or more. Raises an error where it is less.
size_t positive_number(int value, const char* what);
inline size_t positive_argument(FunctionCallInfo fcinfo, int argument, const char* what) {
    return positive_number(PG_GETARG_INT32(argument), what);
}

// True for bigint and the smaller integers. Where a bigint is expected these do, too: the type of a
// literal depends on its size.
inline bool is_integer(Oid type) { return type == INT8OID || type == INT4OID || type == INT2OID; }
int64 integer_value(Datum value, Oid type);

// The elements of an array of one dimension; `what` names it in the error about another.
struct Elements {
    Datum* values;
    bool* nulls;
    int count;

    // Calls take(i, value) for those that are not NULL.
    void each(const auto& take) const {
        for (int i = 0; i < count; i++) {
            CHECK_FOR_INTERRUPTS();
            if (!nulls[i])
                take(i, values[i]);
        }
    }
};
Elements array_elements(ArrayType* array, const char* what);

// palloc in a memory context, of any size.
Memory server_memory(MemoryContext context = CurrentMemoryContext);

// Raises the error of a cancelled query.
inline constexpr auto kPause = [] { CHECK_FOR_INTERRUPTS(); };

// ---- results ----

// Some bytes, and others behind them: the state of an aggregate as a worker sends it to its leader
// on the same machine, what the passes of whole tables hand over.
inline Datum bytea_of(const void* head, size_t head_bytes, std::span<const std::byte> rest = {}) {
    size_t bytes = VARHDRSZ + head_bytes + rest.size();
    auto* result = static_cast<bytea*>(palloc(bytes));
    SET_VARSIZE(result, bytes);
    memcpy(VARDATA(result), head, head_bytes);
    std::copy(rest.begin(), rest.end(), reinterpret_cast<std::byte*>(VARDATA(result)) + head_bytes);
    return PointerGetDatum(result);
}

// NULL where there is no fingerprint.
inline Datum fingerprint_result(FunctionCallInfo fcinfo, std::optional<uint64_t> fingerprint) {
    if (!fingerprint)
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(*fingerprint));
}

inline Datum bigint_array(const uint64_t* numbers, size_t count) {
    // So an array of numbers is one of bigints as the server passes them.
    static_assert(sizeof(Datum) == sizeof(uint64_t) && FLOAT8PASSBYVAL);
    auto* values = reinterpret_cast<Datum*>(const_cast<uint64_t*>(numbers));
    return PointerGetDatum(construct_array(values, int(count), INT8OID, sizeof(int64),
                                           FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// The number of lanes, the radius of near values, the LaneRule, the greatest distance, and the
// number of the lanes' definition.
inline Datum lane_layout_array(std::initializer_list<int32> numbers) {
    Datum values[5];
    int count = 0;
    for (int32 number : numbers)
        values[count++] = Int32GetDatum(number);
    return PointerGetDatum(
        construct_array(values, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

} // namespace simhash
