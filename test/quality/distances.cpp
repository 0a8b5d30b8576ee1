// Distances. See distances.hpp.
#include "distances.hpp"

#include <bit>

#include "core/bits/simd.hpp"

namespace quality {

namespace {

int distance(const Fingerprints& fps, int a, int b) {
    return std::popcount(fps[a] ^ fps[b]);
}

// The distances of one fingerprint from each of the others. There are very many pairs, so the
// processor's own instruction is taken where it has one.
#ifdef SIMHASH_X86
[[gnu::target_clones("popcnt", "default")]]
#endif
void distances_from(uint64_t from, const uint64_t* others, size_t count, uint8_t* out) {
    for (size_t i = 0; i < count; i++)
        out[i] = uint8_t(std::popcount(from ^ others[i]));
}

void accumulate(std::array<double, kRadii>& at) {
    for (int k = 1; k < kRadii; k++)
        at[k] += at[k - 1];
}

} // namespace

Histogram histogram(const Fingerprints& fps, const Pairs& pairs) {
    Histogram counted{};
    for (const auto& [a, b] : pairs)
        counted[distance(fps, a, b)]++;
    return counted;
}

Distances::Distances(const Fingerprints& fps, const Truth& truth)
    : near(histogram(fps, truth.near)), between(histogram(fps, truth.between)), fps_(fps),
      truth_(truth), partners_(fps.size()), true_partners_(fps.size()) {
    const auto note = [](std::vector<std::array<int, kRadii>>& partners, int a, int b, int d) {
        if (d < kRadii) {
            partners[a][d]++;
            partners[b][d]++;
        }
    };
    std::vector<uint8_t> row(fps.size());
    for (int a = 0; a < int(fps.size()); a++) {
        distances_from(fps[a], fps.data(), a, row.data());
        for (int b = 0; b < a; b++) {
            all[row[b]]++;
            note(partners_, a, b, row[b]);
        }
    }
    for (const Pairs* pairs : {&truth.near, &truth.between})
        for (const auto& [a, b] : *pairs)
            note(true_partners_, a, b, distance(fps, a, b));
}

void add_distances(const Fingerprints& a, const Fingerprints& b, Histogram& counted) {
    std::vector<uint8_t> row(b.size());
    for (const uint64_t from : a) {
        distances_from(from, b.data(), b.size(), row.data());
        for (const uint8_t distance : row)
            counted[distance]++;
    }
}

Counts Distances::counts() const {
    return resampled(std::vector<int>(fps_.size(), 1));
}

// Pairs of another kind may be very many: of those the changes are added up by document, as if
// no two documents of a pair were drawn another number of times than once together. The pairs in
// truth are few and are counted as they are.
Counts Distances::resampled(const std::vector<int>& times) const {
    Counts counted;
    const auto count = [&](std::array<double, kRadii>& at, const Pairs& pairs) {
        for (const auto& [a, b] : pairs)
            if (const int d = distance(fps_, a, b); d < kRadii)
                at[d] += times[a] * times[b];
    };
    count(counted.near, truth_.near);
    count(counted.between, truth_.between);
    for (int k = 0; k < kRadii; k++)
        counted.others[k] = double(all[k] - near[k] - between[k]);
    for (size_t i = 0; i < fps_.size(); i++)
        for (int k = 0; k < kRadii && times[i] != 1; k++)
            counted.others[k] += (times[i] - 1) * (partners_[i][k] - true_partners_[i][k]);
    for (std::array<double, kRadii>* at : {&counted.near, &counted.between, &counted.others})
        accumulate(*at);
    for (double& others : counted.others)
        others = others > 0 ? others : 0;
    return counted;
}

} // namespace quality
