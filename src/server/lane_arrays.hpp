// What the support functions of operator classes return: lanes, and what an index is to know of
// them.
#pragma once

#include "server/pg.hpp"

#include <initializer_list>

namespace simhash {

inline Datum bigint_array(const uint64_t* numbers, size_t count) {
    // So an array of numbers is one of bigints as the server passes them.
    static_assert(sizeof(Datum) == sizeof(uint64_t) && FLOAT8PASSBYVAL);
    auto* values = reinterpret_cast<Datum*>(const_cast<uint64_t*>(numbers));
    return PointerGetDatum(construct_array(values, int(count), INT8OID, sizeof(int64),
                                           FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

// The number of lanes, the radius of the operator of near values, the LaneRule, and of codes the
// number of bits.
inline Datum lane_layout(std::initializer_list<int32> numbers) {
    Datum values[4];
    int count = 0;
    for (int32 number : numbers)
        values[count++] = Int32GetDatum(number);
    return PointerGetDatum(
        construct_array(values, count, INT4OID, sizeof(int32), true, TYPALIGN_INT));
}

} // namespace simhash
