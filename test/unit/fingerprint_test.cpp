// The vote and the document's fingerprint.
#include "text_fixture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace simhash::test {

TEST(Votes, ABitIsOneWhereTheSumIsAboveZero) {
    Votes votes;
    EXPECT_EQ(votes.fingerprint(), std::nullopt);
    votes.add(0b1010, 2);
    votes.add(0b1100, 1);
    EXPECT_EQ(votes.fingerprint(), 0b1010u);
    votes.add(0b0101, 1); // bit 3: 2+1-1, bit 2: -2+1+1 = 0, bit 1: 2-1-1 = 0
    EXPECT_EQ(votes.fingerprint(), 0b1000u);
}

TEST(Votes, NegativeWeightsVoteAgainst) {
    Votes votes;
    votes.add(0xFF, -1);
    EXPECT_EQ(votes.fingerprint(), ~uint64_t{0xFF});
}

TEST(Votes, WeightsOfZeroAreNoFeatures) {
    Votes votes;
    votes.add(0xFF, 0);
    EXPECT_EQ(votes.fingerprint(), std::nullopt);
}

TEST(Votes, SumsBeyondTheCounterStayAtTheLimit) {
    Votes votes;
    __int128 greatest;
    ASSERT_TRUE(fixed_point_weight(kGreatestWeight, &greatest));
    votes.add(1, greatest);
    for (int i = 0; i < 100; i++) { // doubles
        const Votes copy = votes;
        votes.add(copy);
    }
    EXPECT_EQ(votes.fingerprint(), 1u);
}

TEST(Votes, SumsBeyondTheLimitAreNotPossible) {
    Votes votes;
    votes.add(UINT64_MAX, __int128(1) << 126); // stays at the limit
    EXPECT_TRUE(votes.are_possible());
    for (Votes::Sum* sum : {&votes.ones[0], &votes.ones[63], &votes.total})
        for (int step : {1, -1}) {
            const __int128 limit = *sum;
            *sum = step * (limit + 1);
            EXPECT_FALSE(votes.are_possible());
            *sum = step * limit;
            EXPECT_TRUE(votes.are_possible());
            *sum = limit;
        }
}

TEST(Votes, FeaturesTogetherAddUpLikeOneByOneOnEveryProcessor) {
    std::mt19937_64 random(3);
    for (const int bits : {1, 12, 24, 32}) { // of 32 only a few fit the fast sums
        Votes singly;
        std::vector<FeatureCount> features;
        for (int i = 0; i < 5000; i++) {
            features.push_back({random(), {uint32_t(random() >> (64 - bits))}, 1, 'a'});
            singly.add(features.back().hash, features.back().weight);
        }
        for (int level = 0; level < kSimdLevels; level++) {
            Votes together;
            together.add(features.data(), features.size(), SimdLevel(level));
            EXPECT_EQ(singly.any, together.any);
            EXPECT_TRUE(singly.total == together.total);
            for (int bit = 0; bit < 64; bit++)
                EXPECT_TRUE(singly.ones[bit] == together.ones[bit]) << bit << " at " << level;
        }
    }
}

TEST(Weights, AreFixedPointOrRefused) {
    __int128 fixed;
    const double unit = std::ldexp(1, -kWeightFraction);
    EXPECT_TRUE(fixed_point_weight(1.0, &fixed) && fixed == __int128(1) << kWeightFraction);
    EXPECT_TRUE(fixed_point_weight(-1.5, &fixed) &&
                fixed == -(__int128(3) << (kWeightFraction - 1)));
    EXPECT_TRUE(fixed_point_weight(unit / 2, &fixed) && fixed == 0);
    EXPECT_TRUE(fixed_point_weight(unit * 1.5, &fixed) && fixed == 2);
    EXPECT_TRUE(fixed_point_weight(kGreatestWeight, &fixed) && fixed == __int128(1) << 80);
    EXPECT_TRUE(fixed_point_weight(-0.0, &fixed) && fixed == 0);
    for (const double bad : {static_cast<double> NAN, static_cast<double> INFINITY,
                             -static_cast<double> INFINITY, 2 * kGreatestWeight, -1e300})
        EXPECT_FALSE(fixed_point_weight(bad, &fixed));
}

TEST(Weights, FollowTheirFormulas) {
    const double unit = 1 << kWeightBits;
    for (uint64_t f = 1; f < 1u << 31; f += 1 + f / 7) {
        const auto weight = [f](Weighting weighting, uint32_t bytes, char first) {
            return feature_weight(weighting, {0, {uint32_t(f)}, uint16_t(bytes), uint8_t(first)});
        };
        EXPECT_EQ(weight(Weighting::kTf, 3, 'a'), f);
        EXPECT_EQ(weight(Weighting::kBinary, 3, 'a'), 1u);
        EXPECT_NEAR(weight(Weighting::kSqrt, 3, 'a') / unit, std::sqrt(f), 1 / unit);
        EXPECT_NEAR(weight(Weighting::kLog, 3, 'a') / unit, 1 + std::log(f), 2 / unit);
        for (const uint32_t bytes : {1, 2, 5, 11, 12, 13, 255}) {
            const double exact =
                std::pow(std::log2(1.0 + f), 2.25) * std::sqrt(std::min(bytes, 12u));
            for (const char letter : {'a', '/', ':', '\xC3'})
                EXPECT_NEAR(weight(Weighting::kBalanced, bytes, letter) / unit, exact,
                            exact * 1e-4 + 1 / unit);
            for (const char digit : {'0', '9'})
                EXPECT_NEAR(weight(Weighting::kBalanced, bytes, digit) / unit, exact / 2,
                            exact * 1e-4 + 1 / unit);
        }
    }
}

