// What a condition on a distance compares, as far as the planner knows it: the space of the values,
// and the ball around a query.
#pragma once

#include "server/pg.hpp"

#include "core/bits/fingerprint.hpp"

namespace simhash {

// All fingerprints, or all codes of one length.
struct HammingSpace {
    bool is_of_codes; // values of type bit; otherwise bigint, or the lanes of texts
    int bits;         // of each value: the greatest distance

    // -1 stands for all radii below 0, and `bits` for those above.
    int saturate(int64 radius) const;

    // The radius that is assumed where it is not known: that of ~=, or of =~~ of codes.
    int likely_radius() const;

    bool has_type(Oid type) const;

    // The distance of two values of the space's type. Raises no error: a code of another length is
    // farther than `bits`.
    int distance(Datum a, Datum b) const;
};

// The space of the two sides of a condition. A code's length, if unknown, is taken to be 256 (PDQ).
HammingSpace space_of(const Node* left, const Node* right);

// The right side of value <@ ball, as far as it is known while the query is planned.
struct KnownBall {
    Node* center; // an expression; the ball itself where that is a parameter
    int radius;   // from -1, also where the ball is NULL, to the greatest distance
};

// The ball is a constant, a call of hamming_ball(center, radius) or of bit_ball(), or anything
// else. Where the radius is not known, it is taken to be `likely_radius`.
KnownBall examine_ball(PlannerInfo* root, Node* ball, int greatest_distance, int likely_radius);

} // namespace simhash
