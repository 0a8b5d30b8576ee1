// The vote and the document's fingerprint.
#include "text_fixture.hpp"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace simhash::test {

TEST(Votes, ABitIsOneWhereTheSumIsAboveZero) {
    Votes votes;
    uint64_t fingerprint;
    EXPECT_FALSE(votes.fingerprint(&fingerprint));
    votes.add(0b1010, 2);
    votes.add(0b1100, 1);
    EXPECT_TRUE(votes.fingerprint(&fingerprint));
    EXPECT_EQ(fingerprint, 0b1010u);
    votes.add(0b0101, 1); // bit 3: 2+1-1, bit 2: -2+1+1 = 0, bit 1: 2-1-1 = 0
    EXPECT_TRUE(votes.fingerprint(&fingerprint));
    EXPECT_EQ(fingerprint, 0b1000u);
}

TEST(Votes, NegativeWeightsVoteAgainst) {
    Votes votes;
    uint64_t fingerprint;
    votes.add(0xFF, -1);
    EXPECT_TRUE(votes.fingerprint(&fingerprint));
    EXPECT_EQ(fingerprint, ~uint64_t{0xFF});
}

TEST(Votes, WeightsOfZeroAreNoFeatures) {
    Votes votes;
    uint64_t fingerprint;
    votes.add(0xFF, 0);
    EXPECT_FALSE(votes.fingerprint(&fingerprint));
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
    uint64_t fingerprint;
    EXPECT_TRUE(votes.fingerprint(&fingerprint));
    EXPECT_EQ(fingerprint, 1u);
}

TEST(Votes, TheFastBlockAddsLikeTheSlowSums) {
    std::mt19937_64 random(3);
    for (const int bits : {1, 12, 24, 25, 40}) {
        Votes slow, fast;
        VoteBlock block(fast);
        for (int i = 0; i < 5000; i++) {
            const uint64_t hash = random(), weight = random() >> (64 - bits);
            slow.add(hash, weight);
            block.add(hash, weight);
        }
        block.flush();
        EXPECT_EQ(slow.any, fast.any);
        EXPECT_TRUE(slow.total == fast.total);
        for (int bit = 0; bit < 64; bit++)
            EXPECT_TRUE(slow.ones[bit] == fast.ones[bit]) << bit;
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
    const double one = 1 << kDocumentFraction;
    for (uint64_t f = 1; f < 1u << 31; f += 1 + f / 7) {
        EXPECT_EQ(feature_weight(Weighting::kTf, f, 3), f << kDocumentFraction);
        EXPECT_EQ(feature_weight(Weighting::kBinary, f, 3), one);
        EXPECT_NEAR(feature_weight(Weighting::kSqrt, f, 3) / one, std::sqrt(f), 1 / one);
        EXPECT_NEAR(feature_weight(Weighting::kLog, f, 3) / one, 1 + std::log(f), 2 / one);
        for (const uint32_t bytes : {1, 2, 5, 11, 12, 13, 255}) {
            const double exact =
                std::pow(std::log2(1.0 + f), 2.25) * std::sqrt(std::min(bytes, 12u));
            EXPECT_NEAR(feature_weight(Weighting::kBalanced, f, bytes) / one, exact,
                        exact * 1e-3 + 1 / one);
        }
    }
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
            Votes votes;
            for (size_t i = 0, j = 0; i < words.size(); i = j) {
                while (j < words.size() && words[j] == words[i])
                    j++;
                votes.add(hash_feature(hash, reinterpret_cast<const uint8_t*>(words[i].data()),
                                       words[i].size()),
                          feature_weight(weighting, j - i, words[i].size()));
            }
            uint64_t expected;
            ASSERT_TRUE(votes.fingerprint(&expected));
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
    uint64_t expected;
    ASSERT_TRUE(votes.fingerprint(&expected));
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
