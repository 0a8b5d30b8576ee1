// Probe plans find everything within the radius, each fingerprint once, and cost what they should.
#include "core/layout/probe_plan.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <set>
#include <vector>

#include "core/bits/fingerprint.hpp"
#include "core/layout/layout.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr int kWidth = 12; // bits of the short lanes of the proofs by brute force
constexpr uint64_t kWords = uint64_t{1} << kWidth;

uint64_t short_lane(uint64_t lane) { return lane << (64 - kWidth); }

bool sees(const Probe& probe, uint64_t difference) {
    return std::popcount(difference & probe.mask) <= probe.threshold &&
           std::popcount(difference & probe.slice_mask) <= 1;
}

// How many probes report a difference by the first-table rule.
int times_reported(const ProbePlan& plan, uint64_t difference) {
    int times = 0;
    for (int i = 0; i < plan.probe_count; i++)
        times += sees(plan.probes[i], difference) && !reported_earlier(plan, i, difference);
    return times;
}

// Every short lane within the plan's radius is.
void expect_each_reported_once(const ProbePlan& plan) {
    for (uint64_t lane = 0; lane < kWords; lane++) {
        bool within = std::popcount(lane) <= plan.radius;
        ASSERT_TRUE(!within || times_reported(plan, short_lane(lane)) == 1)
            << "query radius " << plan.radius << " lane " << lane;
    }
}

// Sizes and prices that make plans of all kinds the cheapest.
struct Situation {
    double entries;
    ProbeCosts costs;
};
constexpr Situation kSituations[] = {
    {1e7, {1, 0.003, 1e9}},                             // never read everything
    {1e3, {1, 0.1, 1e9}},                               // short prefixes
    {1e5, {1e-6, 1, 1e9}},                              // many visits
    {1e6, kTypicalProbeCosts}, {1e12, {1, 0.003, 1e9}}, // slices
};

TEST(ProbePlan, IsCompleteAndReportsOnceOnShortLanes) {
    int probing = 0;
    for (int radius = 0; radius <= 8; radius++)
        for (int tables = 1; tables <= radius + 1; tables++) {
            Layout layout = make_layout(radius, tables, kWidth);
            for (int query_radius = 0; query_radius <= kWidth; query_radius++)
                for (const Situation& situation : kSituations) {
                    ProbePlan plan =
                        make_probe_plan(layout, query_radius, situation.entries, situation.costs);
                    if (plan.read_all)
                        continue;
                    probing++;
                    expect_each_reported_once(plan);
                }
        }
    EXPECT_GT(probing, 1000);
}

// What a probe really compares is the leading bits of the permuted key: the effective mask must be
// those.
void expect_masks_behind_prefixes(const Layout& layout, const ProbePlan& plan) {
    for (int i = 0; i < plan.probe_count; i++) {
        const Probe& probe = plan.probes[i];
        ASSERT_GE(probe.prefix_bits, 1);
        ASSERT_LE(probe.prefix_bits, 64);
        ASSERT_EQ(std::popcount(probe.mask), probe.prefix_bits);
        ASSERT_LT(probe.threshold, probe.prefix_bits);
        uint64_t top = ~uint64_t{0} << (64 - probe.prefix_bits);
        Permutation permutation = layout.permutation(probe.table);
        ASSERT_EQ(permutation.invert(top), probe.mask);
        ASSERT_EQ(permutation.invert(leading_mask(probe.prefix_bits + probe.slice_bits)),
                  probe.mask | probe.slice_mask);
        ASSERT_EQ(std::popcount(probe.slice_mask), probe.slice_bits);
        ASSERT_TRUE(probe.slice_bits == 0 || probe.threshold == 0);
        ASSERT_LT(i > 0 ? plan.probes[i - 1].table : -1, probe.table);
    }
}

