// All pairs of fingerprints within a radius. See near_pairs.cpp for the search.
//
// Nothing here allocates, and nothing here needs to be cleaned up: a `Pause` may leave by longjmp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits/pause.hpp"

namespace simhash {

// Sorted fingerprints, none repeated, and what a search works in: 24 bytes for a fingerprint. The
// search changes their order and restores it; after a pause that did not return, they are in any
// order.
struct NearPairsMemory {
    size_t count;                  // at most kMaxNearPairsCount
    uint64_t* fingerprints;        // [count]
    uint64_t* fingerprint_scratch; // [count]
    uint32_t* positions;           // [count]
    uint32_t* position_scratch;    // [count]
};

// Who hears of the pairs, as positions in the sorted fingerprints.
struct NearPairsReceiver {
    // Every pair once, a < b, in no particular order.
    void (*pair)(void* context, uint32_t a, uint32_t b);
    // All pairs of these fingerprints are within the radius. Null: they are to be given one by one.
    // Otherwise such pairs may be told of more than once.
    void (*all_pairs)(void* context, const uint32_t* positions, size_t count);
    void* context;
};

constexpr size_t kMaxNearPairsCount = INT32_MAX;

// Finds all pairs of different fingerprints within radius (0..64).
void find_near_pairs(const NearPairsMemory& memory, int radius, const NearPairsReceiver& receiver,
                     Pause pause);

} // namespace simhash
