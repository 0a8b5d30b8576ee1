// Which of many fingerprints lie within a radius of one: the innermost loop, in the widest form
// that the processor has.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simhash {

constexpr size_t kMaxMatchCount = 4096; // fingerprints per call

// Writes the positions (0 .. count - 1, rising) of the fingerprints within radius (>= 0) of `query`
// to `matches` and returns how many. fingerprints and matches: [count], count <= kMaxMatchCount.
using Matcher = size_t (*)(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                           uint16_t* matches);

// The fastest that this processor runs.
Matcher best_matcher();

// All that it runs, the portable one first, for tests: their number, 1..4.
int all_matchers(Matcher (&matchers)[4]);

} // namespace simhash
