// Rewrites comparisons of a distance with a limit into predicates that the index knows, at each
// place of a query where the planner keeps conditions.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// The query's own conditions and those of row-level security. To be called after the planner has
// simplified them and before it distributes them to the tables.
void rewrite_query_conditions(PlannerInfo* root);

// The predicates of a table's partial indexes. The planner compares them with the query's
// conditions, so both must have the same form.
void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* table);

// True when the condition compares the distance of these two expressions with a limit.
bool compares_distance(Node* condition, Node* left, Node* right);

} // namespace simhash
