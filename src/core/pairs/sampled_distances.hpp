// The radius in which each lane of codes is searched, by how far apart the lanes of codes are that
// have nothing to do with each other.
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
// Codes that have the same lane are met faster than others, so a stranger there counts less.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "core/bits/code_lanes.hpp"

namespace simhash {

using LaneRadii = std::array<int, kMaxCodeLanes>; // -1: the lane is not searched

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
    LaneRadii radii(int radius) const {
        LaneRadii radii;
        double bits[kMaxCodeLanes], binomial[kMaxCodeLanes];
        radii.fill(-1);
        for (int lane = 0; lane < lanes_; lane++) {
            // A lane whose strangers differ in m bits on average behaves as one of 2 m random bits.
            bits[lane] = 2 * mean(lane);
            binomial[lane] = std::exp2(-bits[lane]); // the probability of the next distance
        }
        auto strangers = [&](int lane) {
            int distance = radii[size_t(lane)] + 1;
            double weight = distance == 0 ? kWeightOfEqual : 1;
            return binomial[lane] + weight * counts_[lane][distance] / pairs();
        };
        // There are radius + 1 steps: the sum of (t + 1) over the lanes. The first step of a lane
        // takes it from -1 to 0.
        for (int given = 0; given <= radius; given++) {
            int best = -1;
            for (int lane = 0; lane < lanes_; lane++)
                if (radii[size_t(lane)] < kFingerprintBits &&
                    (best < 0 || strangers(lane) < strangers(best)))
                    best = lane;
            if (best < 0)
                break;
            int distance = ++radii[size_t(best)];
            binomial[best] *= std::max(0.0, bits[best] - distance) / (distance + 1);
        }
        return radii;
    }

  private:
    static constexpr double kWeightOfEqual = 1.0 / 32;

    double pairs() const { return std::max(pairs_, 1.0); }
    double mean(int lane) const {
        double sum = 0;
        for (int distance = 0; distance <= kFingerprintBits; distance++)
            sum += double(distance) * counts_[lane][distance];
        return sum / pairs();
    }

    int lanes_;
    double pairs_ = 0;
    uint32_t counts_[kMaxCodeLanes][kFingerprintBits + 1] = {}; // pairs at each distance
};

} // namespace simhash
