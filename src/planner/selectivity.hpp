// How many rows lie in a ball. The operators' estimators, the planner's support functions and the
// index's cost estimate ask for it.
#pragma once

#include "pg.hpp"

namespace simhash {

// The part of a predicate's ball that is known while the query is planned.
struct BallEstimate {
    Node* center; // the query fingerprint, an expression; null where the whole ball is a parameter
    int radius;   // -1..64; where it is not known, the radius of ~= is assumed
    bool never;   // the ball is NULL: no row matches
};

// The right side of fp <@ ball: a constant, a call of hamming_ball(center, radius), or anything
// else.
BallEstimate examine_ball(PlannerInfo* root, Node* ball);

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
// `radius` (any): 0 to 1.
double within_selectivity(const SelectivityContext& context, Node* left, Node* right, int radius);

// The same for two texts, whose fingerprints are by minhash().
double document_selectivity(const SelectivityContext& context, Node* left, Node* right, int radius);

// How many pairs within `radius` (0..64) are expected among this number of fingerprints, and
// between two sets of these sizes. Their number is all that is known of the fingerprints.
double expected_pairs(double fingerprints, int radius);
double expected_join_pairs(double a_fingerprints, double b_fingerprints, int radius);

} // namespace simhash
