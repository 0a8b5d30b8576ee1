// Near pairs and clusters equal brute force, on fingerprints of every kind.
#include "core/pairs/near_pairs.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "core/bits/fingerprint.hpp"
#include "links.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr auto kNoPause = [] {};

using Pair = std::pair<uint64_t, uint64_t>;
using Fingerprints = std::vector<uint64_t>;

// Adds pairs as they are found.
auto adding_to(std::vector<Pair>* pairs) {
    return [pairs](uint64_t a, uint64_t b) {
        pairs->emplace_back(a, b);
        return true;
    };
}

// What a search works in: a copy, and scratch filled with rubbish.
struct Copy {
    explicit Copy(const Fingerprints& distinct)
        : fingerprints(distinct), scratch(distinct.size(), 77) {}

    FingerprintArray array() { return {fingerprints.data(), scratch.data(), fingerprints.size()}; }

    Fingerprints fingerprints, scratch;
};

std::vector<Pair> near_pairs(const Fingerprints& distinct, int radius) {
    std::vector<Pair> pairs;
    find_near_pairs(Copy(distinct).array(), radius, {adding_to(&pairs)}, kNoPause);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

std::vector<Pair> pairs_between(const Fingerprints& a, const Fingerprints& b, int radius) {
    std::vector<Pair> pairs;
    find_pairs_between(Copy(a).array(), Copy(b).array(), radius, {adding_to(&pairs)}, kNoPause);
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

// The names of the fingerprints' clusters.
Fingerprints clusters(const Fingerprints& distinct, int radius) {
    simhash::test::Links links;
    find_near_pairs(Copy(distinct).array(), radius, links.receiver(), kNoPause);
    return links.names(distinct);
}

void make_distinct(Fingerprints& fingerprints) {
    std::sort(fingerprints.begin(), fingerprints.end());
    fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
}

// How many pairs there are at each distance, up to `greatest`.
std::vector<size_t> counts_by_brute_force(const Fingerprints& distinct, int greatest) {
    std::vector<size_t> counts(65);
    for (size_t a = 0; a < distinct.size(); a++)
        for (size_t b = a + 1; b < distinct.size(); b++)
            counts[hamming_distance(distinct[a], distinct[b])]++;
    counts.resize(greatest + 1);
    return counts;
}

// Pairs that are within the radius, none twice, and as many as there are: these must be all.
void expect_all_pairs(const Fingerprints& distinct, const std::vector<Pair>& pairs, int radius,
                      size_t expected_count) {
    ASSERT_EQ(pairs.size(), expected_count) << "radius " << radius;
    for (size_t i = 0; i < pairs.size(); i++) {
        ASSERT_LT(pairs[i].first, pairs[i].second);
        ASSERT_TRUE(std::binary_search(distinct.begin(), distinct.end(), pairs[i].first));
        ASSERT_TRUE(std::binary_search(distinct.begin(), distinct.end(), pairs[i].second));
        ASSERT_LE(hamming_distance(pairs[i].first, pairs[i].second), radius);
        ASSERT_TRUE(i == 0 || pairs[i - 1] < pairs[i]);
    }
}

// The least member of every component: a walk along the pairs from each one not yet reached, in
// order.
Fingerprints clusters_of(const std::vector<Pair>& pairs, const Fingerprints& distinct) {
    auto place_of = [&](uint64_t fingerprint) {
        return std::lower_bound(distinct.begin(), distinct.end(), fingerprint) - distinct.begin();
    };
    std::vector<std::vector<size_t>> neighbours(distinct.size());
    for (auto [a, b] : pairs) {
        neighbours[place_of(a)].push_back(place_of(b));
        neighbours[place_of(b)].push_back(place_of(a));
    }
    std::vector<bool> reached(distinct.size());
    std::vector<size_t> waiting;
    Fingerprints names(distinct.size());
    for (size_t least = 0; least < distinct.size(); least++) {
        waiting.push_back(least);
        while (!waiting.empty()) {
            size_t place = waiting.back();
            waiting.pop_back();
            if (reached[place])
                continue;
            reached[place] = true;
            names[place] = distinct[least];
            for (size_t next : neighbours[place])
                if (!reached[next])
                    waiting.push_back(next);
        }
    }
    return names;
}

void expect_equal_to_brute_force(Fingerprints fingerprints, int greatest_radius) {
    make_distinct(fingerprints);
    std::vector<size_t> counts = counts_by_brute_force(fingerprints, greatest_radius);
    size_t expected_count = 0;
    for (int radius = 0; radius <= greatest_radius; radius++) {
        expected_count += counts[radius];
        std::vector<Pair> pairs = near_pairs(fingerprints, radius);
        expect_all_pairs(fingerprints, pairs, radius, expected_count);
        ASSERT_EQ(clusters(fingerprints, radius), clusters_of(pairs, fingerprints))
            << "radius " << radius;
    }
}

constexpr size_t kMany = 20000;

TEST(NearPairs, EqualBruteForceOnRandomAndClusteredFingerprints) {
    Random random(1);
    Fingerprints fingerprints = {0, ~uint64_t{0}, 1, uint64_t{1} << 63};
    while (fingerprints.size() < kMany) {
        uint64_t earlier = fingerprints[random.below(fingerprints.size())];
        bool near = random.below(10) < 3;
        fingerprints.push_back(near ? earlier ^ random.with_ones(int(random.below(9)))
                                    : random.next());
    }
    expect_equal_to_brute_force(fingerprints, 8);
}

TEST(NearPairs, EqualBruteForceWhereManyShareAPrefix) {
    Random random(2);
    Fingerprints fingerprints;
    for (size_t i = 0; i < kMany; i++) {
        uint64_t shared = i % 3 == 0 ? 0 : 0xabcdef0123000000;
        fingerprints.push_back(shared | (random.next() & 0xffffffff));
    }
    expect_equal_to_brute_force(fingerprints, 8);
}

TEST(NearPairs, EqualBruteForceWhereFewScatteredBitsVary) {
    Random random(3);
    Fingerprints fingerprints;
    for (size_t i = 0; i < kMany; i++)
        fingerprints.push_back(random.next() & 0x1101010110110101); // 18 bits
    expect_equal_to_brute_force(fingerprints, 4);
}

TEST(NearPairs, EqualBruteForceOnUnevenBits) {
    Random random(4);
    Fingerprints fingerprints;
    for (size_t i = 0; i < kMany; i++) // each bit is set in a quarter
        fingerprints.push_back(random.next() & random.next());
    expect_equal_to_brute_force(fingerprints, 8);
}

TEST(NearPairs, EqualBruteForceForEveryRadius) {
    Random random(5);
    Fingerprints fingerprints;
    for (size_t i = 0; i < 300; i++)
        fingerprints.push_back(random.next());
    expect_equal_to_brute_force(fingerprints, 64);
}

TEST(NearPairs, EqualBruteForceOnAllWordsOfAFewBits) {
    Fingerprints fingerprints(1 << 10);
    std::iota(fingerprints.begin(), fingerprints.end(), uint64_t{0});
    expect_equal_to_brute_force(fingerprints, 11);
}

TEST(NearPairs, NothingAndOneHaveNone) {
    EXPECT_TRUE(near_pairs({}, 3).empty());
    EXPECT_TRUE(clusters({}, 3).empty());
    EXPECT_TRUE(near_pairs({5}, 64).empty());
    EXPECT_EQ(clusters({5}, 64), Fingerprints{5});
}

// Planted among a million random ones, as many as make a search of several levels.
void expect_planted_pairs(uint64_t seed, int radius) {
    constexpr size_t kRandomOnes = 1000000;
    Random random(seed);
    Fingerprints fingerprints;
    std::vector<Pair> planted;
    for (size_t i = 0; i < kRandomOnes; i++)
        fingerprints.push_back(random.next());
    for (int i = 0; i < 3000; i++) {
        uint64_t a = fingerprints[random.below(kRandomOnes)];
        uint64_t b = a ^ random.with_ones(1 + i % radius);
        planted.emplace_back(std::min(a, b), std::max(a, b));
        fingerprints.push_back(b);
    }
    make_distinct(fingerprints);
    std::vector<Pair> found = near_pairs(fingerprints, radius);
    std::sort(planted.begin(), planted.end());
    planted.erase(std::unique(planted.begin(), planted.end()), planted.end());
    EXPECT_TRUE(std::includes(found.begin(), found.end(), planted.begin(), planted.end()));
    for (auto [a, b] : found)
        ASSERT_LE(hamming_distance(a, b), radius);
    EXPECT_TRUE(std::adjacent_find(found.begin(), found.end()) == found.end());
}

TEST(NearPairs, FindPlantedPairsAmongAMillion) {
    expect_planted_pairs(6, 3);
    expect_planted_pairs(12, 8);
}

TEST(NearPairs, PausesWhileItWorks) {
    Random random(7);
    Fingerprints fingerprints;
    for (int i = 0; i < 300000; i++)
        fingerprints.push_back(random.next());
    make_distinct(fingerprints);
    int pauses = 0;
    auto count = [&pauses] { pauses++; };
    auto ignore = [](uint64_t, uint64_t) { return true; };
    find_near_pairs(Copy(fingerprints).array(), 3, {ignore}, count);
    EXPECT_GE(pauses, 3);
}

TEST(SortDistinct, DropsRepeatedOnes) {
    Random random(8);
    for (size_t size : {0, 1, 2, 511, 512, 513, 3000}) {
        Fingerprints fingerprints;
        for (size_t i = 0; i < size; i++)
            fingerprints.push_back(random.below(1000) << 32);
        Fingerprints expected = fingerprints;
        std::sort(expected.begin(), expected.end());
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        make_distinct(fingerprints);
        EXPECT_EQ(fingerprints, expected);
    }
}

TEST(PairsBetween, EqualBruteForce) {
    Random random(11);
    for (auto [a_size, b_size] : {std::pair{0, 100}, {1, 1}, {3, 5000}, {2000, 3000}, {5000, 3}}) {
        Fingerprints a = {0, 1}, b = {0, ~uint64_t{0}};
        for (int i = 0; i < a_size; i++)
            a.push_back(random.next() & random.next());
        for (int i = 0; i < b_size; i++) // some are in both sets, some near
            b.push_back(random.below(2)
                            ? random.next()
                            : a[random.below(a.size())] ^ random.with_ones(int(random.below(9))));
        make_distinct(a);
        make_distinct(b);
        for (int radius : {0, 1, 3, 8, 20, 64}) {
            std::vector<Pair> expected;
            for (uint64_t x : a)
                for (uint64_t y : b)
                    if (hamming_distance(x, y) <= radius)
                        expected.emplace_back(x, y);
            ASSERT_EQ(pairs_between(a, b, radius), expected) << "radius " << radius;
        }
    }
}

// Those begin with these where `within`, and follow them otherwise.
void expect_equal_matches(const Fingerprints& fingerprints, size_t rows, size_t columns,
                          bool within, int radius) {
    const uint64_t* these = fingerprints.data();
    const uint64_t* those = within ? these : these + rows;
    std::vector<Match> expected, matches(kMaxMatchRows * kMaxMatchColumns);
    for (size_t row = 0; row < rows; row++)
        for (size_t column = within ? row + 1 : 0; column < columns; column++)
            if (hamming_distance(these[row], those[column]) <= radius)
                expected.push_back({uint16_t(row), uint16_t(column)});
    for (int level = 0; level < kSimdLevels; level++) {
        size_t count = match(these, rows, those, columns, radius, matches.data(), SimdLevel(level));
        std::vector<Match> found(matches.begin(), matches.begin() + ptrdiff_t(count));
        std::sort(found.begin(), found.end());
        ASSERT_EQ(found, expected) << "level " << level << ", " << rows << " x " << columns;
    }
}

TEST(Matcher, EveryKernelFindsTheSame) {
    Random random(10);
    Fingerprints fingerprints;
    for (size_t i = 0; i < kMaxMatchRows + kMaxMatchColumns; i++)
        fingerprints.push_back(random.with_ones(int(random.below(65))));
    for (int radius : {0, 1, 3, 31, 32, 63, 64})
        for (size_t rows = 1; rows <= kMaxMatchRows; rows++)
            for (size_t columns : {size_t{0}, size_t{1}, size_t{3}, size_t{4}, size_t{7}, size_t{8},
                                   size_t{9}, size_t{17}, size_t{100}, kMaxMatchColumns}) {
                expect_equal_matches(fingerprints, rows, columns, false, radius);
                if (columns >= rows)
                    expect_equal_matches(fingerprints, rows, columns, true, radius);
            }
}

} // namespace
