// Fingerprints: their width, the distance of two, masks of their highest bits, and balls.
#pragma once

#include <bit>
#include <cstdint>

namespace simhash {

constexpr int kFingerprintBits = 64;

// Number of bits in which two fingerprints differ, 0..64.
constexpr int hamming_distance(uint64_t a, uint64_t b) { return std::popcount(a ^ b); }

// A word with its highest `count` (0..64) bits set.
constexpr uint64_t leading_mask(int count) { return count == 0 ? 0 : ~uint64_t{0} << (64 - count); }

// The highest `count` of the bits that are set in `word`; all of them if there are fewer.
constexpr uint64_t highest_ones(uint64_t word, int count) {
    uint64_t taken = 0;
    for (; count > 0; count--) {
        uint64_t bit = std::bit_floor(word);
        taken |= bit;
        word ^= bit;
    }
    return taken;
}

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
