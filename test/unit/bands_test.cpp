// Bands of minima: what a plan misses, and that documents of one similarity meet as often as the formula says.
#include "core/text/bands.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <numeric>
#include <set>

#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

TEST(Bands, MissNoMoreThanOneInTenMillionPairsAtTheSimilarity) {
    for (int percent = 0; percent <= 100; percent++) {
        double similarity = percent / 100.0;
        BandPlan plan = band_plan(similarity);
        double missed = std::pow(1 - std::pow(similarity, plan.minima), plan.bands);
        EXPECT_LE(missed, 1e-7) << similarity;
        EXPECT_NEAR(plan.missed(similarity), missed, 1e-12) << similarity;
        EXPECT_LE(plan.minima * plan.bands, kMinimaOfDocument) << similarity;
        EXPECT_GE(plan.bands, 1) << similarity;
        // More similar pairs are missed less.
        for (double more = similarity; more <= 1; more += .05)
            EXPECT_LE(plan.missed(more), 1e-7) << similarity << " " << more;
    }
}

TEST(Bands, AreAsLongAndAsFewAsTheyMayBe) {
    for (double similarity : {.3, .5, .7, .8, .9, .95}) {
        BandPlan plan = band_plan(similarity);
        BandPlan longer = {plan.minima + 1, kMinimaOfDocument / (plan.minima + 1)};
        BandPlan fewer = {plan.minima, plan.bands - 1};
        EXPECT_GT(longer.missed(similarity), 1e-7) << similarity;
        EXPECT_GT(fewer.missed(similarity), 1e-7) << similarity;
    }
    EXPECT_EQ(band_plan(.8).minima, 4);
    EXPECT_EQ(band_plan(.5).minima, 2);
    EXPECT_EQ(band_plan(1).bands, 1);
}

TEST(Bands, OfNoMinimumBringAllTogether) {
    BandPlan plan = band_plan(0);
    EXPECT_EQ(plan.minima, 0);
    EXPECT_EQ(plan.bands, 1);
    DocumentMinima a, b;
    uint32_t key_of_a, key_of_b;
    a.add(1);
    b.add(2);
    plan.keys(a.mixed(), &key_of_a);
    plan.keys(b.mixed(), &key_of_b);
    EXPECT_EQ(key_of_a, key_of_b);
}

// A key depends on each minimum of its band and on no other.
TEST(Bands, HaveKeysOfTheirMinima) {
    BandPlan plan = band_plan(.8);
    Random random(1);
    DocumentMinima::Mixed minima;
    for (uint64_t& minimum : minima)
        minimum = random.next();
    uint32_t keys[kMinimaOfDocument], changed[kMinimaOfDocument];
    plan.keys(minima, keys);
    for (int i = 0; i < kMinimaOfDocument; i++) {
        minima[i]++;
        plan.keys(minima, changed);
        minima[i]--;
        for (int band = 0; band < plan.bands; band++)
            EXPECT_EQ(changed[band] != keys[band], band == i / plan.minima) << i << " " << band;
    }
}

TEST(Bands, HaveKeysThatDependOnTheOrderOfTheirMinima) {
    BandPlan plan = band_plan(.8);
    DocumentMinima minima, swapped;
    DocumentMinima::Values values;
    std::iota(values.begin(), values.end(), 7);
    minima.add(values);
    std::swap(values[0], values[1]);
    swapped.add(values);
    uint32_t keys[kMinimaOfDocument], changed[kMinimaOfDocument];
    plan.keys(minima.mixed(), keys);
    plan.keys(swapped.mixed(), changed);
    EXPECT_NE(changed[0], keys[0]);
    EXPECT_EQ(changed[1], keys[1]);
}

// Sets of 200 of which a share is common: how many of 2 000 pairs share no key, beside the formula.
TEST(Bands, MeetAsOftenAsTheFormulaSays) {
    for (double similarity : {.3, .45, .6}) {
        BandPlan plan = {4, 32};
        int missed = 0, pairs = 2000, shared = int(400 * similarity / (1 + similarity));
        for (int pair = 0; pair < pairs; pair++) {
            Random random(uint64_t(pair) * 1000 + uint64_t(similarity * 100));
            DocumentMinima a, b;
            for (int i = 0; i < shared; i++) {
                uint64_t hash = random.next();
                a.add(hash);
                b.add(hash);
            }
            for (int i = shared; i < 200; i++) {
                a.add(random.next());
                b.add(random.next());
            }
            uint32_t of_a[kMinimaOfDocument], of_b[kMinimaOfDocument];
            plan.keys(a.mixed(), of_a);
            plan.keys(b.mixed(), of_b);
            bool met = false;
            for (int band = 0; band < plan.bands; band++)
                met |= of_a[band] == of_b[band];
            missed += !met;
        }
        EXPECT_NEAR(double(missed) / pairs, plan.missed(similarity), .04) << similarity;
    }
}

} // namespace
