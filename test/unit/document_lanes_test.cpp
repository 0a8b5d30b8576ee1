// The lanes of documents: what they are, and how many near-duplicates they find.
#include "core/text/document_lanes.hpp"

#include <cmath>
#include <gtest/gtest.h>

#include "random.hpp"
#include "text_fixture.hpp"

namespace simhash::test {

namespace {

// The probability that of 64 bits, each of which is 1 with probability p, more than `most` are.
double more_than(int most, double p) {
    double sum = 0;
    for (int ones = most + 1; ones <= 64; ones++)
        sum += std::exp(std::lgamma(65) - std::lgamma(ones + 1) - std::lgamma(65 - ones)) *
               std::pow(p, ones) * std::pow(1 - p, 64 - ones);
    return sum;
}

TEST(DocumentLanes, FindNearlyAllPairsOfTheSimilarityThatIsAskedFor) {
    for (int thousandths = 500; thousandths <= 1000; thousandths++) {
        const double similarity = thousandths / 1000.0, differing = (1 - similarity) / 2;
        const int radius = near_radius(similarity);
        const double missed = std::pow(more_than(radius, differing), kLanesOfDocument);
        EXPECT_LE(missed, 0.0016) << similarity;
        // No radius is larger than the recall of a lane asks for.
        if (radius > 0) {
            EXPECT_GT(more_than(radius - 1, differing), 1 - kLaneRecall) << similarity;
        }
    }
    EXPECT_EQ(near_radius(kAlikeSimilarity), kAlikeRadius);
}

// Sets that share .8 of their features: the lanes miss them independently of each other.
TEST(DocumentLanes, MissAPairTogetherAsRarelyAsTheBinomialSays) {
    Random random(17);
    constexpr int kPairs = 20000, kShared = 80, kOfOne = 10;
    constexpr int kRadius = 9; // pairs beyond it are many enough to be counted
    int missed_by_first = 0, missed = 0;
    for (int i = 0; i < kPairs; i++) {
        DocumentMinima a, b;
        for (int feature = 0; feature < kShared + 2 * kOfOne; feature++) {
            const uint64_t hash = random.next();
            if (feature < kShared + kOfOne)
                a.add(hash);
            if (feature < kShared || feature >= kShared + kOfOne)
                b.add(hash);
        }
        const DocumentLanes of_a = a.words(), of_b = b.words();
        missed_by_first += hamming_distance(of_a[0], of_b[0]) > kRadius;
        missed += nearest_lane(of_a, of_b) > kRadius;
    }
    const auto expect_share = [](int count, double share) {
        const double error = 5 * std::sqrt(share * (1 - share) / kPairs);
        EXPECT_NEAR(count / double(kPairs), share, error);
    };
    const double by_one = more_than(kRadius, 0.1);
    expect_share(missed_by_first, by_one);
    expect_share(missed, by_one * by_one);
}

TEST(DocumentLanes, AreTheHalvesOfTheCode) {
    SlicedText text{"The boat house is closed from the first to the fifteenth of March.", 7};
    DocumentLanes lanes;
    ASSERT_TRUE(document_lanes(FeatureKind::kWords, 3, text.source(), &lanes));
    SlicedText again{"The boat house is closed from the first to the fifteenth of March.", 100};
    Minima minima;
    add_document(FeatureKind::kWords, 3, again.source(), minima);
    EXPECT_EQ(lanes[0], minima.words()[0]);
    EXPECT_NE(lanes[1], lanes[0]);
    SlicedText empty{"...", 100};
    EXPECT_FALSE(document_lanes(FeatureKind::kWords, 3, empty.source(), &lanes));
}

TEST(DocumentLanes, AreAsNearAsTheNearestPairOfThem) {
    EXPECT_EQ(nearest_lane({0, 0}, {7, 0xFF}), 3);
    EXPECT_EQ(nearest_lane({0, 0}, {0xFF, 7}), 3);
    // A lane is compared with its like.
    EXPECT_EQ(nearest_lane({0, 0xFFFF}, {0xFFFF, 0}), 16);
}

} // namespace

} // namespace simhash::test
