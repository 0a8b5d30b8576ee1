// How many rows lie in a ball: for the operators' estimators, for the planner's support functions
// and for the index's cost estimate.
#pragma once
#include "pg.hpp"

namespace simhash {

// What a predicate's query looks like while it is planned.
struct BallEstimate {
    Node* center;      // expression of the query fingerprint; null where only the ball is there (a
                       // parameter)
    bool center_known; // the centre is a constant, or its value may be assumed
    uint64_t query;    // where center_known
    int radius;        // -1..64; where it is not known, the radius of ~= is assumed
    bool radius_known;
    bool never; // the ball is NULL: no row matches
};

// The right side of fp <@ ball: a constant, a call of hamming_ball(center, radius), or anything
// else.
BallEstimate examine_ball(PlannerInfo* root, Node* ball);

// Share of the column's rows (0..1) within `radius` (-1..64) of `query`, or of an average query
// when that is not known.
double ball_selectivity(PlannerInfo* root, VariableStatData* column, bool query_known,
                        uint64_t query, int radius);

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
