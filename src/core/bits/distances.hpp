// Distances by the best instructions that the processor has: of two codes, and of many entries'
// keys from one fingerprint.
#pragma once

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/bits/entry.hpp"
#include "core/bits/fingerprint.hpp"
#include "core/bits/simd.hpp"

namespace simhash {

// Returns the number of differing bits in two blocks of `bytes` bytes, at any addresses, and reads
// nothing beyond them. Most processors count a word's ones at once, but not in the portable build.
inline int64_t code_distance(const uint8_t* a, const uint8_t* b, size_t bytes) {
    return at_best_level(
        kHighestSimdLevel, [=]<SimdLevel>() __attribute__((always_inline)) {
            constexpr size_t kWord = sizeof(uint64_t);
            int64_t distance = 0;
            size_t at = 0;
            for (; at + kWord <= bytes; at += kWord) {
                uint64_t of_a, of_b;
                memcpy(&of_a, a + at, kWord);
                memcpy(&of_b, b + at, kWord);
                distance += std::popcount(of_a ^ of_b);
            }
            for (; at < bytes; at++)
                distance += std::popcount(unsigned(a[at] ^ b[at]));
            return distance;
        });
}

// Writes the distance of each entry's key from `center` into distances[entries.size()].
inline void put_distances(std::span<const Entry> entries, uint64_t center, uint8_t* distances) {
    at_best_level(
        kHighestSimdLevel, [=]<SimdLevel>() __attribute__((always_inline)) {
            for (size_t i = 0; i < entries.size(); i++)
                distances[i] = uint8_t(hamming_distance(entries[i].key, center));
        });
}

} // namespace simhash
