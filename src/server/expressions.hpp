// The planner's expressions: constants, and calls without a collation. A Const may be of any type,
// so its value is read only where the type is the wanted one.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// An element of a list of nodes, from 0.
inline Node* node_at(const List* nodes, int i) { return static_cast<Node*>(list_nth(nodes, i)); }

inline bool is_null_constant(const Node* node) {
    return IsA(node, Const) && reinterpret_cast<const Const*>(node)->constisnull;
}

// The node as a constant of this type that is not null, or nullptr where it is something else.
inline const Const* constant_of_type(const Node* node, Oid type) {
    auto* constant = reinterpret_cast<const Const*>(node);
    bool is_known = IsA(node, Const) && constant->consttype == type && !constant->constisnull;
    return is_known ? constant : nullptr;
}

inline const Const* bigint_constant(const Node* node) { return constant_of_type(node, INT8OID); }

inline Const* make_bigint_constant(int64 value) {
    return makeConst(INT8OID, -1, InvalidOid, sizeof(int64), Int64GetDatum(value), false,
                     FLOAT8PASSBYVAL);
}

inline Const* make_integer_constant(int32 value) {
    return makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(value), false, true);
}

inline Const* make_float_constant(double value) {
    return makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(value), false,
                     FLOAT8PASSBYVAL);
}

inline Const* make_code_constant(VarBit* code) {
    return makeConst(BITOID, -1, InvalidOid, -1, VarBitPGetDatum(code), false, false);
}

// The call without the collation that the parser gave it for its text arguments. None of our
// functions looks at it, and postgres_fdw would ship a call with a collation only if the collation
// came from a remote column. So fp <~> simhash($1) <= 3 would not be shipped. Null where the call
// has none.
inline Node* without_collation(const FuncExpr* call) {
    if (!OidIsValid(call->inputcollid))
        return nullptr;
    auto* copy = makeNode(FuncExpr);
    *copy = *call;
    copy->inputcollid = InvalidOid;
    return reinterpret_cast<Node*>(copy);
}

} // namespace simhash
