// The vote: each feature votes with its weight for every bit of its hash, and a fingerprint bit is
// 1 where the sum of (+weight where the hash has a 1, -weight where it has a 0) is above 0.
//
//   feature hashes (4 bits shown)   weight    bit 3  bit 2  bit 1  bit 0
//   1 0 1 0                            2        +2     -2     +2     -2
//   1 1 0 0                            1        +1     +1     -1     -1
//   sum                                         +3     -1     +1     -3    ->  1 0 1 0
//
// Only the weights of the ones are added up, with the total beside them: the sum is 2 * ones -
// total. Weights are integers (fixed-point from the door on), so the order of adding never matters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits/simd.hpp"
#include "core/text/feature_counts.hpp"

#ifndef __SIZEOF_INT128__
#error "simhash needs a 64-bit machine, whose compiler has integers of 128 bits"
#endif

namespace simhash {

// Sums of any size, for weights that a caller gives. 128 bits hold 2^47 weights of the greatest
// size; beyond that sums stay at the limit instead of wrapping.
struct Votes {
    // A server's memory is aligned to 8 bytes, not to the 16 that the type would have.
    using Sum [[gnu::aligned(8)]] = __int128;

    Sum ones[64] = {}; // by bit
    Sum total = 0;
    bool any = false; // a feature whose weight is not 0

    void add(uint64_t hash, __int128 weight);
    void add(const Votes& other);
    // A document's features, weighed. The hot loop, of which processors have forms of their own.
    void add(const FeatureCount* features, size_t count, SimdLevel highest = kHighestSimdLevel);

    // False where there is no feature, which has no fingerprint.
    bool fingerprint(uint64_t* out) const;
};

// A caller's weight as a fixed-point number with kWeightFraction bits after the point, rounded to
// nearest, halves to even. False for NaN, infinite, and beyond +-kGreatestWeight.
constexpr int kWeightFraction = 40;
constexpr double kGreatestWeight = 1099511627776.0; // 2^40
bool fixed_point_weight(double weight, __int128* out);

} // namespace simhash
