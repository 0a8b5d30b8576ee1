// One bit of each of 64 minima, or of more. See minhash.hpp.
#include "core/text/minhash.hpp"

#include <cstring>

#include "core/bits/fingerprint.hpp"

namespace simhash {

void mix_all(uint64_t* numbers, size_t count, SimdLevel highest) {
    at_best_level(
        highest, [=]<SimdLevel level>() __attribute__((always_inline)) {
            typename VectorAt<level>::Words words;
            static_assert(64 * sizeof(uint64_t) % sizeof words == 0);
            for (size_t i = 0; i < count; i += sizeof words / sizeof(uint64_t)) {
                memcpy(&words, numbers + i, sizeof words);
                mix_in_place(words);
                memcpy(numbers + i, &words, sizeof words);
            }
        });
}

// Each lane of a vector has one minimum. Four vectors of minima, of factors and of addends each fit
// the registers of every processor. The arrays are aligned to 4 bytes only, so it copies vectors in
// and out.
void lower_minima(const uint32_t* numbers, size_t count, uint32_t* lowered, size_t minima,
                  SimdLevel highest) {
    at_best_level(
        highest, [=]<SimdLevel level>() __attribute__((always_inline)) {
            using Vector = typename VectorAt<level>::Type;
            constexpr size_t kVectors = 4, kLanes = kVectors * sizeof(Vector) / sizeof(uint32_t);
            static_assert(64 % kLanes == 0);
            for (size_t lane = 0; lane < minima; lane += kLanes) {
                Vector factor[kVectors], addend[kVectors], least[kVectors];
                memcpy(factor, kPermutations.factors.data() + lane, sizeof factor);
                memcpy(addend, kPermutations.addends.data() + lane, sizeof addend);
                memcpy(least, lowered + lane, sizeof least);
                for (size_t i = 0; i < count; i++) {
                    Vector number = Vector{} + numbers[i];
#pragma GCC unroll 4 // or the vectors would not stay in registers
                    for (size_t part = 0; part < kVectors; part++) {
                        Vector place = factor[part] * number + addend[part];
                        least[part] = place < least[part] ? place : least[part];
                    }
                }
                memcpy(lowered + lane, least, sizeof least);
            }
        });
}

void add_document(FeatureKind features, int width, TextSource source, FeatureBatches& minima) {
    each_feature(features, width, source, minima);
}

// ---- distance and similarity ----

namespace {

constexpr int kBits = kFingerprintBits;

// C(64, k), a row of Pascal's triangle.
constexpr auto kBinomials = [] {
    std::array<double, kBits + 1> row{1};
    for (int n = 0; n < kBits; n++)
        for (int k = kBits; k > 0; k--)
            row[k] += row[k - 1];
    return row;
}();

// The probabilities of the distances 0..64 where each bit differs with probability p.
struct Distances {
    double probability[kBits + 1];

    // The probability is C(64, k) p^k (1 - p)^(64 - k). The powers are repeated products.
    explicit Distances(double p) {
        double power = 1;
        for (int k = 0; k <= kBits; k++, power *= p)
            probability[k] = kBinomials[k] * power;
        power = 1;
        for (int k = kBits; k >= 0; k--, power *= 1 - p)
            probability[k] *= power;
    }

    double within(int distance) const {
        double sum = 0;
        for (int k = 0; k <= distance; k++)
            sum += probability[k];
        return sum;
    }
    // Rounded sums may pass 1, which no probability does.
    double above(int distance) const {
        double sum = 0;
        for (int k = kBits; k > distance; k--)
            sum += probability[k];
        return std::min(sum, 1.0);
    }
};

// Returns the greatest p from 0 to 1 for which `holds` is true. It must be true for 0, and for
// every number below one for which it is true.
double greatest_share(auto holds) {
    double low = 0, high = 1;
    // Bisection: 60 halvings exceed the 53 bits of a double.
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        (holds(middle) ? low : high) = middle;
    }
    return low;
}

double similarity_of(double p) { return std::max(0.0, 1 - 2 * p); }

} // namespace

int minhash_radius(double similarity, double recall) {
    // Unlike minhashes may differ in every bit; that probability may be too small for a double.
    if (recall == 1)
        return similarity < 1 ? kBits : 0;
    Distances distances((1 - similarity) / 2);
    int radius = kBits;
    double above = 0;
    // Rounded sums may pass 1, which no probability does.
    while (radius > 0 && std::min(above + distances.probability[radius], 1.0) <= 1 - recall)
        above += distances.probability[radius--];
    return radius;
}

SimilarityEstimate minhash_similarity(int distance, double confidence) {
    double rare = (1 - confidence) / 2; // on each side
    // Below `least`, a distance this great or greater would be rare; above `greatest`, one this
    // small or smaller. The similarity falls as p rises.
    double least = greatest_share(
        [&](double p) { return distance > 0 && Distances(p).above(distance - 1) < rare; });
    double greatest = greatest_share(
        [&](double p) { return distance == kBits || Distances(p).within(distance) > rare; });
    return {similarity_of(double(distance) / kBits), similarity_of(greatest), similarity_of(least)};
}

} // namespace simhash
