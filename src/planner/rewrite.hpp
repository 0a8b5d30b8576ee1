// Comparisons of a distance with a limit, rewritten into predicates that the index knows: where
// they stand in a query that is being planned.
#pragma once
#include "pg.hpp"

namespace simhash {

// The query's own conditions, and those of row-level security: after the planner has simplified
// them and before it distributes them to the tables.
void rewrite_query_conditions(PlannerInfo* root);

// The predicates of a table's partial indexes. They are compared with the query's conditions, so
// they must look alike.
void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* table);

// The conditions of a UNION ALL, after they were distributed to it and before they are to its
// member.
void rewrite_union_conditions(PlannerInfo* root, RelOptInfo* member);

} // namespace simhash
