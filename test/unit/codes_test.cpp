// Codes: how their bits are dealt to lanes, and their distance.
#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <set>
#include <vector>

#include "core/bits/code_lanes.hpp"
#include "core/bits/distances.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr int kLengths[] = {1,   2,   7,   8,   9,   63,  64,   65,  100,
                            127, 128, 129, 255, 256, 576, 1000, 1024};

// A code of which one bit is set, or none.
std::vector<uint8_t> code_with(int bit_count, int bit = -1) {
    std::vector<uint8_t> code(size_t(bit_count + 7) / 8);
    if (bit >= 0)
        code[size_t(bit) / 8] = uint8_t(0x80 >> bit % 8);
    return code;
}

TEST(BitLanes, EveryBitHasAPlaceOfItsOwn) {
    for (int bit_count : kLengths) {
        int lane_count = lane_count_of_bits(bit_count);
        std::set<std::pair<int, int>> places;
        for (int bit = 0; bit < bit_count; bit++) {
            uint64_t lanes[kMaxCodeBits / 64];
            lanes_of_bits(code_with(bit_count, bit).data(), bit_count, lanes);
            for (int i = 0; i < lane_count; i++) {
                if (lanes[i] == 0)
                    continue;
                EXPECT_TRUE(std::has_single_bit(lanes[i]));
                places.emplace(i, std::countl_zero(lanes[i]));
            }
        }
        EXPECT_EQ(int(places.size()), bit_count);
    }
}

// Bits that are far apart by a multiple of 16 are a column of a picture's hash.
TEST(BitLanes, RowsAndColumnsOfAHashAreInAllLanes) {
    for (int apart : {1, 16})
        for (int line = 0; line < 16; line++) {
            std::vector<uint8_t> code = code_with(256);
            for (int i = 0; i < 16; i++) {
                int bit = apart == 1 ? 16 * line + i : line + 16 * i;
                code[size_t(bit) / 8] |= uint8_t(0x80 >> bit % 8);
            }
            uint64_t lanes[4];
            lanes_of_bits(code.data(), 256, lanes);
            for (uint64_t lane : lanes) {
                EXPECT_GE(std::popcount(lane), 3);
                EXPECT_LE(std::popcount(lane), 5);
            }
        }
}

TEST(BitLanes, LanesShareTheBitsOut) {
    for (int bit_count : kLengths) {
        int lane_count = lane_count_of_bits(bit_count), sum = 0;
        for (int i = 0; i < lane_count; i++) {
            sum += bits_of_lane(bit_count, lane_count, i);
            EXPECT_LE(bits_of_lane(bit_count, lane_count, i), 64);
            EXPECT_LE(
                bits_of_lane(bit_count, lane_count, 0) - bits_of_lane(bit_count, lane_count, i), 1);
        }
        EXPECT_EQ(sum, bit_count);
    }
}

TEST(BitLanes, BlocksOfALaneHaveTheirShare) {
    for (int bit_count : kLengths) {
        std::vector<uint8_t> ones(size_t(bit_count + 7) / 8, 0xff);
        uint64_t lanes[kMaxCodeBits / 64];
        lanes_of_bits(ones.data(), bit_count, lanes);
        int lane_count = lane_count_of_bits(bit_count);
        for (int i = 0; i < lane_count; i++)
            for (int block = 0; block < 4; block++) {
                int bits = std::popcount(lanes[i] << (16 * block) >> 48);
                int share = bits_of_lane(bit_count, lane_count, i) / 4;
                EXPECT_TRUE(bits == share || bits == share + 1) << bit_count;
            }
    }
}

TEST(BitLanes, OfATableAreThoseOfTheCode) {
    Random random(1);
    auto table = std::make_unique<LaneTable>();
    for (int bit_count = 1; bit_count <= kMaxCodeBits; bit_count++) {
        table->fill(bit_count);
        std::vector<uint8_t> code(size_t(bit_count + 7) / 8);
        for (uint8_t& byte : code)
            byte = uint8_t(random.next());
        code.back() &= uint8_t(0xff << (-bit_count & 7)); // as the server stores them
        std::vector<uint64_t> expected(size_t(lane_count_of_bits(bit_count))), lanes = expected;
        lanes_of_bits(code.data(), bit_count, expected.data());
        table->lanes_of_bits(code.data(), lanes.data());
        EXPECT_EQ(lanes, expected) << bit_count;
    }
}

// What an index holds of codes must not change.
TEST(BitLanes, AreTheSameForEver) {
    uint8_t code[128];
    Random random(1);
    for (uint8_t& byte : code)
        byte = uint8_t(random.next());
    uint64_t sum = 0;
    for (int bit_count = 1; bit_count <= kMaxCodeBits; bit_count++) {
        uint64_t lanes[kMaxCodeBits / 64];
        lanes_of_bits(code, bit_count, lanes);
        for (int i = 0; i < lane_count_of_bits(bit_count); i++)
            sum = std::rotl(sum, 7) * 0x9e3779b97f4a7c15 + lanes[i];
    }
    EXPECT_EQ(sum, 11093383278064273303u);
}

TEST(BitLanes, NearRadiusGoesThroughItsPoints) {
    EXPECT_EQ(near_radius_of_bits(0), 0);
    EXPECT_EQ(near_radius_of_bits(1), 0);
    EXPECT_EQ(near_radius_of_bits(8), 1);
    EXPECT_EQ(near_radius_of_bits(64), 8);
    EXPECT_EQ(near_radius_of_bits(65), 8);
    EXPECT_EQ(near_radius_of_bits(128), 18);
    EXPECT_EQ(near_radius_of_bits(192), 24);
    EXPECT_EQ(near_radius_of_bits(256), 31);
    EXPECT_EQ(near_radius_of_bits(512), 63);
    EXPECT_EQ(near_radius_of_bits(1024), 127);
    for (int bit_count = 1; bit_count <= 1024; bit_count++)
        EXPECT_GE(near_radius_of_bits(bit_count), near_radius_of_bits(bit_count - 1));
}

// The blocks end where their memory ends, and begin at any address: sanitizers see what is read
// beyond.
TEST(CodeDistance, CountsDifferingBits) {
    Random random(2);
    for (size_t bytes : {0, 1, 3, 7, 8, 9, 16, 32, 33, 128, 247, 248, 249, 496, 1000})
        for (size_t offset : {0, 1, 5}) {
            auto a = std::make_unique<uint8_t[]>(offset + bytes);
            auto b = std::make_unique<uint8_t[]>(offset + bytes);
            int expected = 0;
            for (size_t i = offset; i < offset + bytes; i++) {
                a[i] = uint8_t(random.next());
                b[i] = uint8_t(random.next());
                expected += std::popcount(uint8_t(a[i] ^ b[i]));
            }
            EXPECT_EQ(code_distance(&a[0] + offset, &b[0] + offset, bytes), expected) << bytes;
        }
}

TEST(CodeDistance, OfAllBitsIsTheirNumber) {
    for (size_t bytes : {1, 8, 31, 248, 5000}) {
        std::vector<uint8_t> zeros(bytes, 0), ones(bytes, 0xff);
        EXPECT_EQ(code_distance(zeros.data(), ones.data(), bytes), int64_t(bytes) * 8);
    }
}

} // namespace
