// Layouts: the published prefix lengths, and the property that makes one probe per table enough.
#include "core/layout/layout.hpp"

#include <bit>
#include <gtest/gtest.h>

#include "core/bits/distance.hpp"

namespace {

using namespace simhash;

// The published lengths (Manku et al., table 1, and C(6,3)).
TEST(Layout, RadiusThreeHasThePublishedPrefixes) {
    EXPECT_EQ(shortest_prefix_bits(make_layout(3, 4)), 16);
    EXPECT_EQ(shortest_prefix_bits(make_layout(3, 10)), 25);
    EXPECT_EQ(shortest_prefix_bits(make_layout(3, 16)), 28);
    EXPECT_EQ(shortest_prefix_bits(make_layout(3, 20)), 31);
    EXPECT_EQ(make_layout(3, 4).table_count, 4);
    EXPECT_EQ(make_layout(3, 20).table_count, 20);
}

TEST(Layout, UnevenBlocksUseTablesThatEqualOnesCannot) {
    EXPECT_EQ(shortest_prefix_bits(make_layout(3, 7)), 19);
}

TEST(Layout, OneTableIsTheWholeLane) {
    for (int radius : {0, 1, 3, 63}) {
        Layout layout = make_layout(radius, 1);
        EXPECT_EQ(layout.table_count, 1);
        EXPECT_EQ(layout.masks[0], ~uint64_t{0});
    }
    EXPECT_EQ(make_layout(0, 64).table_count, 1);
    EXPECT_EQ(make_layout(0, 64).masks[0], ~uint64_t{0});
}

TEST(Layout, FewerTablesThanRadiusPlusOneAreThatManyBlocks) {
    Layout layout = make_layout(3, 3);
    ASSERT_EQ(layout.table_count, 3);
    EXPECT_EQ(layout.masks[0] ^ layout.masks[1] ^ layout.masks[2], ~uint64_t{0});
    EXPECT_EQ(std::popcount(layout.masks[0]), 22);
    EXPECT_EQ(std::popcount(layout.masks[2]), 21);
}

TEST(Layout, EveryLayoutIsWithinItsBounds) {
    for (int radius = 0; radius <= kMaxLayoutRadius; radius++) {
        int shortest_so_far = 0;
        for (int tables = 1; tables <= kMaxTables; tables++) {
            Layout layout = make_layout(radius, tables);
            ASSERT_EQ(layout.radius, radius);
            ASSERT_GE(layout.table_count, 1);
            ASSERT_LE(layout.table_count, tables);
            int shortest = shortest_prefix_bits(layout);
            ASSERT_GE(shortest, 1);
            uint64_t first = layout.masks[0];
            ASSERT_EQ(std::countl_one(first), std::popcount(first)) << "leading bits";
            for (int i = 0; i < layout.table_count; i++)
                for (int j = 0; j < i; j++)
                    ASSERT_NE(layout.masks[i], layout.masks[j]);
            if (tables == radius + 1)
                shortest_so_far = 0; // until here, blocks; from here on, choices of blocks
            if (tables > radius) {
                ASSERT_GE(shortest, shortest_so_far) << "more tables, no shorter prefix";
                shortest_so_far = shortest;
            }
        }
    }
}

// Every difference of at most `radius` bits leaves some table's prefix alone.
TEST(Layout, OneProbePerTableFindsEverythingWithinTheRadius) {
    constexpr int kWidth = 12;
    for (int radius = 0; radius <= 6; radius++)
        for (int tables = radius + 1; tables <= kMaxTables; tables++) {
            Layout layout = make_layout_for_width(kWidth, radius, tables);
            ASSERT_LE(layout.table_count, tables);
            for (uint64_t lane = 0; lane < 1 << kWidth; lane++) {
                uint64_t difference = lane << (64 - kWidth);
                if (std::popcount(difference) > radius)
                    continue;
                bool found = false;
                for (int i = 0; i < layout.table_count; i++)
                    found |= (difference & layout.masks[i]) == 0;
                ASSERT_TRUE(found) << "radius " << radius << " tables " << tables;
            }
        }
}

} // namespace
