// Layouts: blocks, and the property that makes one probe per table enough.
#include "core/layout/layout.hpp"

#include <bit>
#include <gtest/gtest.h>

#include "core/bits/fingerprint.hpp"

namespace {

using namespace simhash;

TEST(Layout, RadiusThreeHasFourTablesOfSixteenBits) {
    for (int tables : {4, 5, 64}) {
        Layout layout = make_layout(3, tables);
        ASSERT_EQ(layout.table_count, 4);
        for (int i = 0; i < 4; i++)
            EXPECT_EQ(layout.prefix_bits(i), 16);
    }
}

TEST(Layout, OneTableIsTheWholeLane) {
    for (int radius : {0, 1, 3, 63}) {
        Layout layout = make_layout(radius, 1);
        EXPECT_EQ(layout.table_count, 1);
        EXPECT_EQ(layout.mask(0), ~uint64_t{0});
    }
    EXPECT_EQ(make_layout(0, 64).table_count, 1);
    EXPECT_EQ(make_layout(0, 64).mask(0), ~uint64_t{0});
}

TEST(Layout, FewerTablesThanRadiusPlusOneAreThatManyBlocks) {
    Layout layout = make_layout(3, 3);
    ASSERT_EQ(layout.table_count, 3);
    EXPECT_EQ(layout.mask(0) ^ layout.mask(1) ^ layout.mask(2), ~uint64_t{0});
    EXPECT_EQ(std::popcount(layout.mask(0)), 22);
    EXPECT_EQ(std::popcount(layout.mask(2)), 21);
}

TEST(Layout, TablesAreBlocksThatTogetherAreTheLane) {
    for (int radius = 0; radius <= kMaxLayoutRadius; radius++)
        for (int tables = 1; tables <= kMaxTables; tables++) {
            Layout layout = make_layout(radius, tables);
            ASSERT_EQ(layout.radius, radius);
            ASSERT_EQ(layout.table_count, std::min(tables, radius + 1));
            uint64_t all = 0;
            for (int i = 0; i < layout.table_count; i++) {
                ASSERT_EQ(all & layout.mask(i), 0);
                all |= layout.mask(i);
                ASSERT_EQ(std::popcount(layout.mask(i)), layout.prefix_bits(i));
                ASSERT_GE(layout.prefix_bits(i), kFingerprintBits / layout.table_count);
                ASSERT_LE(layout.prefix_bits(i), layout.prefix_bits(0)) << "longer blocks first";
            }
            ASSERT_EQ(all, ~uint64_t{0});
        }
}

// Every difference of at most `radius` bits leaves some table's prefix alone.
TEST(Layout, OneProbePerTableFindsEverythingWithinTheRadius) {
    constexpr int kWidth = 12;
    for (int radius = 0; radius <= 6; radius++)
        for (int tables = radius + 1; tables <= kMaxTables; tables++) {
            Layout layout = make_layout(radius, tables, kWidth);
            ASSERT_LE(layout.table_count, tables);
            for (uint64_t lane = 0; lane < 1 << kWidth; lane++) {
                uint64_t difference = lane << (64 - kWidth);
                if (std::popcount(difference) > radius)
                    continue;
                bool found = false;
                for (int i = 0; i < layout.table_count; i++)
                    found |= (difference & layout.mask(i)) == 0;
                ASSERT_TRUE(found) << "radius " << radius << " tables " << tables;
            }
        }
}

} // namespace
