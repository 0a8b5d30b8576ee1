// The values that a condition compares: all fingerprints, or all codes of one length. This is what
// the planner knows of a distance in that space.
#pragma once

#include "server/pg.hpp"

namespace simhash {

struct HammingSpace {
    bool is_of_codes; // values of type bit; otherwise bigint, or the lanes of texts
    int bits;         // of each value: the greatest distance

    // -1 stands for all radii below 0, and `bits` for those above.
    int saturate(int64 radius) const;

    // The radius that is assumed where it is not known: that of ~=, or of =~~ of codes.
    int likely_radius() const;

    // The share of all values that lie in a ball.
    double ball_share(int radius) const;

    bool has_type(Oid type) const;

    // The node as a value that is not null, or nullptr where it is something else.
    const Const* constant(const Node* node) const;

    // The distance of two values of the space's type. Raises no error: a code of another length is
    // farther than `bits`.
    int distance(Datum a, Datum b) const;
};

// The space of the two sides of a condition. Where no code's length is known, it is taken to be
// 256, as in PDQ.
HammingSpace space_of(const Node* left, const Node* right);

} // namespace simhash
