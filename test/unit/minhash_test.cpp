// One bit of each of 64 minima, or of more: the definition, its forms for processors, and what a distance says.
#include "core/text/minhash.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

#include "random.hpp"
#include "text_fixture.hpp"

namespace simhash::test {

namespace {

uint64_t minhash_of(const std::vector<uint64_t>& hashes) {
    Minima minima;
    for (const uint64_t hash : hashes)
        minima.add(hash);
    return minhash(minima).value();
}

std::vector<uint64_t> numbers(uint64_t first, size_t count) {
    std::vector<uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

uint64_t minhash_of(std::string_view document, FeatureKind kind = FeatureKind::kWords,
                    int width = 3, size_t slice = 1 << 20) {
    SlicedText text{document, slice};
    Minima minima;
    add_document(kind, width, text.source(), minima);
    return minhash(minima).value();
}

bool has_minhash(std::string_view document) {
    SlicedText text{document, 100};
    Minima minima;
    add_document(FeatureKind::kWords, 3, text.source(), minima);
    return minima.any();
}

// The code that minhash_code() returns.
template <size_t minima>
std::vector<uint64_t> words_of(const std::vector<uint64_t>& hashes) {
    MinimaOf<minima> of_hashes;
    for (const uint64_t hash : hashes)
        of_hashes.add(hash);
    const auto words = of_hashes.words();
    return {words.begin(), words.end()};
}

// The definition once more, as plainly as it can be said.
std::vector<uint64_t> defined_words(const std::vector<uint64_t>& hashes, size_t bits) {
    const auto mixed = [](uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    };
    Random random(0);
    std::vector<uint64_t> words(bits / 64);
    for (uint64_t i = 0; i < bits; i++) {
        const uint64_t constants = random.next();
        uint64_t minimum = UINT64_MAX;
        for (const uint64_t hash : hashes) {
            const uint64_t x = mixed(hash) % (uint64_t{1} << 32);
            const uint64_t a = (constants >> 32) | 1, b = constants % (uint64_t{1} << 32);
            minimum = std::min(minimum, (a * x + b) % (uint64_t{1} << 32));
        }
        words[i / 64] |= (mixed((i << 32) + minimum) % 2) << i % 64;
    }
    return words;
}

// What many distances are like.
struct Moments {
    double count = 0, sum = 0, squares = 0;

    void add(double value) {
        count++;
        sum += value;
        squares += value * value;
    }
    double mean() const { return sum / count; }
    double variance() const { return squares / count - mean() * mean(); }
};

// Holds a mean and a variance to those of the binomial distribution of 64 bits, each of which is 1
// with this probability.
void expect_binomial(const Moments& moments, double probability, const std::string& what) {
    const double mean = 64 * probability, variance = mean * (1 - probability);
    const double excess = (1 - 6 * probability * (1 - probability)) / variance; // of the kurtosis
    EXPECT_NEAR(moments.mean(), mean, 4.5 * std::sqrt(variance / moments.count)) << what;
    EXPECT_NEAR(moments.variance() / variance, 1, 4.5 * std::sqrt((2 + excess) / moments.count))
        << what;
}

} // namespace

TEST(Minhash, IsWhatIsDefined) {
    Random random(1);
    for (size_t count : {1, 2, 3, 5, 127, 128, 129, 1000}) {
        std::vector<uint64_t> hashes(count);
        for (uint64_t& hash : hashes)
            hash = random.next();
        for (const auto& features : {hashes, numbers(0, count)}) {
            EXPECT_EQ(minhash_of(features), defined_words(features, 64)[0]) << count;
            EXPECT_EQ(words_of<64>(features), defined_words(features, 64)) << count;
            EXPECT_EQ(words_of<128>(features), defined_words(features, 128)) << count;
            EXPECT_EQ(words_of<256>(features), defined_words(features, 256)) << count;
        }
    }
}

// Fingerprints are stored data: these may never change.
TEST(Minhash, StaysAsItIs) {
    EXPECT_EQ(mix(0x9E3779B97F4A7C15), 0xE220A8397B1DCDAFu); // splitmix64's first number from 0
    EXPECT_EQ(minhash_of(numbers(0, 1)), 0x6A4299F077C263DEu);
    EXPECT_EQ(minhash_of(numbers(1, 1)), 0x54A28945D2D81B6Du);
    EXPECT_EQ(minhash_of(numbers(1, 3)), 0xD28A9B144290696Fu);
    EXPECT_EQ(minhash_of(numbers(uint64_t{1} << 63, 1000)), 0x0F1506770EA01179u);
    EXPECT_EQ(words_of<256>(numbers(1, 3)),
              (std::vector<uint64_t>{0xD28A9B144290696Fu, 0x635BA63CB2FFC393u, 0xD4953EEF3B839C1Fu,
                                     0xEC6302A26A15ABF5u}));
    EXPECT_EQ(minhash_of("The quick brown fox jumps over the lazy dog."), 0x156F01E94880E2AAu);
    EXPECT_EQ(minhash_of("The quick brown fox", FeatureKind::kCharacters), 0xD9B3A0C1B9E554D3u);
}

TEST(Minhash, TheFactorsOfPermutationsAreOddAndDifferent) {
    std::vector<uint32_t> factors(kPermutations.factors.begin(), kPermutations.factors.end());
    for (const uint32_t factor : factors)
        EXPECT_EQ(factor % 2, 1u);
    std::sort(factors.begin(), factors.end());
    EXPECT_EQ(std::unique(factors.begin(), factors.end()), factors.end());
}

TEST(Minhash, EveryProcessorFindsTheSameMinimaWhereverTheyStand) {
    Random random(2);
    for (const size_t minima : {size_t(64), size_t(192), kMostMinima})
        for (const size_t count : {0, 1, 2, 7, 128, 300}) {
            std::vector<uint32_t> features(count), start(minima);
            for (uint32_t& feature : features)
                feature = uint32_t(random.next());
            for (uint32_t& minimum : start) // some are low already, and differ in their highest bit
                minimum =
                    random.below(4) == 0 ? uint32_t(random.next()) >> random.below(32) : kNoMinimum;
            std::vector<uint32_t> plain = start;
            for (size_t i = 0; i < minima; i++)
                for (const uint32_t feature : features)
                    plain[i] = std::min(plain[i], kPermutations.factors[i] * feature +
                                                      kPermutations.addends[i]);
            for (int level = 0; level < kSimdLevels; level++)
                for (size_t offset = 0; offset < 4; offset++) {
                    std::vector<uint32_t> place(minima + 5, 77);
                    std::copy(start.begin(), start.end(), place.begin() + offset);
                    lower_minima(features.data(), count, place.data() + offset, minima,
                                 SimdLevel(level));
                    EXPECT_TRUE(std::equal(plain.begin(), plain.end(), place.begin() + offset))
                        << minima << " minima of " << count << " at level " << level;
                    EXPECT_EQ(std::count(place.begin() + minima + offset, place.end(), 77),
                              ptrdiff_t(5 - offset));
                }
        }
}

TEST(Minhash, EveryProcessorMixesAlike) {
    for (int level = 0; level < kSimdLevels; level++) {
        std::vector<uint64_t> mixed = numbers(uint64_t(-60), 128); // some have each bit
        mix_all(mixed.data(), mixed.size(), SimdLevel(level));
        for (size_t i = 0; i < mixed.size(); i++)
            EXPECT_EQ(mixed[i], mix(uint64_t(-60) + i)) << i << " at level " << level;
    }
}

TEST(Minhash, IsOfASetInAnyOrderWithAnyRepetitions) {
    Random random(3);
    std::vector<uint64_t> hashes = numbers(1000, 700);
    const uint64_t fingerprint = minhash_of(hashes);
    for (int i = 0; i < 300; i++)
        hashes.push_back(hashes[random.below(hashes.size())]);
    for (size_t i = hashes.size() - 1; i > 0; i--)
        std::swap(hashes[i], hashes[random.below(i + 1)]);
    EXPECT_EQ(minhash_of(hashes), fingerprint);
}

TEST(Minhash, TheMinimaOfPartsAreThoseOfAll) {
    for (const size_t cut : {0, 1, 128, 200, 499, 500}) {
        Minima first, second;
        for (const uint64_t hash : numbers(0, cut))
            first.add(hash);
        for (const uint64_t hash : numbers(cut, 500 - cut))
            second.add(hash);
        EXPECT_EQ(first.any(), cut > 0);
        EXPECT_EQ(second.any(), cut < 500);
        if (first.any())
            second.add(first.values());
        EXPECT_EQ(minhash(second), minhash_of(numbers(0, 500))) << cut;
    }
}

TEST(Minhash, AWiderCodeBeginsWithTheShorterOne) {
    MinimaOf<256> wide;
    for (const uint64_t hash : numbers(0, 1000))
        wide.add(hash);
    EXPECT_EQ(wide.words()[0], minhash_of(numbers(0, 1000)));
    for (size_t i = 1; i < 4; i++)
        EXPECT_NEAR(std::popcount(wide.words()[i] ^ wide.words()[i - 1]), 32, 20);
}

TEST(Minhash, OfADocumentIsOfItsFeatures) {
    Random random(4);
    std::string document;
    for (int i = 0; i < 2000; i++)
        document += "w" + std::to_string(random.below(300)) + (i % 9 == 0 ? ". " : " ");
    for (const FeatureKind kind : {FeatureKind::kWords, FeatureKind::kCharacters})
        for (const int width : {1, 3, kMaxWidth}) {
            std::vector<uint64_t> hashes;
            for (const std::string& feature : features(document, kind, width))
                hashes.push_back(hash_feature(HashKind::kXxh3,
                                              reinterpret_cast<const uint8_t*>(feature.data()),
                                              feature.size()));
            EXPECT_EQ(minhash_of(document, kind, width), minhash_of(hashes));
            EXPECT_EQ(minhash_of(document, kind, width, 10), minhash_of(hashes));
        }
}

TEST(Minhash, OfATextShorterThanTheWidthIsOfOneFeature) {
    EXPECT_EQ(minhash_of("Quick, brown!"), minhash_of("quick brown", FeatureKind::kWords, 2));
    EXPECT_NE(minhash_of("quick brown"), minhash_of("brown quick"));
    EXPECT_NE(minhash_of("quick"), minhash_of("quick brown"));
}

TEST(Minhash, OfATextWithoutAFeatureDoesNotExist) {
    for (const char* document : {"", " ", "...", "\u3002\u2014", "\u200D\uFE0F", "\xFF\xFE"})
        EXPECT_FALSE(has_minhash(document)) << document;
    EXPECT_TRUE(has_minhash("a"));
}

// Sets of known similarity, their features being hashed by the numbers 0, 1, 2 ...: each bit differs
// with probability (1 - J) / 2, each for itself; and each bit is 1 in one document of two.
TEST(Minhash, DistancesAreBinomialWhateverTheSizeOfTheSets) {
    uint64_t next = 0;
    for (const size_t all : {2, 5, 10, 30, 100, 1000, 10000, 100000})
        for (const double wanted : {0.0, 0.5, 0.8, 0.95}) {
            const auto shared = size_t(std::lround(wanted * double(all)));
            const size_t of_a = (all - shared) / 2, of_b = all - shared - of_a;
            const double similarity = double(shared) / double(all);
            Moments distances, ones;
            for (size_t i = 0; i < std::min<size_t>(20000, 1000000 / all); i++) {
                Minima both, a, b;
                for (const uint64_t hash : numbers(next, shared))
                    both.add(hash);
                for (const uint64_t hash : numbers(next + shared, of_a))
                    a.add(hash);
                for (const uint64_t hash : numbers(next + shared + of_a, of_b))
                    b.add(hash);
                if (both.any()) {
                    a.add(both.values());
                    b.add(both.values());
                }
                next += all;
                const uint64_t of[] = {minhash(a).value(), minhash(b).value()};
                distances.add(std::popcount(of[0] ^ of[1]));
                ones.add(std::popcount(of[0]));
            }
            const std::string what =
                std::to_string(all) + " features, J = " + std::to_string(similarity);
            if (shared < all)
                expect_binomial(distances, (1 - similarity) / 2, what);
            else
                EXPECT_EQ(distances.sum, 0) << what;
            expect_binomial(ones, 0.5, what);
        }
}

// Every two bits: among many pairs of sets of 30 features, of which 24 are shared, the differences
// in one bit say nothing of those in another, and each bit differs in a tenth of the pairs.
TEST(Minhash, BitsDifferEachForItself) {
    constexpr int kPairs = 20000;
    constexpr double kShare = 0.1;
    std::vector<int> together(64 * 64);
    for (int i = 0; i < kPairs; i++) {
        std::vector<uint64_t> a = numbers(uint64_t(i) * 30, 27);
        std::vector<uint64_t> b = numbers(uint64_t(i) * 30 + 3, 27);
        const uint64_t differ = minhash_of(a) ^ minhash_of(b);
        for (uint64_t rest = differ; rest != 0; rest &= rest - 1)
            for (uint64_t others = rest; others != 0; others &= others - 1)
                together[std::countr_zero(rest) * 64 + std::countr_zero(others)]++;
    }
    const auto near = [](int count, double probability) {
        return std::abs(count - kPairs * probability) <
               5 * std::sqrt(kPairs * probability * (1 - probability));
    };
    for (int i = 0; i < 64; i++)
        for (int j = i; j < 64; j++)
            EXPECT_TRUE(near(together[i * 64 + j], i == j ? kShare : kShare * kShare))
                << "bits " << i << " and " << j << ": " << together[i * 64 + j];
}

// By counting: pairs of random bits, each of which differs with the probability of the similarity.
TEST(MinhashDistance, TheRadiusFindsTheShareThatIsWanted) {
    Random random(5);
    for (const double similarity : {0.3, 0.5, 0.8, 0.95}) {
        int within[65] = {};
        constexpr int kPairs = 20000;
        for (int i = 0; i < kPairs; i++) {
            int distance = 0;
            for (int bit = 0; bit < 64; bit++)
                distance += double(random.below(1 << 20)) < (1 - similarity) / 2 * (1 << 20);
            for (int radius = distance; radius <= 64; radius++)
                within[radius]++;
        }
        for (const double recall : {0.1, 0.5, 0.8, 0.9, 0.99}) {
            const int radius = minhash_radius(similarity, recall);
            const double error = 5 * std::sqrt(recall * (1 - recall) / kPairs);
            EXPECT_GT(within[radius] / double(kPairs), recall - error) << similarity;
            if (radius > 0) {
                EXPECT_LT(within[radius - 1] / double(kPairs), recall + error) << similarity;
            }
        }
    }
}

TEST(MinhashDistance, TheRadiusGrowsWithTheRecallAndWithTheDifference) {
    EXPECT_EQ(minhash_radius(0.8, 0.8), 8);
    EXPECT_EQ(minhash_radius(0.8, 0.9), 10);
    EXPECT_EQ(minhash_radius(0.9, 0.99), 8);
    EXPECT_EQ(minhash_radius(0.5, 0.95), 22);
    for (const double recall : {0.0, 0.5, 1.0})
        EXPECT_EQ(minhash_radius(1, recall), 0); // the same features: the same fingerprint
    for (const double similarity : {0.0, 0.5, 0.999, 1 - 1e-12}) {
        EXPECT_EQ(minhash_radius(similarity, 1), 64); // nothing less is certain
        EXPECT_EQ(minhash_radius(similarity, 0), 0);
    }
    for (int similarity = 0; similarity < 100; similarity++)
        for (int recall = 0; recall < 100; recall++) {
            const int radius = minhash_radius(similarity / 100.0, recall / 100.0);
            EXPECT_LE(radius, minhash_radius(similarity / 100.0, (recall + 1) / 100.0));
            EXPECT_GE(radius, minhash_radius((similarity + 1) / 100.0, recall / 100.0));
        }
}

TEST(MinhashDistance, TheBoundsHoldTheSimilarityAsOftenAsTheySay) {
    for (const double confidence : {0.5, 0.9, 0.95, 0.999})
        for (double similarity = 0; similarity <= 1; similarity += 0.03125) {
            const double p = (1 - similarity) / 2;
            double missed = 0;
            for (int distance = 0; distance <= 64; distance++) {
                const SimilarityEstimate estimate = minhash_similarity(distance, confidence);
                const double logarithm =
                    std::lgamma(65.0) - std::lgamma(distance + 1.0) - std::lgamma(65.0 - distance);
                const double probability =
                    std::exp(logarithm) * std::pow(p, distance) * std::pow(1 - p, 64 - distance);
                if (similarity < estimate.low - 1e-12 || similarity > estimate.high + 1e-12)
                    missed += probability;
            }
            EXPECT_LE(missed, 1 - confidence + 1e-9) << similarity;
        }
}

TEST(MinhashDistance, TheEstimateFallsFromOneToZeroWithinItsBounds) {
    EXPECT_EQ(minhash_similarity(0, 0.95).similarity, 1);
    EXPECT_EQ(minhash_similarity(8, 0.95).similarity, 0.75);
    EXPECT_EQ(minhash_similarity(40, 0.95).similarity, 0);
    // Of the equations that Clopper and Pearson's bounds solve, those of 0 have a short solution.
    EXPECT_NEAR(minhash_similarity(0, 0.95).low, 1 - 2 * (1 - std::pow(0.025, 1 / 64.0)), 1e-12);
    EXPECT_EQ(minhash_similarity(0, 0.95).high, 1);
    EXPECT_NEAR(minhash_similarity(8, 0.95).low, 1 - 2 * 0.231526306, 1e-8);
    EXPECT_NEAR(minhash_similarity(8, 0.95).high, 1 - 2 * 0.055542791, 1e-8);
    double before = 1;
    for (int distance = 0; distance <= 64; distance++) {
        const SimilarityEstimate estimate = minhash_similarity(distance, 0.95);
        EXPECT_LE(estimate.similarity, before);
        EXPECT_LE(estimate.low, estimate.similarity);
        EXPECT_GE(estimate.high, estimate.similarity);
        EXPECT_GE(estimate.low, 0);
        EXPECT_LE(estimate.high, 1);
        before = estimate.similarity;
    }
}

} // namespace simhash::test
