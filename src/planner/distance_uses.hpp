// Looks for the indexes of a table that contain the distance of a condition. The server matches a
// B-tree on the expression fp <~> 5 only with the comparison as it was written, so the comparison
// must stay.
#pragma once

#include "server/pg.hpp"

namespace simhash {

struct DistanceUses {
    bool by_others;  // an index of another access method on the expression
    bool by_simhash; // an index of ours on one of its sides
};

// `distance` is an expression a <~> b of the query that is being planned. Expects its table locked.
DistanceUses uses_of_distance(PlannerInfo* root, Node* distance);

} // namespace simhash
