// Looks for the objects of a table that contain the distance of a condition: a B-tree on the
// expression fp <~> 5, a partition key, a CHECK constraint. The server matches these only with the
// comparison as it was written, so the comparison must stay.
#pragma once

#include "server/pg.hpp"

namespace simhash {

struct DistanceUses {
    bool by_others; // an index on the expression, a partition key, a CHECK constraint
    bool by_index;  // an index of this access method on one of its sides
};

// `distance` is an expression a <~> b of the query that is being planned. Expects its table locked.
DistanceUses uses_of_distance(PlannerInfo* root, Node* distance);

} // namespace simhash
