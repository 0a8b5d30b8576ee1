// How many rows lie in a ball, by the statistics of the column. The planner's side and the index's
// cost estimate ask for it.
#pragma once

#include "core/bits/ball.hpp"
#include "server/pg.hpp"
#include "values/hamming_space.hpp"

namespace simhash {

// The part of a predicate's ball that is known while the query is planned.
struct BallEstimate {
    Node* center; // the query, an expression; null where the whole ball is a parameter
    int radius;   // from -1 to the greatest distance
    bool never;   // the ball is NULL: no row matches
};

// The right side of value <@ ball: a constant, a call of hamming_ball(center, radius) or of
// bit_ball(), or anything else. Where the radius is not known, it is taken to be `likely_radius`.
BallEstimate examine_ball(PlannerInfo* root, Node* ball, int greatest_distance, int likely_radius);

// Where the condition to be estimated stands, a restriction or a join: what the server passes to
// estimators.
struct SelectivityContext {
    PlannerInfo* root;
    int relation; // varRelid, of a restriction
    bool is_join;
    JoinType join_type;
    SpecialJoinInfo* join;
};

// The share of rows, or of pairs of them, for which the distance of two expressions is at most
// `radius` and more than `beyond` (any integers): 0 to 1.
double within_selectivity(const SelectivityContext& context, Node* left, Node* right, int radius,
                          int beyond = kNoRadius);

} // namespace simhash
