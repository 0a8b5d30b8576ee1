// The part of pg.hpp that only src/sql needs: headers of the planner, the catalogs and the wire
// protocol, and how they differ between PostgreSQL 15 and 18.
#pragma once
#pragma GCC system_header
#include "pg.hpp"

extern "C" {
#include "catalog/pg_language.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic.h"
#include "libpq/pqformat.h"
#include "optimizer/clauses.h"
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#endif
}

// PostgreSQL 16 lets input functions report bad input to a caller who asked for it; before, it is
// an error.
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) ereport(ERROR, __VA_ARGS__)
#endif

// The tree walkers take an untyped callback before PostgreSQL 16, which C++ does not convert to by
// itself.
namespace simhash {

using NodeMutator = Node* (*)(Node* node, void* context);
using NodeWalker = bool (*)(Node* node, void* context);

inline Node* mutate_children(Node* node, NodeMutator mutator, void* context) {
#if PG_VERSION_NUM < 160000
    return expression_tree_mutator(node, (Node * (*)()) mutator, context);
#else
    return expression_tree_mutator(node, mutator, context);
#endif
}

inline bool walk_children(Node* node, NodeWalker walker, void* context) {
#if PG_VERSION_NUM < 160000
    return expression_tree_walker(node, (bool (*)())walker, context);
#else
    return expression_tree_walker(node, walker, context);
#endif
}

} // namespace simhash
