// What the planner's files share: the rewriting of conditions, the hook that calls it, and the
// estimates of rows.
#pragma once

#include "server/expressions.hpp"
#include "server/our_function.hpp"

namespace simhash {

// ---- rewrite.cpp ----

// Rewrites comparisons of a distance with a limit into predicates that the index knows: the query's
// own conditions and those of row-level security. To be called after the planner has simplified
// them and before it distributes them to the tables.
void rewrite_query_conditions(PlannerInfo* root);

// The predicates of a table's partial indexes. The planner compares them with the query's
// conditions, so both must have the same form.
void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* table);

// A call of a function of ours, which is looked for beside another one. It is simplified: a call of
// constants becomes a constant. Null where the function is missing, or where an argument is null
// because another was.
Node* call_sibling(PlannerInfo* root, Oid beside, const OurFunction& ours, List* arguments);

// ---- hook.cpp ----

// Puts our hook in its place, if it is not there, before the planner opens a query's tables.
void install_rewriting();

// ---- estimates.cpp ----

// The share of rows, or of pairs of them, for which the distance of two expressions is at most
// `radius`, of texts that of a lane: 0 to 1. The server's question says where the condition stands.
double share_within(const SupportRequestSelectivity& at, Node* left, Node* right, int64 radius);

} // namespace simhash
