// How many rows lie in a ball, by the statistics of the column. The planner's side and the index's
// cost estimate ask for it.
#pragma once

#include "server/pg.hpp"

#include "core/bits/fingerprint.hpp"

namespace simhash {

// ---- hamming_space.cpp ----

// The values that a condition compares: all fingerprints, or all codes of one length. This is what
// the planner knows of a distance in that space.
struct HammingSpace {
    bool is_of_codes; // values of type bit; otherwise bigint, or the lanes of texts
    int bits;         // of each value: the greatest distance

    // -1 stands for all radii below 0, and `bits` for those above.
    int saturate(int64 radius) const;

    // The radius that is assumed where it is not known: that of ~=, or of =~~ of codes.
    int likely_radius() const;

    double ball_share(int radius) const;

    bool has_type(Oid type) const;

    // The node as a value that is not null, or nullptr where it is something else.
    const Const* constant(const Node* node) const;

    // The distance of two values of the space's type. Raises no error: a code of another length is
    // farther than `bits`.
    int distance(Datum a, Datum b) const;
};

// The space of the two sides of a condition. A code's length, if unknown, is taken to be 256 (PDQ).
HammingSpace space_of(const Node* left, const Node* right);

// ---- selectivity.cpp ----

// The part of a predicate's ball that is known while the query is planned.
struct BallEstimate {
    Node* center; // the query, an expression; null where the whole ball is a parameter
    int radius;   // from -1 to the greatest distance
    bool never;   // the ball is NULL: no row matches
};

// The right side of value <@ ball: a constant, a call of hamming_ball(center, radius) or of
// bit_ball(), or anything else. Where the radius is not known, it is taken to be `likely_radius`.
BallEstimate examine_ball(PlannerInfo* root, Node* ball, int greatest_distance, int likely_radius);

// Where the condition stands, a restriction or a join: what the server passes to estimators.
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
