// Balls and their radii.
#pragma once

#include <cstdint>

#include "core/bits/distance.hpp"

namespace simhash {

// All fingerprints within a radius of a center. Radius -1 contains none, 64 all.
struct Ball {
    uint64_t center;
    int radius;

    constexpr bool contains(uint64_t fingerprint) const {
        return hamming_distance(fingerprint, center) <= radius;
    }
};

constexpr int kNoRadius = -1; // the radius of an empty ball

// The radius of ~= : the distance up to which two fingerprints are close. Near-duplicates are
// documents (values/text/near_duplicate.cpp).
constexpr int kCloseRadius = 3;

// No radius is an error: below 0 nothing matches, above 64 everything. So -1 stands for all
// negative radii and 64 for all greater ones.
constexpr int saturate_radius(int64_t radius) {
    return radius < 0 ? -1 : radius > kFingerprintBits ? kFingerprintBits : int(radius);
}

} // namespace simhash
