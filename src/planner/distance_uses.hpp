// Whether something of a table is made of the very distance that a condition compares: a B-tree on
// the expression fp <~> 5, a partition key, a CHECK constraint. The server matches these with the
// comparison as it was written, and with nothing else.
#pragma once
#include "pg.hpp"

namespace simhash {

struct DistanceUses {
    bool by_others; // an index on the expression, a partition key, a CHECK constraint
    bool by_index;  // an index of this access method on one of its sides
};

// `distance`: an expression of the query, a <~> b. Its table is locked, as it is being planned.
DistanceUses uses_of_distance(PlannerInfo* root, Node* distance);

} // namespace simhash
