// Constants in the planner's expressions. A Const may be of any type, so its value is read only
// where the type is the wanted one.
#pragma once

#include "pg.hpp"

namespace simhash {

inline bool is_null_constant(const Node* node) {
    return IsA(node, Const) && reinterpret_cast<const Const*>(node)->constisnull;
}

// The node as a bigint that is not null, or nullptr where it is something else.
inline const Const* bigint_constant(const Node* node) {
    auto* constant = reinterpret_cast<const Const*>(node);
    bool is_bigint = IsA(node, Const) && constant->consttype == INT8OID && !constant->constisnull;
    return is_bigint ? constant : nullptr;
}

inline Const* make_bigint_constant(int64 value) {
    return makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false,
                     FLOAT8PASSBYVAL);
}

inline Const* make_code_constant(VarBit* code) {
    return makeConst(BITOID, -1, InvalidOid, -1, VarBitPGetDatum(code), false, false);
}

} // namespace simhash
