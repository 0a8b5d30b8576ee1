// Probe plans: which block tables a query of a certain radius probes, and how far around its own
// prefix in each. probe_plan.cpp has the rule that makes a plan complete.
#pragma once

#include <bit>

#include "core/bits/ball_size.hpp"
#include "core/layout/layout.hpp"
#include "core/layout/prices.hpp"

namespace simhash {

struct Probe {
    int table;
    int prefix_bits; // leading bits of the permuted key that the probe looks at, 1..64
    int threshold;   // greatest number of bits in which the prefix of a visited range may differ
    uint64_t mask;   // effective mask: the prefix's bits, in the fingerprint
    // If the threshold is 0: number of bits after the prefix of which at most one may differ, and
    // these bits in the fingerprint; 0 means no restriction.
    int slice_bits = 0;
    uint64_t slice_mask = 0;

    bool sees(uint64_t fp_xor_query) const {
        uint64_t differing = fp_xor_query & mask, in_slices = fp_xor_query & slice_mask;
        // There are two differences or more in the bits of the slices.
        if ((in_slices & (in_slices - 1)) != 0)
            return false;
        return threshold == 0 ? differing == 0 : std::popcount(differing) <= threshold;
    }
};

struct ProbePlan {
    int radius;
    int probe_count; // 0 with read_all: read table 0 from end to end; without: nothing matches
    bool read_all;
    double visits;     // ranges to look up
    double candidates; // fingerprints expected in the ranges or their slices
    double cost;
    Probe probes[kMaxTables]; // [probe_count], in order of table
};

// The cheapest plan found that finds every fingerprint within radius (any integer) in a table of
// `entries` distinct fingerprints.
ProbePlan make_probe_plan(const Layout& layout, int radius, double entries,
                          const ProbeCosts& costs);

// Whether one pass over the first lane of all values costs less than a search of each of the lanes
// (more than one) within its share of `radius`. `plan` is the first lane's, whose share is the
// greatest. A pass finds every value whose first lane is within the whole radius, and each value
// that is found has to be compared with the query.
inline bool one_pass_is_cheaper(const ProbePlan& plan, int radius, int lane_count) {
    if (!plan.read_all)
        return false;
    constexpr double kPass = kTypicalProbeCosts.read_all_per_entry;
    double one_pass = kPass + kComparison * ball_share(radius);
    double passes = lane_count * (kPass + kComparison * ball_share(plan.radius));
    return one_pass < passes;
}

// Whether it costs less to add up the distances of all rows, by two passes over each lane, than to
// search each lane by this plan, the first lane's, and to look up what a lane finds by chance.
inline bool sums_are_cheaper(const ProbePlan& plan) {
    return plan.read_all &&
           kLookup * ball_share(plan.radius) > kTypicalProbeCosts.read_all_per_entry;
}

// Whether an earlier probe of the plan also sees the candidate of probe probe_index. Of all probes
// that see a fingerprint, only the first reports it.
inline bool reported_earlier(const ProbePlan& plan, int probe_index, uint64_t fp_xor_query) {
    for (int j = 0; j < probe_index; j++)
        if (plan.probes[j].sees(fp_xor_query))
            return true;
    return false;
}

// All prefix values within `threshold` bits of a prefix (a right-aligned number of prefix_bits
// bits, 0..64), each once: itself first, then in order of distance.
class PrefixNeighbours {
  public:
    PrefixNeighbours(uint64_t prefix, int prefix_bits, int threshold)
        : prefix_(prefix), bits_(prefix_bits),
          threshold_(threshold < prefix_bits ? threshold : prefix_bits) {}

    // Leaves out those within `distance`, which is at most prefix_bits. Must precede next().
    void leave_out(int distance) {
        distance_ = distance;
        flips_ = distance < 0 ? 0 : highest(distance);
    }

    bool next(uint64_t* neighbour) {
        if (distance_ >= 0 && flips_ != highest(distance_)) {
            // Next larger number with as many ones (Gosper).
            uint64_t lowest_one = flips_ & -flips_;
            uint64_t carried = flips_ + lowest_one;
            flips_ = carried | (flips_ ^ carried) >> 2 >> std::countr_zero(flips_);
        } else {
            if (distance_ >= threshold_)
                return false;
            distance_++;
            flips_ = lowest(distance_);
        }
        *neighbour = prefix_ ^ flips_;
        return true;
    }

  private:
    // The number with its `ones` lowest bits set; highest() has them at the top of the prefix. They
    // are the first and the last of all numbers with as many ones.
    static uint64_t lowest(int ones) { return ones == 0 ? 0 : ~uint64_t{0} >> (64 - ones); }
    uint64_t highest(int ones) const { return ones == 0 ? 0 : lowest(ones) << (bits_ - ones); }

    uint64_t prefix_;
    uint64_t flips_ = 0; // bits that differ from prefix_: distance_ of them
    int bits_;
    int threshold_;
    int distance_ = -1;
};

} // namespace simhash
