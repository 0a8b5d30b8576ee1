// Finds the fingerprints within a radius of each other: the innermost loop, in the widest form that
// the processor has.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "core/bits/simd.hpp"

namespace simhash {

// The most fingerprints that a call compares: each of these with each of those.
constexpr size_t kMaxMatchRows = 8;
constexpr size_t kMaxMatchColumns = 2048;
static_assert(kMaxMatchColumns <= UINT16_MAX, "Match has 16 bits for a position");

// A pair within the radius: positions among these and among those.
struct Match {
    uint16_t row;
    uint16_t column;

    friend auto operator<=>(const Match&, const Match&) = default;
};

// Writes the pairs of `these` and `those` within radius (>= 0) to `matches`, in no particular
// order, and returns their number. If both have the same address, each two are compared once, and
// none with itself: row < column. these: [rows], those: [columns], matches: [rows * columns],
// within the limits above. If both have the same address, columns >= rows.
using Matcher = size_t (*)(const uint64_t* these, size_t rows, const uint64_t* those,
                           size_t columns, int radius, Match* matches);

// The fastest form, up to a level, that this processor runs.
Matcher best_matcher(SimdLevel highest = kHighestSimdLevel);

} // namespace simhash