// Some documents' frequencies: of `distinct` words, of which some come again and again.
std::vector<FeatureCount> some_features(std::mt19937& random, size_t distinct) {
    std::vector<FeatureCount> features;
    for (size_t i = 0; i < distinct; i++) {
        const uint32_t frequency = random() % 4 != 0 ? 1 : 1 + random() % (1u << random() % 20);
        features.push_back({random(), {frequency}, uint16_t(1 + random() % 14), uint8_t('0' + i)});
    }
    return features;
}

TEST(Weights, NoWordHasMoreThanAnEighthOfAll) {
    std::mt19937 random(5);
    for (int i = 0; i < 3000; i++) {
        std::vector<FeatureCount> features = some_features(random, 8 + random() % 100);
        std::vector<uint64_t> unbound;
        for (const FeatureCount& feature : features)
            unbound.push_back(feature_weight(Weighting::kBalanced, feature));
        weigh(Weighting::kBalanced, features.data(), features.size());
        uint64_t sum = 0, greatest = 0;
        for (const FeatureCount& feature : features) {
            sum += feature.weight;
            greatest = std::max<uint64_t>(greatest, feature.weight);
        }
        EXPECT_LE(8 * greatest, sum);
        // The greater ones are lowered to the same weight, all others stay as they are ...
        uint64_t with_one_more = 0;
        for (size_t j = 0; j < features.size(); j++) {
            EXPECT_EQ(features[j].weight, std::min(unbound[j], greatest));
            with_one_more += std::min(unbound[j], greatest + 1);
        }
        // ... and no more than they must.
        if (greatest < *std::max_element(unbound.begin(), unbound.end())) {
            EXPECT_GT(8 * (greatest + 1), with_one_more);
        }
    }
}

TEST(Weights, OfFewerThanEightWordsAreTheSame) {
    std::mt19937 random(6);
    for (size_t distinct = 0; distinct < 9; distinct++)
        for (int i = 0; i < 100; i++) {
            std::vector<FeatureCount> features = some_features(random, distinct);
            weigh(Weighting::kBalanced, features.data(), features.size());
            for (const FeatureCount& feature : features)
                EXPECT_TRUE(feature.weight > 0 && feature.weight == features[0].weight);
        }
}

TEST(Weights, OfOtherWeightingsAreNotBound) {
    FeatureCount features[] = {{1, {1000}, 3, 'a'}, {2, {1}, 3, 'b'}};
    weigh(Weighting::kTf, features, 2);
    EXPECT_EQ(features[0].weight, 1000u);
    EXPECT_EQ(features[1].weight, 1u);
}

TEST(Document, WithoutAFeatureHasNoFingerprint) {
    for (const char* document : {"", " ", "...", "\u3002\u2014", "\u200D\uFE0F", "\xFF\xFE"}) {
        bool found;
        fingerprint(document, {}, &found);
        EXPECT_FALSE(found) << document;
    }
}

TEST(Document, OrderOfWordsDoesNotMatterButFrequencyDoes) {
    DocumentOptions tf;
    tf.features = FeatureKind::kWords;
    tf.weighting = Weighting::kTf;
    EXPECT_EQ(fingerprint("a b c d e", tf), fingerprint("E, d; C b A", tf));
    EXPECT_NE(fingerprint("a b c d e", tf), fingerprint("a b b b c d e", tf));
    DocumentOptions binary;
    binary.features = FeatureKind::kWords;
    binary.weighting = Weighting::kBinary;
    EXPECT_EQ(fingerprint("a b c d e", binary), fingerprint("a b b b c d e", binary));
}

