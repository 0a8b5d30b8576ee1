// Rewrites comparisons of a distance with a limit into predicates that the index knows, at each
// place of a query where the planner keeps conditions.
#pragma once

#include "server/expressions.hpp"

namespace simhash {

// ---- rewrite.cpp ----

// The query's own conditions and those of row-level security. To be called after the planner has
// simplified them and before it distributes them to the tables.
void rewrite_query_conditions(PlannerInfo* root);

// The predicates of a table's partial indexes. The planner compares them with the query's
// conditions, so both must have the same form.
void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* table);

// True when the condition compares the distance of these two expressions with a limit.
bool compares_distance(Node* condition, Node* left, Node* right);

// ---- hook.cpp ----

// Puts our hook in its place, if it is not there, before the planner opens a query's tables.
void install_rewriting();

// ---- distance_uses.cpp ----

struct DistanceUses {
    bool by_others;  // an index of another access method on the expression
    bool by_simhash; // an index of ours on one of its sides
};

// `distance` is an expression a <~> b of the query that is being planned. Expects its table locked.
DistanceUses uses_of_distance(PlannerInfo* root, Node* distance);

} // namespace simhash