TEST(ProbePlan, FindsRandomPairsAtEveryDistanceUpToTheRadius) {
    Random random(11);
    for (int tables : {1, 2, 3, 4, 10, 16, 20}) {
        Layout layout = make_layout(tables - 1, tables);
        for (int radius = 0; radius <= 12; radius++)
            for (const Situation& situation : kSituations) {
                ProbePlan plan =
                    make_probe_plan(layout, radius, situation.entries, situation.costs);
                expect_masks_behind_prefixes(layout, plan);
                if (plan.read_all)
                    continue;
                for (int distance = 0; distance <= radius; distance++)
                    for (int i = 0; i < 50; i++)
                        ASSERT_EQ(times_reported(plan, random.with_ones(distance)), 1)
                            << "tables " << tables << " radius " << radius;
            }
    }
}

TEST(ProbePlan, TheIndexRadiusProbesEachTableOnce) {
    Layout layout = make_layout(3, 4);
    ProbePlan plan = make_probe_plan(layout, 3, 1e7, kTypicalProbeCosts);
    ASSERT_EQ(plan.probe_count, 4);
    for (int i = 0; i < 4; i++) {
        EXPECT_EQ(plan.probes[i].table, i);
        EXPECT_EQ(plan.probes[i].threshold, 0);
        EXPECT_EQ(plan.probes[i].prefix_bits, 16);
    }
    EXPECT_DOUBLE_EQ(plan.visits, 4);
    EXPECT_DOUBLE_EQ(plan.candidates, 4 * 1e7 / 65536);
}

// Calls with each difference of so many bits.
template <typename Visit>
void each_difference(int bits, Visit visit) {
    PrefixNeighbours differences(0, kFingerprintBits, bits);
    for (uint64_t difference; differences.next(&difference);)
        if (std::popcount(difference) == bits)
            visit(difference);
}

TEST(ProbePlan, LargeRangesAreCutIntoSlicesThatMissNothing) {
    for (int tables : {4, 6, 8})
        for (double entries : {1e8, 1e12})
            for (int radius = 1; radius <= (tables == 4 ? 4 : 3); radius++) {
                Layout layout = make_layout(std::min(tables - 1, 5), tables);
                ProbePlan plan = make_probe_plan(layout, radius, entries, kTypicalProbeCosts);
                expect_masks_behind_prefixes(layout, plan);
                for (int bits = 0; bits <= radius; bits++)
                    each_difference(bits, [&](uint64_t difference) {
                        ASSERT_EQ(times_reported(plan, difference), 1) << std::hex << difference;
                    });
            }
    Layout layout = make_layout(3, 4);
    ProbePlan plan = make_probe_plan(layout, 3, 1e9, kTypicalProbeCosts);
    ASSERT_EQ(plan.probe_count, 4);
    for (int i = 0; i < 4; i++)
        EXPECT_GE(plan.probes[i].slice_bits, 6);
    EXPECT_LT(plan.candidates, 4 * 1e9 / 65536 / 10);
}

TEST(ProbePlan, OfFewProbesEachLooksAtTheBitsUpToTheNext) {
    for (double entries : {1e7, 1e9}) {
        ProbePlan plan = make_probe_plan(make_layout(3, 4), 1, entries, kTypicalProbeCosts);
        ASSERT_EQ(plan.probe_count, 2);
        EXPECT_EQ(plan.probes[0].prefix_bits, 32);
        EXPECT_EQ(plan.probes[1].prefix_bits, 32);
        EXPECT_EQ(plan.probes[1].table, 2);
        EXPECT_LT(plan.candidates, 1);
    }
}

TEST(ProbePlan, SmallerRadiiProbeFewerTables) {
    Layout layout = make_layout(3, 4);
    EXPECT_EQ(make_probe_plan(layout, 1, 1e7, kTypicalProbeCosts).probe_count, 2);
    EXPECT_EQ(make_probe_plan(layout, 2, 1e7, kTypicalProbeCosts).probe_count, 3);
    ProbePlan equal = make_probe_plan(layout, 0, 1e7, kTypicalProbeCosts);
    ASSERT_EQ(equal.probe_count, 1);
    EXPECT_EQ(equal.probes[0].table, 0);
    EXPECT_EQ(equal.probes[0].prefix_bits, 64);
    EXPECT_EQ(equal.visits, 1);
}

