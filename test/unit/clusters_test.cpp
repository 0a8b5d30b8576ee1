// Near pairs and clusters equal brute force, on fingerprints of every kind.
#include "core/whole/clusters.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "core/bits/distance.hpp"
#include "core/whole/distinct.hpp"
#include "core/whole/match.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr Pause kNoPause = {[](void*) {}, nullptr};

using Pair = std::pair<uint32_t, uint32_t>;
using Fingerprints = std::vector<uint64_t>;

// What a search works in, scratch filled with rubbish.
struct Memory {
    explicit Memory(const Fingerprints& distinct)
        : fingerprints(distinct), fingerprint_scratch(distinct.size(), 77),
          positions(distinct.size(), 77), position_scratch(distinct.size(), 77) {}

    NearPairsMemory parts() {
        return {fingerprints.size(), fingerprints.data(), fingerprint_scratch.data(),
                positions.data(), position_scratch.data()};
    }

    Fingerprints fingerprints, fingerprint_scratch;
    std::vector<uint32_t> positions, position_scratch;
};

std::vector<Pair> near_pairs(const Fingerprints& distinct, int radius) {
    std::vector<Pair> pairs;
    auto add = [](void* pairs, uint32_t a, uint32_t b) {
        static_cast<std::vector<Pair>*>(pairs)->emplace_back(a, b);
    };
    Memory memory(distinct);
    find_near_pairs(memory.parts(), radius, {add, nullptr, &pairs}, kNoPause);
    EXPECT_TRUE(memory.fingerprints == distinct) << "the order is restored";
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

std::vector<uint32_t> clusters(const Fingerprints& distinct, int radius) {
    std::vector<uint32_t> labels(distinct.size(), 77);
    Memory memory(distinct);
    find_clusters(memory.parts(), radius, labels.data(), kNoPause);
    return labels;
}

void make_distinct(Fingerprints& fingerprints) {
    Fingerprints scratch(fingerprints.size());
    fingerprints.resize(sort_distinct(fingerprints, scratch, kNoPause));
}

// How many pairs there are at each distance, up to `greatest`.
std::vector<size_t> counts_by_brute_force(const Fingerprints& distinct, int greatest) {
    std::vector<size_t> counts(65);
    for (size_t a = 0; a < distinct.size(); ++a)
        for (size_t b = a + 1; b < distinct.size(); ++b)
            ++counts[hamming_distance(distinct[a], distinct[b])];
    counts.resize(greatest + 1);
    return counts;
}

// Pairs that are within the radius, none twice, and as many as there are: these must be all.
void expect_all_pairs(const Fingerprints& distinct, const std::vector<Pair>& pairs, int radius,
                      size_t expected_count) {
    ASSERT_EQ(pairs.size(), expected_count) << "radius " << radius;
    for (size_t i = 0; i < pairs.size(); ++i) {
        ASSERT_LT(pairs[i].first, pairs[i].second);
        ASSERT_LE(hamming_distance(distinct[pairs[i].first], distinct[pairs[i].second]), radius);
        ASSERT_TRUE(i == 0 || pairs[i - 1] < pairs[i]);
    }
}

// The least member of every component: a walk along the pairs from each one not yet reached, in
// order.
std::vector<uint32_t> clusters_of(const std::vector<Pair>& pairs, size_t count) {
    std::vector<std::vector<uint32_t>> neighbours(count);
    for (auto [a, b] : pairs) {
        neighbours[a].push_back(b);
        neighbours[b].push_back(a);
    }
    std::vector<uint32_t> labels(count, UINT32_MAX), waiting;
    for (uint32_t least = 0; least < count; ++least) {
        if (labels[least] == UINT32_MAX)
            waiting.push_back(least);
        while (!waiting.empty()) {
            uint32_t reached = waiting.back();
            waiting.pop_back();
            if (labels[reached] != UINT32_MAX)
                continue;
            labels[reached] = least;
            for (uint32_t next : neighbours[reached])
                if (labels[next] == UINT32_MAX)
                    waiting.push_back(next);
        }
    }
    return labels;
}

void expect_equal_to_brute_force(Fingerprints fingerprints, int greatest_radius) {
    make_distinct(fingerprints);
    std::vector<size_t> counts = counts_by_brute_force(fingerprints, greatest_radius);
    size_t expected_count = 0;
    for (int radius = 0; radius <= greatest_radius; ++radius) {
        expected_count += counts[radius];
        std::vector<Pair> pairs = near_pairs(fingerprints, radius);
        expect_all_pairs(fingerprints, pairs, radius, expected_count);
        ASSERT_EQ(clusters(fingerprints, radius), clusters_of(pairs, fingerprints.size()))
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
    for (size_t i = 0; i < kMany; ++i) {
        uint64_t shared = i % 3 == 0 ? 0 : 0xabcdef0123000000;
        fingerprints.push_back(shared | (random.next() & 0xffffffff));
    }
    expect_equal_to_brute_force(fingerprints, 8);
}

TEST(NearPairs, EqualBruteForceWhereFewScatteredBitsVary) {
    Random random(3);
    Fingerprints fingerprints;
    for (size_t i = 0; i < kMany; ++i)
        fingerprints.push_back(random.next() & 0x1101010110110101); // 18 bits
    expect_equal_to_brute_force(fingerprints, 4);
}

TEST(NearPairs, EqualBruteForceOnUnevenBits) {
    Random random(4);
    Fingerprints fingerprints;
    for (size_t i = 0; i < kMany; ++i) // each bit is set in a quarter
        fingerprints.push_back(random.next() & random.next());
    expect_equal_to_brute_force(fingerprints, 8);
}

TEST(NearPairs, EqualBruteForceForEveryRadius) {
    Random random(5);
    Fingerprints fingerprints;
    for (size_t i = 0; i < 300; ++i)
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
    EXPECT_EQ(clusters({5}, 64), std::vector<uint32_t>{0});
}

// As many as make a search of several levels, planted among random ones.
TEST(NearPairs, FindPlantedPairsAmongAMillion) {
    Random random(6);
    Fingerprints fingerprints;
    std::vector<std::pair<uint64_t, uint64_t>> planted;
    for (int i = 0; i < 1000000; ++i)
        fingerprints.push_back(random.next());
    for (int i = 0; i < 3000; ++i) {
        uint64_t a = fingerprints[random.below(1000000)], b = a ^ random.with_ones(1 + i % 3);
        planted.emplace_back(std::min(a, b), std::max(a, b));
        fingerprints.push_back(b);
    }
    make_distinct(fingerprints);
    std::vector<std::pair<uint64_t, uint64_t>> found;
    for (auto [a, b] : near_pairs(fingerprints, 3))
        found.emplace_back(fingerprints[a], fingerprints[b]);
    std::sort(planted.begin(), planted.end());
    planted.erase(std::unique(planted.begin(), planted.end()), planted.end());
    EXPECT_TRUE(std::includes(found.begin(), found.end(), planted.begin(), planted.end()));
    for (auto [a, b] : found)
        ASSERT_LE(hamming_distance(a, b), 3);
    EXPECT_TRUE(std::adjacent_find(found.begin(), found.end()) == found.end());
}

TEST(NearPairs, PausesWhileItWorks) {
    Random random(7);
    Fingerprints fingerprints;
    for (int i = 0; i < 300000; ++i)
        fingerprints.push_back(random.next());
    make_distinct(fingerprints);
    int pauses = 0;
    Pause count = {[](void* pauses) { ++*static_cast<int*>(pauses); }, &pauses};
    Memory memory(fingerprints);
    NearPairsReceiver nobody = {[](void*, uint32_t, uint32_t) {}, nullptr, nullptr};
    find_near_pairs(memory.parts(), 3, nobody, count);
    EXPECT_GE(pauses, 3);
}

TEST(SortDistinct, DropsRepeatedOnes) {
    Random random(8);
    for (size_t size : {0, 1, 2, 511, 512, 513, 3000}) {
        Fingerprints fingerprints;
        for (size_t i = 0; i < size; ++i)
            fingerprints.push_back(random.below(1000) << 32);
        Fingerprints expected = fingerprints;
        std::sort(expected.begin(), expected.end());
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        make_distinct(fingerprints);
        EXPECT_EQ(fingerprints, expected);
    }
}

TEST(ClusterNames, AreTheLeastFingerprintsOfTheClusters) {
    Random random(9);
    for (uint64_t varying : {~uint64_t{0}, uint64_t{0xffff}, uint64_t{0xff} << 56, uint64_t{0}})
        for (size_t size : {1, 2, 3, 1000, 5000}) {
            Fingerprints fingerprints;
            for (size_t i = 0; i < size; ++i)
                fingerprints.push_back(random.next() & varying);
            make_distinct(fingerprints);
            std::vector<uint32_t> labels = clusters(fingerprints, 2);
            std::vector<ClusterNames::Entry> entries(
                ClusterNames::entries_for(fingerprints.size()));
            ClusterNames names(fingerprints, labels.data(), entries.data(), kNoPause);
            uint64_t name;
            for (size_t i = 0; i < fingerprints.size(); ++i) {
                ASSERT_TRUE(names.find(fingerprints[i], &name));
                ASSERT_EQ(name, fingerprints[labels[i]]);
            }
            Fingerprints replaced = fingerprints;
            names.replace_by_names(replaced, kNoPause);
            for (size_t i = 0; i < fingerprints.size(); ++i)
                ASSERT_EQ(replaced[i], fingerprints[labels[i]]);
            for (uint64_t other : {uint64_t{0}, uint64_t{1}, ~uint64_t{0}, uint64_t{1} << 63})
                ASSERT_EQ(names.find(other, &name),
                          std::binary_search(fingerprints.begin(), fingerprints.end(), other));
        }
}

TEST(Matcher, EveryKernelFindsTheSame) {
    Random random(10);
    Fingerprints fingerprints;
    for (size_t i = 0; i < 1000; ++i)
        fingerprints.push_back(random.with_ones(int(random.below(65))));
    std::vector<uint16_t> matches(kMaxMatchCount);
    for (int radius : {0, 1, 3, 31, 32, 63, 64})
        for (size_t size : {0, 1, 3, 4, 7, 8, 9, 100, 1000})
            for (size_t offset : {0, 1}) {
                size_t length = std::min(size, fingerprints.size() - offset);
                uint64_t query = fingerprints[random.below(1000)];
                std::vector<uint16_t> expected;
                for (size_t i = 0; i < length; ++i)
                    if (hamming_distance(query, fingerprints[offset + i]) <= radius)
                        expected.push_back(uint16_t(i));
                for (int level = 0; level < kSimdLevels; ++level) {
                    Matcher match = best_matcher(SimdLevel(level));
                    size_t found =
                        match(query, fingerprints.data() + offset, length, radius, matches.data());
                    ASSERT_EQ(std::vector<uint16_t>(matches.begin(), matches.begin() + found),
                              expected)
                        << "level " << level;
                }
            }
}

} // namespace
