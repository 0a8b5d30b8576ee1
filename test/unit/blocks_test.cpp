// Blocks: they divide the word, and words that differ in fewer bits than there are blocks agree in
// one of them.
#include "core/layout/layout.hpp"

#include <bit>
#include <gtest/gtest.h>

#include "core/bits/fingerprint.hpp"

namespace {

using namespace simhash;

TEST(Blocks, DivideTheWordFromItsFirstBitOn) {
    for (int count = 1; count <= kFingerprintBits + 1; count++) {
        uint64_t rest = ~uint64_t{0};
        int shortest = kFingerprintBits / count;
        int length_before = kFingerprintBits;
        for (int block = 0; block < count; block++) {
            uint64_t mask = block_mask(kFingerprintBits, count, block);
            int length = std::popcount(mask);
            ASSERT_EQ(mask, highest_ones(rest, length)) << "the next bits";
            ASSERT_TRUE(length == shortest || length == shortest + 1);
            ASSERT_LE(length, length_before);
            length_before = length;
            rest ^= mask;
        }
        ASSERT_EQ(rest, 0u);
    }
}

TEST(Blocks, AreThoseOfTheDocumentedExamples) {
    EXPECT_EQ(block_mask(kFingerprintBits, 4, 0), 0xffff000000000000u);
    EXPECT_EQ(block_mask(kFingerprintBits, 4, 3), 0x000000000000ffffu);
    EXPECT_EQ(block_mask(kFingerprintBits, 5, 0), 0xfff8000000000000u);
    EXPECT_EQ(block_mask(kFingerprintBits, 5, 4), 0x0000000000000fffu);
}

// Every difference of fewer bits than there are blocks leaves one of them alone.
TEST(Blocks, OneIsEqualInWordsThatDifferInFewerBits) {
    constexpr int kWidth = 12;
    for (int count = 1; count <= kWidth + 1; count++)
        for (uint64_t word = 0; word < 1 << kWidth; word++) {
            uint64_t difference = word << (kFingerprintBits - kWidth);
            if (std::popcount(difference) >= count)
                continue;
            bool equal = false;
            for (int block = 0; block < count; block++)
                equal |= (difference & block_mask(kWidth, count, block)) == 0;
            ASSERT_TRUE(equal) << count << " blocks, difference " << word;
        }
}

} // namespace
