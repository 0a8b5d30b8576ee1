// The radii of words: no value within the whole radius is missed, and none is larger than needed.
#include "core/layout/word_radii.hpp"

#include <gtest/gtest.h>

namespace {

using namespace simhash;

TEST(WordRadii, SharesAddUpToTheWholeRadiusAndOne) {
    for (int words = 1; words <= kMaxWords; words++)
        for (int radius = -3; radius <= 1024; radius++) {
            int shares = 0;
            for (int word = 0; word < words; word++) {
                EXPECT_GE(word_radius(radius, words, word), -1);
                shares += word_radius(radius, words, word) + 1;
            }
            EXPECT_EQ(shares, radius < 0 ? 0 : radius + 1);
        }
}

TEST(WordRadii, FirstWordsHaveTheGreaterOnes) {
    EXPECT_EQ(word_radius(31, 4, 0), 7);
    EXPECT_EQ(word_radius(31, 4, 3), 7);
    EXPECT_EQ(word_radius(18, 2, 0), 9);
    EXPECT_EQ(word_radius(18, 2, 1), 8);
    EXPECT_EQ(word_radius(0, 4, 0), 0);
    EXPECT_EQ(word_radius(0, 4, 1), -1);
}

} // namespace
