// The small things that the rest is made of: balls, their sizes, the highest bits of a word,
// entries, and the sort and the search that others share.
#include <gtest/gtest.h>

#include <vector>

#include "core/bits/ball_size.hpp"
#include "core/bits/entry.hpp"
#include "core/bits/fingerprint.hpp"
#include "core/bits/slices.hpp"
#include "core/bits/sort.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

TEST(Ball, HoldsWhatIsWithinItsRadius) {
    Random random(1);
    for (int distance = 0; distance <= 64; distance++) {
        uint64_t center = random.next(), other = center ^ random.with_ones(distance);
        for (int radius = -1; radius <= 64; radius++)
            ASSERT_EQ((Ball{center, radius}.contains(other)), distance <= radius);
    }
}

TEST(Ball, RadiiBeyondTheWordSaturate) {
    EXPECT_EQ(saturate_radius(INT64_MIN), -1);
    EXPECT_EQ(saturate_radius(-1), -1);
    for (int radius = 0; radius <= 64; radius++)
        EXPECT_EQ(saturate_radius(radius), radius);
    EXPECT_EQ(saturate_radius(65), 64);
    EXPECT_EQ(saturate_radius(INT64_MAX), 64);
}

// The binomial distribution, by multiplying probabilities one bit after the other.
TEST(BallSize, SharesOfCodesAreBinomial) {
    for (int bits : {1, 64, 65, 100, 256, 1024}) {
        std::vector<double> differing(size_t(bits) + 1);
        differing[0] = 1;
        for (int bit = 0; bit < bits; bit++)
            for (int i = bit + 1; i >= 0; i--)
                differing[size_t(i)] =
                    (differing[size_t(i)] + (i > 0 ? differing[size_t(i) - 1] : 0)) / 2;
        double share = 0;
        EXPECT_EQ(ball_share_of_code(bits, -1), 0);
        for (int radius = 0; radius <= bits; radius++) {
            share += differing[size_t(radius)];
            EXPECT_NEAR(ball_share_of_code(bits, radius), share, 1e-9 * share);
        }
        EXPECT_EQ(ball_share_of_code(bits, bits + 1), 1);
    }
    EXPECT_LT(ball_share_of_code(2'000'000'000, 1000), 1e-300);
}

TEST(BallSize, CountsTheWordsOfABall) {
    for (int bits = 0; bits <= 12; bits++)
        for (int radius = -2; radius <= 14; radius++) {
            double words = 0;
            for (uint64_t word = 0; word < uint64_t{1} << bits; word++)
                words += hamming_distance(word, 0) <= radius;
            ASSERT_EQ(ball_size(bits, radius), words) << bits << " " << radius;
            ASSERT_EQ(ball_share(bits, radius), words / double(1 << bits));
        }
}

TEST(BallSize, OfFingerprintsIsTheBinomialShare) {
    EXPECT_EQ(ball_size(64, 3), 1 + 64 + 2016 + 41664);
    EXPECT_EQ(ball_share(-1), 0);
    EXPECT_EQ(ball_share(64), 1);
    EXPECT_EQ(ball_share(1000), 1);
    EXPECT_NEAR(ball_share(31) + ball_share(32), 1, 1e-12);
}

TEST(HighestOnes, AreThoseThatStandFirst) {
    EXPECT_EQ(highest_ones(0b10110100, 0), 0u);
    EXPECT_EQ(highest_ones(0b10110100, 1), 0b10000000u);
    EXPECT_EQ(highest_ones(0b10110100, 3), 0b10110000u);
    EXPECT_EQ(highest_ones(0b10110100, 4), 0b10110100u);
    EXPECT_EQ(highest_ones(0b10110100, 64), 0b10110100u);
    EXPECT_EQ(highest_ones(0, 5), 0u);
    EXPECT_EQ(highest_ones(5, -1), 0u);
    EXPECT_EQ(highest_ones(~uint64_t{0}, 64), ~uint64_t{0});
}

TEST(Slices, AreTheKeysOfTheRangeThatDifferInAtMostOneOfTheNextBits) {
    constexpr int kBits = 12; // of short keys, in the leading bits
    auto key_of = [](uint64_t word) { return word << (kFingerprintBits - kBits); };
    for (uint64_t target : {0x000, 0xfff, 0x5a3, 0x7ff})
        for (int prefix_bits : {0, 1, 4})
            for (int bits : {1, 2, 8}) {
                Slices slices = {key_of(target), uint8_t(prefix_bits), uint8_t(bits)};
                uint64_t first = target >> (kBits - prefix_bits) << (kBits - prefix_bits);
                uint64_t end = first + (uint64_t{1} << (kBits - prefix_bits)), next = 0;
                bool any = false;
                for (uint64_t word = end; word-- > first;) {
                    uint64_t cut = (word ^ target) >> (kBits - prefix_bits - bits);
                    bool contained = std::popcount(cut) <= 1;
                    ASSERT_EQ(slices.contain(key_of(word)), contained);
                    int times = 0;
                    for (int i = 0; i < slices.count(); i++)
                        times += slices.first(i) <= key_of(word) && key_of(word) <= slices.last(i);
                    ASSERT_EQ(times, contained);
                    any |= contained;
                    next = contained ? key_of(word) : next;
                    uint64_t key = key_of(word);
                    ASSERT_EQ(slices.advance(&key), any);
                    ASSERT_EQ(key, any ? next : key_of(word));
                }
            }
}

TEST(Entry, IsComparedAsAPair) {
    Entry entries[] = {{0, 0}, {0, 1}, {0, UINT64_MAX}, {1, 0}, {UINT64_MAX, 0}, {UINT64_MAX, 1}};
    for (const Entry& a : entries)
        for (const Entry& b : entries) {
            EXPECT_EQ(a < b, &a < &b);
            EXPECT_EQ(comes_before(a, b), &a < &b);
            EXPECT_EQ(a <= b, &a <= &b);
            EXPECT_EQ(a > b, &a > &b);
            EXPECT_EQ(a >= b, &a >= &b);
            EXPECT_EQ(a == b, &a == &b);
        }
    EXPECT_EQ(Entry(7), (Entry{7, 0}));
}

TEST(BucketSort, SortsTheKeysOfValues) {
    Random random(9);
    auto key_of = [](uint64_t value) { return value * 0x9e3779b97f4a7c15; };
    for (size_t size : {0, 1, 2, 3, 100, 4095, 4096, 4097, 20000})
        for (uint64_t varying : {~uint64_t{0}, uint64_t{0xff}, uint64_t{0}}) {
            std::vector<uint64_t> values(size), expected(size), sorted(size);
            for (size_t i = 0; i < size; i++) {
                values[i] = random.next() & varying;
                expected[i] = key_of(values[i]);
            }
            std::sort(expected.begin(), expected.end());
            int pauses = 0;
            bucket_sort(values, sorted.data(), key_of, [&] { pauses++; });
            ASSERT_EQ(sorted, expected);
            ASSERT_GT(pauses, 0);
        }
}

TEST(SteppingSearch, FindsTheLastFromAnyGuess) {
    for (int low : {0, 5})
        for (int size = 1; size <= 40; size++)
            for (int last = low; last < low + size; last++)
                for (int guess = -3; guess <= low + size + 3; guess++)
                    for (int step : {1, 2, 8}) {
                        int asked = 0;
                        auto holds = [&](int i) {
                            EXPECT_TRUE(low < i && i < low + size);
                            asked++;
                            return i <= last;
                        };
                        ASSERT_EQ(last_that_holds(low, low + size, guess, step, holds), last);
                        ASSERT_LE(asked, size);
                    }
}

} // namespace
