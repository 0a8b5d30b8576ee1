// Which of many fingerprints lie within a radius of one: the innermost loop, in the widest form
// that the processor has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits/simd.hpp"

namespace simhash {

constexpr size_t kMaxMatchCount = 4096; // fingerprints per call

// Writes the positions (0 .. count - 1, rising) of the fingerprints within radius (>= 0) of `query`
// to `matches` and returns how many. fingerprints and matches: [count], count <= kMaxMatchCount.
using Matcher = size_t (*)(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                           uint16_t* matches);

// The fastest that this processor runs, of those up to a level.
Matcher best_matcher(SimdLevel highest = kHighestSimdLevel);

} // namespace simhash
