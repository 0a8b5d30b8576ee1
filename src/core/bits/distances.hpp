// The distances of many entries' keys from one fingerprint.
#pragma once

#include <span>

#include "core/bits/distance.hpp"
#include "core/bits/entry.hpp"
#include "core/bits/x86.hpp"

namespace simhash {

namespace internal {

// Inlined into the forms below, each of which has it compiled for its instruction set.
[[gnu::always_inline]] inline void put_distances(std::span<const Entry> entries, uint64_t center,
                                                 uint8_t* distances) {
    for (size_t i = 0; i < entries.size(); i++)
        distances[i] = uint8_t(hamming_distance(entries[i].key, center));
}

inline void put_distances_portable(std::span<const Entry> entries, uint64_t center,
                                   uint8_t* distances) {
    put_distances(entries, center, distances);
}

#if defined(SIMHASH_X86)
SIMHASH_TARGET(SIMHASH_POPCNT)
inline void put_distances_popcnt(std::span<const Entry> entries, uint64_t center,
                                 uint8_t* distances) {
    put_distances(entries, center, distances);
}
#endif

using PutDistances = void (*)(std::span<const Entry>, uint64_t center, uint8_t* distances);

inline constexpr PutDistances kPutDistances[] = {
    put_distances_portable,
#if defined(SIMHASH_X86)
    put_distances_popcnt,
    put_distances_popcnt,
    put_distances_popcnt,
#elif defined(SIMHASH_NEON)
    put_distances_portable, // the compiler uses NEON by itself
#endif
};

} // namespace internal

// Writes the distance of each entry's key from `center` into distances[entries.size()].
inline void put_distances(std::span<const Entry> entries, uint64_t center, uint8_t* distances) {
    best_form(kHighestSimdLevel, internal::kPutDistances)(entries, center, distances);
}

} // namespace simhash
