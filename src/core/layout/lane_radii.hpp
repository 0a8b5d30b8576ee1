// How a radius around a value is shared out to its lanes: each is searched within lane_radius().
#pragma once

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
    // Radius 31 and four lanes: 32 shares, 8 for each lane, so each is searched within 7. Radius
    // 32: 8, 7, 7, 7.
    return shares / lane_count + (lane < shares % lane_count) - 1;
}

} // namespace simhash
