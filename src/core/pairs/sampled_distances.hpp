// How far apart the lanes of codes that have nothing to do with each other are, and from that the
// radius in which each lane is searched.
//
// Two codes within `radius` bits of each other are within t bits of each other in one lane at least
// if the (t + 1) of all lanes add up to radius + 1: otherwise they would differ in more bits. Which
// lanes get how much of it is free. A bit more in a lane brings more strangers, pairs that are near
// in that lane only. So each bit goes to the lane in which it brings the fewest:
//
//     256 random bits, radius 31            7  7  7  7
//     65 bits, radius 8                     8  -             the second lane has one bit
//     two lanes are 0 in each fourth code   -  15  -  15
//
// How many that are is the sum of two estimates, for a sample of pairs: the share of them that are
// that near, and, for what is too rare for a sample, the binomial distribution with their mean.
// Codes that have the same lane are compared faster than others, so a stranger there counts less.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits/code_lanes.hpp"
#include "core/bits/distance.hpp"

namespace simhash {

constexpr int kNotSearched = -1;

struct CodeRadii {
    int of_lane[kMaxCodeLanes]; // or kNotSearched
    double strangers; // the share of all pairs that are within the radius of a lane, so counted
};

class SampledDistances {
  public:
    explicit SampledDistances(int lanes) : lanes_(lanes) {}

    // Adds a pair. a, b: [lanes]
    void add(const uint64_t* a, const uint64_t* b) {
        for (int lane = 0; lane < lanes_; lane++)
            counts_[lane][hamming_distance(a[lane], b[lane])]++;
        pairs_++;
    }

    // Where all lanes together have fewer bits than the radius, each has kFingerprintBits.
    CodeRadii radii(int radius) const;

  private:
    double mean(int lane) const;

    int lanes_;
    size_t pairs_ = 0;
    uint32_t counts_[kMaxCodeLanes][kFingerprintBits + 1] = {}; // pairs at each distance
};

} // namespace simhash
