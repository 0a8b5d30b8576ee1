// How a radius around a value is shared out to its lanes: each is searched within lane_radius(), or
// by what that costs (Thresholds).
#pragma once

#include <algorithm>
#include <cstdint>

namespace simhash {

constexpr int kMaxLanes = 16; // of a value: 1024 bits

// What lies within a radius of a value.
enum class LaneRule : uint8_t {
    kSum, // the values whose lanes' distances add up to that at most: lanes are parts of a code
    kAny, // those of which one lane is as near: each lane is a fingerprint by itself
    // Those that have a lane in common with it. Each value has any number of lanes, all in one
    // posting table, and the radius is 0.
    kCommon,
};

// A radius around a value.
struct ValueRadius {
    LaneRule rule;
    int bits;
};

// Returns the radius within which lane `lane` (from 0) of `lane_count` is searched, so that every
// value within the radius is found by one lane at least; -1: the lane is not searched.
//
// By kSum the radii t have the sum of (t + 1) = radius + 1. If each lane differed in more bits than
// its own, the values would differ in more than the radius (the pigeonhole principle).
constexpr int lane_radius(const ValueRadius& radius, int lane_count, int lane) {
    if (radius.bits < 0)
        return -1;
    if (radius.rule != LaneRule::kSum)
        return radius.bits;
    int shares = radius.bits + 1;
    // Four lanes, radius 31: 32 shares, so each lane is searched within 7. Radius 32: 8, 7, 7, 7.
    return shares / lane_count + (lane < shares % lane_count) - 1;
}

// The cheapest thresholds by the same principle: a radius is shared out to several items, block
// tables or lanes, so that the sum of (threshold + 1) is radius + 1. Dynamic programming over the
// items, at most most_items, and over the shares given out so far, at most most_shares.
template <int most_items, int most_shares>
class Thresholds {
  public:
    explicit Thresholds(int shares) : shares_(shares) {
        std::fill_n(least_, shares + 1, kInfinite);
        least_[0] = 0;
    }

    // Adds an item whose threshold may be -1, for which it is not searched, up to `highest`. It
    // costs cost(threshold).
    void add(int highest, const auto& cost) {
        int8_t* chosen = chosen_[count_++];
        double costs[most_shares + 1];
        for (int t = -1; t <= highest && t < shares_; t++)
            costs[t + 1] = cost(t);
        // Downwards, so that least_[sum - ...] is still that of the items before.
        for (int sum = shares_; sum >= 0; sum--) {
            double least = kInfinite;
            chosen[sum] = -1;
            for (int t = -1; t <= highest && t < sum; t++)
                if (double all = least_[sum - (t + 1)] + costs[t + 1]; all < least) {
                    least = all;
                    chosen[sum] = int8_t(t);
                }
            least_[sum] = least;
        }
    }

    // False if the items cannot take all shares.
    bool are_found() const { return least_[shares_] < kInfinite; }
    // Returns the threshold of the item that was added last, and goes back to the one before.
    int take_last() {
        int threshold = chosen_[--count_][shares_];
        shares_ -= threshold + 1;
        return threshold;
    }

  private:
    static constexpr double kInfinite = 1e300;

    int count_ = 0, shares_;
    double least_[most_shares + 1];              // by sum: the least cost of the items so far
    int8_t chosen_[most_items][most_shares + 1]; // the last item's threshold in it
};

} // namespace simhash
