// MinHash. See minhash.hpp.
#include "minhash.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "core/bits/simd.hpp"

namespace quality {

namespace {

struct Permutations {
    alignas(64) uint32_t a[kPermutations], b[kPermutations];
};

Permutations make_permutations() {
    std::mt19937_64 random(1);
    Permutations all;
    for (int i = 0; i < kPermutations; i++) {
        all.a[i] = uint32_t(random()) | 1;
        all.b[i] = uint32_t(random());
    }
    return all;
}

// With vectors of so many bytes. The minima of as many permutations as 4 or 8 registers hold stay
// in these while all shingles go by.
template <int kBytes, int kRegisters>
[[gnu::always_inline]] inline void find_minima(const Permutations& permutations,
                                               const Shingles& shingles, uint32_t* minima) {
    using Lanes [[gnu::vector_size(kBytes)]] = uint32_t;
    constexpr int kLanes = kBytes / sizeof(uint32_t);
    for (int first = 0; first < kPermutations; first += kRegisters * kLanes) {
        Lanes a[kRegisters], b[kRegisters], least[kRegisters];
        std::memcpy(a, permutations.a + first, sizeof(a));
        std::memcpy(b, permutations.b + first, sizeof(b));
        std::memset(least, 0xFF, sizeof(least));
        for (const uint64_t shingle : shingles) {
            const uint32_t x = uint32_t(shingle >> 32);
#pragma GCC unroll 8
            for (int v = 0; v < kRegisters; v++) {
                const Lanes value = a[v] * x + b[v];
                least[v] = value < least[v] ? value : least[v];
            }
        }
        std::memcpy(minima + first, least, sizeof(least));
    }
}

#ifdef SIMHASH_X86

[[gnu::target("avx512f")]] void find_minima_avx512(const Permutations& permutations,
                                                   const Shingles& shingles, uint32_t* minima) {
    find_minima<64, 4>(permutations, shingles, minima);
}

[[gnu::target("avx2")]] void find_minima_avx2(const Permutations& permutations,
                                              const Shingles& shingles, uint32_t* minima) {
    find_minima<32, 8>(permutations, shingles, minima);
}

#endif

// Splitmix64's last steps: the hash of a band's values, one after another.
uint64_t mixed(uint64_t hash, uint32_t value) {
    hash = (hash ^ value) + 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
    return hash ^ (hash >> 31);
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
    static const Permutations permutations = make_permutations();
    Signature least;
#ifdef SIMHASH_X86
    static const bool has_avx512 = __builtin_cpu_supports("avx512f");
    static const bool has_avx2 = __builtin_cpu_supports("avx2");
    if (has_avx512 || has_avx2) {
        (has_avx512 ? find_minima_avx512 : find_minima_avx2)(permutations, shingles, least.data());
        return least;
    }
#endif
    find_minima<16, 4>(permutations, shingles, least.data());
    return least;
}

Signature signature(std::string_view document) {
    struct {
        Shingles hashes;
        void operator()(const uint8_t* text, size_t bytes) {
            hashes.push_back(simhash::hash_feature(simhash::HashKind::kXxh3, text, bytes));
        }
    } collected;
    WholeText whole{document};
    simhash::each_feature(simhash::FeatureKind::kWords, 3, whole.source(), collected);
    return signature(collected.hashes);
}

uint64_t band_hash(const Signature& signature, const Banding& banding, int band) {
    uint64_t hash = 0;
    for (int row = 0; row < banding.rows; row++)
        hash = mixed(hash, signature[band * banding.rows + row]);
    return hash;
}

Pairs candidates(const std::vector<Signature>& signatures, const Banding& banding) {
    Pairs found;
    std::vector<std::pair<uint64_t, int>> order(signatures.size());
    for (int band = 0; band < banding.bands; band++) {
        for (int i = 0; i < int(signatures.size()); i++)
            order[i] = {band_hash(signatures[i], banding, band), i};
        std::sort(order.begin(), order.end());
        for (size_t begin = 0, end = 0; begin < order.size(); begin = end)
            for (end = begin + 1; end < order.size() && order[end].first == order[begin].first;
                 end++)
                for (size_t i = begin; i < end; i++)
                    found.push_back({order[i].second, order[end].second});
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