TEST(Document, SumsItsFeatures) {
    std::mt19937 random(4);
    std::string document;
    for (int i = 0; i < 30000; i++)
        document += "w" + std::to_string(random() % (1 + random() % 20000)) + " ";
    for (const Weighting weighting : {Weighting::kBalanced, Weighting::kTf, Weighting::kSqrt,
                                      Weighting::kLog, Weighting::kBinary})
        for (const HashKind hash : {HashKind::kXxh3, HashKind::kFnv1}) {
            Strings words = features(document);
            std::sort(words.begin(), words.end());
            std::vector<FeatureCount> counts;
            for (size_t i = 0, j = 0; i < words.size(); i = j) {
                while (j < words.size() && words[j] == words[i])
                    j++;
                const auto* text = reinterpret_cast<const uint8_t*>(words[i].data());
                const size_t bytes = words[i].size();
                counts.push_back(
                    {hash_feature(hash, text, bytes), {uint32_t(j - i)}, uint16_t(bytes), text[0]});
            }
            weigh(weighting, counts.data(), counts.size());
            Votes votes;
            for (const FeatureCount& feature : counts)
                votes.add(feature.hash, feature.weight);
            const uint64_t expected = votes.fingerprint().value();
            DocumentOptions options;
            options.features = FeatureKind::kWords;
            options.weighting = weighting;
            options.hash = hash;
            EXPECT_EQ(fingerprint(document, options), expected);
            EXPECT_EQ(fingerprint(document, options, nullptr, 100), expected);
        }
}

TEST(Document, MoreDistinctWordsThanASectionHoldsAreSummedInSections) {
    std::string document;
    for (uint32_t i = 0; i < 3 * FeatureCounts::kMaxDistinct; i++)
        document += std::to_string(i) + " ";
    DocumentOptions binary;
    binary.features = FeatureKind::kWords; // each word once: sections make no difference
    binary.weighting = Weighting::kBinary;
    Votes votes;
    for (uint32_t i = 0; i < 3 * FeatureCounts::kMaxDistinct; i++) {
        const std::string word = std::to_string(i);
        votes.add(hash_feature(HashKind::kXxh3, reinterpret_cast<const uint8_t*>(word.data()),
                               word.size()),
                  1);
    }
    const uint64_t expected = votes.fingerprint().value();
    EXPECT_EQ(fingerprint(document, binary), expected);
}

TEST(Default, DoesNotHeedCasePunctuationOrWhiteSpace) {
    const uint64_t plain = fingerprint("the quick brown fox jumps over the lazy dog");
    EXPECT_EQ(fingerprint("The QUICK, brown fox...\n jumps -- over the lazy dog!"), plain);
    for (size_t slice = 1; slice < 9; slice++)
        EXPECT_EQ(fingerprint("the quick brown fox jumps over the lazy dog", {}, nullptr, slice),
                  plain);
    EXPECT_NE(fingerprint("the quick brown fox jumps over the lazy cat"), plain);
}

TEST(Default, AWordSaidAgainAndAgainIsNotTheDocument) {
    EXPECT_NE(fingerprint("spam spam spam buy cheap pills now"), fingerprint("spam"));
    EXPECT_GE(std::popcount(fingerprint("very very very bad product") ^
                            fingerprint("very very very good product")),
              8);
}

TEST(Default, ShortTextsHaveFingerprintsOfTheirOwn) {
    std::vector<uint64_t> seen;
    for (const char* text :
         {"a", "b", "ab", "ba", "a b", "abc", "cba", "\u6771", "\u4EAC", "\U0001F44D", "1", "2"}) {
        bool found;
        seen.push_back(fingerprint(text, {}, &found));
        EXPECT_TRUE(found) << text;
    }
    std::sort(seen.begin(), seen.end());
    EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
}

TEST(Default, SetsEachBitInAboutHalfOfTheDocuments) {
    std::mt19937 random(6);
    int ones[64] = {};
    const int documents = 2000;
    for (int i = 0; i < documents; i++) {
        std::string document;
        for (int word = 0; word < 50; word++)
            document += "word" + std::to_string(random() % 10000) + " ";
        const uint64_t print = fingerprint(document);
        for (int bit = 0; bit < 64; bit++)
            ones[bit] += print >> bit & 1;
    }
    for (const int count : ones)
        EXPECT_NEAR(count, documents / 2, documents / 10);
}

TEST(Default, TellsTextsWithoutSpacesApart) {
    std::mt19937 random(7);
    std::vector<uint64_t> seen;
    for (int i = 0; i < 300; i++) {
        std::string document;
        for (int character = 0; character < 40; character++) {
            const uint32_t han = 0x4E00 + random() % 3000;
            for (const uint32_t byte :
                 {0xE0 | han >> 12, 0x80 | (han >> 6 & 63), 0x80 | (han & 63)})
                document += char(byte);
        }
        seen.push_back(fingerprint(document));
        for (int j = 0; j < i; j++)
            EXPECT_GT(std::popcount(seen[i] ^ seen[j]), 3);
    }
}

TEST(Hash, IsTheOneOfItsName) {
    const uint8_t* text = reinterpret_cast<const uint8_t*>("foobar");
    EXPECT_EQ(hash_feature(HashKind::kFnv1, text, 6), 0x340D8765A4DDA9C2u); // published test vector
    EXPECT_EQ(hash_feature(HashKind::kFnv1, text, 0), 0xCBF29CE484222325u);
    EXPECT_EQ(hash_feature(HashKind::kXxh3, text, 0), 0x2D06800538D394C2u); // the same
}

} // namespace simhash::test