TEST(ProbePlan, WiderRadiiEnumerateNeighboursUntilReadingEverythingIsCheaper) {
    Layout layout = make_layout(3, 4);
    double before = 0;
    for (int radius = 0; radius <= 64; radius++) {
        ProbePlan plan = make_probe_plan(layout, radius, 1e7, kTypicalProbeCosts);
        EXPECT_GE(plan.cost, before);
        before = plan.cost;
        EXPECT_TRUE(plan.read_all || radius < 40) << radius;
        EXPECT_TRUE(!plan.read_all || radius > 6) << radius;
    }
}

TEST(ProbePlan, RadiiBeyondTheLaneNeedNoProbes) {
    Layout layout = make_layout(3, 4);
    for (int radius : {-1, -1000, INT32_MIN}) {
        ProbePlan plan = make_probe_plan(layout, radius, 1e6, kTypicalProbeCosts);
        EXPECT_FALSE(plan.read_all);
        EXPECT_EQ(plan.probe_count, 0);
    }
    for (int radius : {64, 65, INT32_MAX})
        EXPECT_TRUE(make_probe_plan(layout, radius, 1e6, kTypicalProbeCosts).read_all);
}

TEST(ProbePlan, EveryLayoutAndRadiusGivesAPlan) {
    for (int radius = 0; radius <= kMaxLayoutRadius; radius += 7)
        for (int tables = 1; tables <= kMaxTables; tables += 9) {
            Layout layout = make_layout(radius, tables);
            for (int query_radius = 0; query_radius < 64; query_radius += 5)
                expect_masks_behind_prefixes(
                    layout, make_probe_plan(layout, query_radius, 1e6, {1, 0.003, 1e9}));
        }
}

TEST(PrefixNeighbours, AreAllWithinTheThresholdOnceInOrderOfDistance) {
    for (int bits = 0; bits <= 10; bits++)
        for (int threshold = 0; threshold <= bits + 1; threshold++) {
            uint64_t prefix = 0x2a5 & ((uint64_t{1} << bits) - 1);
            PrefixNeighbours neighbours(prefix, bits, threshold);
            std::set<uint64_t> seen;
            int distance = 0;
            for (uint64_t value; neighbours.next(&value);) {
                ASSERT_LT(value, uint64_t{1} << bits);
                ASSERT_TRUE(seen.insert(value).second);
                ASSERT_GE(hamming_distance(value, prefix), distance);
                distance = hamming_distance(value, prefix);
            }
            size_t expected = 0;
            for (uint64_t value = 0; value < uint64_t{1} << bits; value++)
                expected += hamming_distance(value, prefix) <= threshold;
            EXPECT_EQ(seen.size(), expected);
        }
}

TEST(PrefixNeighbours, BeyondThoseLeftOutAreTheRest) {
    auto list = [](int bits, int threshold, int left_out) {
        std::vector<uint64_t> all;
        PrefixNeighbours neighbours(1, bits, threshold);
        neighbours.leave_out(left_out);
        for (uint64_t value; neighbours.next(&value);)
            all.push_back(value);
        return all;
    };
    for (int bits : {1, 5, 10, 64})
        for (int threshold = 0; threshold <= std::min(bits, 3); threshold++)
            for (int left_out = -1; left_out <= std::min(bits, threshold + 1); left_out++) {
                std::vector<uint64_t> all = list(bits, std::min(left_out, threshold), -1),
                                      rest = list(bits, threshold, left_out);
                all.insert(all.end(), rest.begin(), rest.end());
                EXPECT_EQ(all, list(bits, threshold, -1));
            }
}

TEST(PrefixNeighbours, OfWholeFingerprintsAreTheBall) {
    for (int threshold : {0, 1, 2, 3}) {
        PrefixNeighbours neighbours(~uint64_t{0}, 64, threshold);
        size_t count = 0;
        for (uint64_t value; neighbours.next(&value); count++)
            ASSERT_LE(hamming_distance(value, ~uint64_t{0}), threshold);
        size_t expected[] = {1, 65, 65 + 2016, 65 + 2016 + 41664};
        EXPECT_EQ(count, expected[threshold]);
    }
}

} // namespace
