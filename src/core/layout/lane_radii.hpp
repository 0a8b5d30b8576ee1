// How far apart the lanes of two values may be that lie within a radius of each other.
#pragma once

namespace simhash {

constexpr int kMaxLanes = 16; // of a value: 1024 bits

// Returns the radius within which lane `lane` (from 0) of `lane_count` is searched, so that every
// value within `radius` is found by one lane at least; -1: the lane is not searched. The radii t
// have the sum of (t + 1) = radius + 1. If each lane differed in more bits than its radius, the
// values would differ in more than `radius` (the pigeonhole principle).
constexpr int lane_radius(int radius, int lane_count, int lane) {
    if (radius < 0)
        return -1;
    int shares = radius + 1;
    // Radius 31 and four lanes: 32 shares, 8 for each lane, so each is searched within 7. Radius
    // 32: 8, 7, 7, 7.
    return shares / lane_count + (lane < shares % lane_count) - 1;
}

} // namespace simhash
