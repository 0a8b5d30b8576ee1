// The vote: each feature votes with its weight for every bit of its hash, and a fingerprint bit is
// 1 where the sum of (+weight where the hash has a 1, -weight where it has a 0) is above 0.
//
//   feature hashes (4 bits shown)   weight    bit 3  bit 2  bit 1  bit 0
//   1 0 1 0                            2        +2     -2     +2     -2
//   1 1 0 0                            1        +1     +1     -1     -1
//   sum                                         +3     -1     +1     -3    ->  1 0 1 0
//
// Only the weights of the ones and the total of all weights are added up: the sum is 2 * ones -
// total. Weights are integers (fixed-point from the start), so their order does not matter.
#pragma once

#include <optional>

#include "core/bits/simd.hpp"
#include "core/text/feature_counts.hpp"

#ifndef __SIZEOF_INT128__
#error "simhash needs a 64-bit machine, whose compiler has integers of 128 bits"
#endif

namespace simhash {

// Sums of any size, for weights that a caller gives. 128 bits hold 2^47 weights of the greatest
// size; beyond that a sum stays at the limit instead of wrapping around.
struct Votes {
    // The server's memory is aligned to 8 bytes, not to the 16 of the plain type.
    using Sum [[gnu::aligned(8)]] = __int128;

    Sum ones[64] = {}; // by bit
    Sum total = 0;
    // 1 where a feature had a weight that is not 0. 64 bits leave no padding, as aggregates send
    // these bytes from worker to leader.
    uint64_t any = 0;

    void add(uint64_t hash, __int128 weight);
    void add(const Votes& other);
    // A document's weighed features. The hot loop, which has a form for each SIMD level.
    void add(const FeatureCount* features, size_t count, SimdLevel highest = kHighestSimdLevel);

    // False if a sum is beyond the limit, where no addition leads: votes that were added elsewhere
    // may be damaged.
    bool are_possible() const;

    // None if no feature voted.
    std::optional<uint64_t> fingerprint() const;
};

// A caller's weight as a fixed-point number with kWeightFraction bits after the point, rounded to
// nearest, halves to even. False if it is NaN, infinite, or beyond +-kGreatestWeight.
constexpr int kWeightFraction = 40;
constexpr double kGreatestWeight = 1099511627776.0; // 2^40
bool fixed_point_weight(double weight, __int128* out);

} // namespace simhash
