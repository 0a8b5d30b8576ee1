// How many rows lie in a ball: for the operators' estimators, for the planner's support functions
// and for the index's cost estimate.
#pragma once
#include "pg.hpp"

namespace simhash {

// The ball of a predicate, as far as it is known while the query is planned.
struct BallEstimate {
    Node* center; // expression of the query fingerprint; null where only the ball is there (a
                  // parameter)
    int radius;   // -1..64; where it is not known, the radius of ~= is assumed
    bool never;   // the ball is NULL: no row matches
};

// The right side of fp <@ ball: a constant, a call of hamming_ball(center, radius), or anything
// else.
BallEstimate examine_ball(PlannerInfo* root, Node* ball);

// Share of all 64-bit words within `radius` (any value) of a given one: sum of C(64, i) for i =
// 0..radius, over 2^64.
double uniform_share(int radius);

// The estimate for "distance of `left` and `right` <= radius", as a restriction or as a join.
struct SelectivityContext {
    PlannerInfo* root;
    int relation; // varRelid, of a restriction
    bool is_join;
    JoinType join_type;
    SpecialJoinInfo* join;
};
double within_selectivity(const SelectivityContext& context, Node* left, Node* right, int radius);

} // namespace simhash
