// Which fingerprints lie within a radius of each other: the innermost loop, in the widest form that
// the processor has.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "core/bits/simd.hpp"

namespace simhash {

// How many fingerprints a call compares: each of these with each of those.
constexpr size_t kMaxMatchRows = 8;
constexpr size_t kMaxMatchColumns = 2048;

// What is within the radius: positions among these and among those.
struct Match {
    uint16_t row;
    uint16_t column;

    friend auto operator<=>(const Match&, const Match&) = default;
};

// Writes which of `these` and `those` are within radius (>= 0) of each other to `matches`, in no
// particular order, and returns how many. Where those begin with these (the same address), each two
// are compared once, and none with itself: row < column. these: [rows], those: [columns], matches:
// [rows * columns], within the limits above; those are not fewer where they begin with these.
using Matcher = size_t (*)(const uint64_t* these, size_t rows, const uint64_t* those,
                           size_t columns, int radius, Match* matches);

// The fastest that this processor runs, of those up to a level.
Matcher best_matcher(SimdLevel highest = kHighestSimdLevel);

} // namespace simhash
