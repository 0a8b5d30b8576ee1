// MinHash. See minhash.hpp.
#include "minhash.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <unordered_map>

namespace quality {

namespace {

// A permutation is x -> a * x + b modulo the Mersenne prime 2^61 - 1.
constexpr uint64_t kPrime = (uint64_t(1) << 61) - 1;

struct Permutation {
    uint64_t a, b;
    uint32_t operator()(uint64_t x) const {
        const unsigned __int128 product = static_cast<unsigned __int128>(a) * (x & kPrime) + b;
        uint64_t rest = uint64_t(product & kPrime) + uint64_t(product >> 61);
        rest = rest >= kPrime ? rest - kPrime : rest;
        return uint32_t(rest >> 29);
    }
};

std::vector<Permutation> make_permutations() {
    std::mt19937_64 random(1);
    std::vector<Permutation> all;
    for (int i = 0; i < kPermutations; i++)
        all.push_back({random() % (kPrime - 1) + 1, random() % kPrime});
    return all;
}

// Of the probability of being a candidate: the area below the threshold, and what is missing
// above it.
double errors(int bands, int rows, double threshold) {
    constexpr double kStep = 0.001;
    double sum = 0;
    for (double j = kStep / 2; j < 1; j += kStep) {
        const double missed = std::pow(1 - std::pow(j, rows), bands);
        sum += kStep * (j < threshold ? 1 - missed : missed);
    }
    return sum;
}

} // namespace

Banding banding_for(double threshold) {
    Banding best{1, 1};
    double least = std::numeric_limits<double>::max();
    for (int bands = 1; bands <= kPermutations; bands++)
        for (int rows = 1; rows * bands <= kPermutations; rows++)
            if (const double found = errors(bands, rows, threshold); found < least) {
                least = found;
                best.bands = bands;
                best.rows = rows;
            }
    return best;
}

Signature signature(const Shingles& shingles) {
    static const std::vector<Permutation> permutations = make_permutations();
    Signature least;
    least.fill(std::numeric_limits<uint32_t>::max());
    for (const uint64_t shingle : shingles)
        for (int i = 0; i < kPermutations; i++)
            least[i] = std::min(least[i], permutations[i](shingle));
    return least;
}

Pairs candidates(const std::vector<Signature>& signatures, const Banding& banding) {
    Pairs found;
    for (int band = 0; band < banding.bands; band++) {
        std::unordered_map<std::string, std::vector<int>> buckets;
        for (int i = 0; i < int(signatures.size()); i++) {
            const char* first = reinterpret_cast<const char*>(&signatures[i][band * banding.rows]);
            std::vector<int>& bucket = buckets[std::string(first, banding.rows * sizeof(uint32_t))];
            for (const int j : bucket)
                found.push_back({j, i});
            bucket.push_back(i);
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

double estimate(const Signature& a, const Signature& b) {
    int equal = 0;
    for (int i = 0; i < kPermutations; i++)
        equal += a[i] == b[i];
    return double(equal) / kPermutations;
}

} // namespace quality
