// The width of a fingerprint, and the distance of two.
#pragma once

#include <bit>
#include <cstdint>

namespace simhash {

constexpr int kFingerprintBits = 64;

// Number of bits in which two fingerprints differ, 0..64.
constexpr int hamming_distance(uint64_t a, uint64_t b) {
    return std::popcount(a ^ b);
}

} // namespace simhash
