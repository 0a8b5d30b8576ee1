// One bit of each of 64 minima, or of more: the fingerprint or code whose distance tells how many
// features two documents share, whatever the documents are (Broder 1997; Li and König, b-Bit
// Minwise Hashing, WWW 2010).
//
// Every feature is a number x of 32 bits. Permutation i of all features gives it the place
// a_i * x + b_i mod 2^32, and the document's minimum i is the least place that one of its features
// has:
//
//   features x          place in permutation 0    in permutation 1   ...
//   "the quick brown"               7                    4
//   "quick brown fox"               2                    9
//   minimum                         2                    4           ->  one bit of each: 1 0 ...
//
// Each feature has the same chance to have the least place. So two documents have the same minimum
// with the probability J, the share of their features that both have (their Jaccard similarity). If
// the minima differ, their bits differ in one case of two. So each bit differs with probability
// (1 - J) / 2, and the distance is binomial.
//
// Minima depend on the set of features: neither order nor repetition matters. To combine two parts
// of a document, take the lower of each pair of minima.
//
// docs/fingerprints.md defines it for other implementations. It is fixed: fingerprints are stored.
#pragma once

#include <algorithm>
#include <array>

#include "core/bits/simd.hpp"
#include "core/text/document.hpp"

namespace simhash {

// The number of a feature. The hash may be a poor one: callers have their own, perhaps 1, 2, 3.
constexpr uint32_t feature_number(uint64_t hash) { return uint32_t(mix(hash)); }

constexpr size_t kMostMinima = 1024; // the definition has no more
// The greatest place: any other one lowers it. any() tells whether there was a feature.
constexpr uint32_t kNoMinimum = UINT32_MAX;

// The factors a_i, all odd, and the addends b_i of the permutations: the two halves of the numbers
// that splitmix64 gives from 0 on.
struct Permutations {
    std::array<uint32_t, kMostMinima> factors{}, addends{};

    constexpr Permutations() {
        for (size_t i = 0; i < kMostMinima; i++) {
            uint64_t random = mix((i + 1) * 0x9E3779B97F4A7C15);
            factors[i] = uint32_t(random >> 32) | 1;
            addends[i] = uint32_t(random);
        }
    }
};
inline constexpr Permutations kPermutations;

// Lowers each of the first `minima` minima, a multiple of 64, to the least place that one of
// `count` features has in its permutation. This is the hot loop, compiled once for each kind of
// processor.
void lower_minima(const uint32_t* numbers, size_t count, uint32_t* lowered, size_t minima,
                  SimdLevel highest = kHighestSimdLevel);

// Lowers minima by features, in batches: the minima then stay in registers for a batch. What cuts
// documents knows this class, not the number of minima, and so is compiled once.
class FeatureBatches {
  public:
    FeatureBatches(const FeatureBatches&) = delete; // lowered_ is in the derived class

    void add(uint64_t hash) {
        waiting_[waiting_count_++] = feature_number(hash);
        if (waiting_count_ == waiting_.size())
            lower();
    }

    // A consumer of each_feature().
    void operator()(const uint8_t* text, size_t bytes) {
        add(hash_feature(HashKind::kXxh3, text, bytes));
    }

    // True when there was a feature. Without one there is neither a minimum nor a fingerprint.
    bool any() const { return any_ || waiting_count_ > 0; }

  protected:
    explicit FeatureBatches(size_t minima) : minima_(minima) {}

    void lower() {
        any_ = any();
        lower_minima(waiting_.data(), waiting_count_, lowered_, minima_);
        waiting_count_ = 0;
    }

    uint32_t* lowered_; // [minima]
    bool any_ = false;  // without those that wait

  private:
    size_t minima_;
    size_t waiting_count_ = 0;
    std::array<uint32_t, 128> waiting_; // features that are not in the minima yet
};

// Keeps the minima of the features that were added. A wider code begins with the shorter one.
template <size_t minima>
class MinimaOf : public FeatureBatches {
    static_assert(minima % 64 == 0 && minima <= kMostMinima);

  public:
    using Values = std::array<uint32_t, minima>;
    using Mixed = std::array<uint64_t, minima>;
    using Words = std::array<uint64_t, minima / 64>;

    MinimaOf() : FeatureBatches(minima) {
        values_.fill(kNoMinimum);
        lowered_ = values_.data();
    }

    using FeatureBatches::add;

    // Adds the minima of one feature or more that were computed elsewhere.
    void add(const Values& others) {
        for (size_t i = 0; i < minima; i++)
            values_[i] = std::min(values_[i], others[i]);
        any_ = true;
    }

    const Values& values() {
        lower();
        return values_;
    }

    // Of each minimum and its number a hash.
    Mixed mixed() {
        lower();
        Mixed mixed;
        for (size_t i = 0; i < minima; i++)
            mixed[i] = uint64_t(i) << 32 | values_[i];
        mix_all(mixed.data(), minima);
        return mixed;
    }

    // Bit i of the code, the lowest bit of the first word being bit 0, is the lowest of hash i.
    static Words words(const Mixed& mixed) {
        Words words{};
        for (size_t i = 0; i < minima; i++)
            words[i / 64] |= (mixed[i] & 1) << i % 64;
        return words;
    }
    Words words() { return words(mixed()); }

  private:
    Values values_;
};

using Minima = MinimaOf<64>;

// None where there is no feature.
inline std::optional<uint64_t> minhash(Minima& minima) {
    return minima.any() ? std::optional(minima.words()[0]) : std::nullopt;
}

// Adds the features of a document: reader -> cutter -> hash -> minima.
void add_document(FeatureKind features, int width, TextSource source, FeatureBatches& minima);

// ---- distance and similarity ----

// Relates the distance of two fingerprints of minhash() to the documents' similarity J. Each of the
// 64 bits differs with probability (1 - J) / 2, independently of the others. So the distance has
// the binomial distribution, from which everything here is computed. The code uses only sums,
// products and quotients, and no function of a library: the results are the same everywhere.

// The least radius within which a pair of documents of this similarity (0..1) lies with the
// probability `recall` (0..1) or more. More similar pairs lie within it more often.
int minhash_radius(double similarity, double recall);

// The similarity that a distance tells, and bounds of it.
struct SimilarityEstimate {
    double similarity, low, high; // 0 <= low <= similarity <= high <= 1
};

// For a distance of 0..64. The bounds are those of Clopper and Pearson: whatever the similarity is,
// it lies between them with the probability `confidence` (above 0, below 1) or more.
SimilarityEstimate minhash_similarity(int distance, double confidence);

} // namespace simhash
