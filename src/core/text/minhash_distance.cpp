// Relates the distance of two fingerprints of minhash() to similarity. See minhash_distance.hpp.
#include "core/text/minhash_distance.hpp"

#include <algorithm>

#include "core/bits/distance.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {

namespace {

constexpr int kBits = kFingerprintBits;

// C(64, k), a row of Pascal's triangle.
struct Binomials {
    double of[kBits + 1];

    constexpr Binomials() : of{1} {
        for (int n = 0; n < kBits; n++)
            for (int k = kBits; k > 0; k--)
                of[k] += of[k - 1];
    }
};
constexpr Binomials kBinomials;

// The probabilities of the distances 0..64 where each bit differs with probability p.
struct Distances {
    double probability[kBits + 1];

    // The probability is C(64, k) p^k (1 - p)^(64 - k). The powers come from repeated
    // multiplication.
    explicit Distances(double p) {
        double power = 1;
        for (int k = 0; k <= kBits; k++, power *= p)
            probability[k] = kBinomials.of[k] * power;
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
template <typename Holds>
double greatest_share(Holds holds) {
    double low = 0, high = 1;
    // Bisection: 60 halvings exceed the 53 bits of a double.
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        (holds(middle) ? low : high) = middle;
    }
    return low;
}

double similarity_of(double p) {
    return std::max(0.0, 1 - 2 * p);
}

} // namespace

int minhash_radius(double similarity, double recall) {
    // Unlike minhashes may differ in every bit, with a probability that may be too small for a
    // double.
    if (recall == 1)
        return similarity < 1 ? kBits : 0;
    Distances distances((1 - similarity) / 2);
    int radius = 0;
    while (radius < kBits && distances.above(radius) > 1 - recall)
        radius++;
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
