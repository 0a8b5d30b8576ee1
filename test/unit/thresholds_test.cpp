// Thresholds: the sum that the pigeonhole principle asks for, at the least cost.
#include "core/layout/lane_radii.hpp"

#include <gtest/gtest.h>

#include "random.hpp"

namespace {

using namespace simhash;

constexpr int kItems = 3, kHighest = 4;

// The least cost of any thresholds of three items with this sum; a negative number if there is
// none. costs[item][threshold + 1].
double least_cost(int shares, const double (&costs)[kItems][kHighest + 2]) {
    double least = -1;
    for (int a = -1; a <= kHighest; a++)
        for (int b = -1; b <= kHighest; b++) {
            int c = shares - (a + 1) - (b + 1) - 1;
            if (c < -1 || c > kHighest)
                continue;
            double cost = costs[0][a + 1] + costs[1][b + 1] + costs[2][c + 1];
            if (least < 0 || cost < least)
                least = cost;
        }
    return least;
}

TEST(Thresholds, CheapestOfTheSum) {
    test::Random random(1);
    for (int round = 0; round < 200; round++) {
        double costs[kItems][kHighest + 2];
        for (auto& of_item : costs)
            for (double& cost : of_item)
                cost = double(random.below(100));
        for (int shares = 0; shares <= 17; shares++) {
            Thresholds<kItems, 17> thresholds(shares);
            for (const auto& of_item : costs)
                thresholds.add(kHighest, [&](int t) { return of_item[t + 1]; });
            double least = least_cost(shares, costs);
            ASSERT_EQ(thresholds.are_found(), least >= 0);
            if (!thresholds.are_found())
                continue;
            int sum = 0;
            double cost = 0;
            for (int item = kItems; item-- > 0;) {
                int t = thresholds.take_last();
                sum += t + 1;
                cost += costs[item][t + 1];
            }
            EXPECT_EQ(sum, shares);
            EXPECT_EQ(cost, least);
        }
    }
}

} // namespace
