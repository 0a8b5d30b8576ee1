// The radii of lanes: no value within the whole radius is missed, and none is larger than needed.
#include "core/layout/lane_radii.hpp"

#include <algorithm>
#include <gtest/gtest.h>

namespace {

using namespace simhash;

TEST(LaneRadii, SharesAddUpToTheWholeRadiusAndOne) {
    for (int lanes = 1; lanes <= kMaxLanes; lanes++)
        for (int radius = -3; radius <= 1024; radius++) {
            int shares = 0;
            for (int lane = 0; lane < lanes; lane++) {
                EXPECT_GE(lane_radius({LaneRule::kSum, radius}, lanes, lane), -1);
                shares += lane_radius({LaneRule::kSum, radius}, lanes, lane) + 1;
            }
            EXPECT_EQ(shares, radius < 0 ? 0 : radius + 1);
        }
}

TEST(LaneRadii, WhereOneLaneDecidesEachHasTheWholeRadius) {
    for (int radius = -3; radius <= 64; radius++)
        for (int lane = 0; lane < 3; lane++)
            EXPECT_EQ(lane_radius({LaneRule::kAny, radius}, 3, lane), std::max(radius, -1));
}

TEST(LaneRadii, FirstLanesHaveTheGreaterOnes) {
    EXPECT_EQ(lane_radius({LaneRule::kSum, 31}, 4, 0), 7);
    EXPECT_EQ(lane_radius({LaneRule::kSum, 31}, 4, 3), 7);
    EXPECT_EQ(lane_radius({LaneRule::kSum, 18}, 2, 0), 9);
    EXPECT_EQ(lane_radius({LaneRule::kSum, 18}, 2, 1), 8);
    EXPECT_EQ(lane_radius({LaneRule::kSum, 0}, 4, 0), 0);
    EXPECT_EQ(lane_radius({LaneRule::kSum, 0}, 4, 1), -1);
}

} // namespace
