// The distances of many entries' keys from one fingerprint.
#pragma once

#include <span>

#include "core/bits/distance.hpp"
#include "core/bits/entry.hpp"
#include "core/bits/simd.hpp"

namespace simhash {

// Writes the distance of each entry's key from `center` into distances[entries.size()].
inline void put_distances(std::span<const Entry> entries, uint64_t center, uint8_t* distances) {
    at_best_level(
        kHighestSimdLevel, [=]<SimdLevel>() __attribute__((always_inline)) {
            for (size_t i = 0; i < entries.size(); i++)
                distances[i] = uint8_t(hamming_distance(entries[i].key, center));
        });
}

} // namespace simhash
