// Distances. See distances.hpp.
#include "distances.hpp"

#include <algorithm>
#include <bit>

#include "core/bits/simd.hpp"

namespace quality {

namespace {

// The distances of one code from others. There are very many pairs, so the processor's own
// instruction is taken where it has one.
template <int kWords>
[[gnu::always_inline]] inline void distances_in_words(const uint64_t* from, const uint64_t* others,
                                                      size_t count, uint8_t* out) {
    for (size_t i = 0; i < count; i++) {
        int bits = 0;
        for (int word = 0; word < kWords; word++)
            bits += std::popcount(from[word] ^ others[i * kWords + word]);
        out[i] = uint8_t((bits + kWords - 1) / kWords);
    }
}

#ifdef SIMHASH_X86
[[gnu::target_clones("popcnt", "default")]]
#endif
void distances_from(int words, const uint64_t* from, const uint64_t* others, size_t count,
                    uint8_t* out) {
    switch (words) {
    case 1:
        return distances_in_words<1>(from, others, count, out);
    case 2:
        return distances_in_words<2>(from, others, count, out);
    default:
        return distances_in_words<4>(from, others, count, out);
    }
}

void accumulate(std::array<double, kRadii>& at) {
    for (int k = 1; k < kRadii; k++)
        at[k] += at[k - 1];
}

} // namespace

int distance(const Codes& codes, int a, int b) {
    uint8_t result;
    distances_from(codes.words, codes[a], codes[b], 1, &result);
    return result;
}

Histogram histogram(const Codes& codes, const Pairs& pairs) {
    Histogram counted{};
    for (const auto& [a, b] : pairs)
        counted[distance(codes, a, b)]++;
    return counted;
}

Distances::Distances(const Codes& codes, const Truth& truth)
    : near(histogram(codes, truth.near)), between(histogram(codes, truth.between)), codes_(codes),
      truth_(truth), partners_(codes.size()), true_partners_(codes.size()) {
    const auto note = [](std::vector<std::array<int, kRadii>>& partners, int a, int b, int d) {
        if (d < kRadii) {
            partners[a][d]++;
            partners[b][d]++;
        }
    };
    std::vector<uint8_t> row(codes.size());
    for (int a = 0; a < int(codes.size()); a++) {
        distances_from(codes.words, codes[a], codes[0], a, row.data());
        for (int b = 0; b < a; b++) {
            all[row[b]]++;
            note(partners_, a, b, row[b]);
        }
    }
    for (const Pairs* pairs : {&truth.near, &truth.between})
        for (const auto& [a, b] : *pairs)
            note(true_partners_, a, b, distance(codes, a, b));
}

void add_distances(const Codes& a, const Codes& b, Histogram& counted) {
    std::vector<uint8_t> row(b.size());
    for (size_t from = 0; from < a.size(); from++) {
        distances_from(b.words, a[from], b[0], b.size(), row.data());
        for (const uint8_t distance : row)
            counted[distance]++;
    }
}

Counts Distances::counts() const { return resampled(std::vector<int>(codes_.size(), 1)); }

// Pairs of another kind may be very many: of those the changes are added up by document, as if
// no two documents of a pair were drawn another number of times than once together. The pairs in
// truth are few and are counted as they are.
Counts Distances::resampled(const std::vector<int>& times) const {
    Counts counted;
    const auto count = [&](std::array<double, kRadii>& at, const Pairs& pairs) {
        for (const auto& [a, b] : pairs)
            if (const int d = distance(codes_, a, b); d < kRadii)
                at[d] += times[a] * times[b];
    };
    count(counted.near, truth_.near);
    count(counted.between, truth_.between);
    for (int k = 0; k < kRadii; k++)
        counted.others[k] = double(all[k] - near[k] - between[k]);
    for (size_t i = 0; i < codes_.size(); i++)
        for (int k = 0; k < kRadii && times[i] != 1; k++)
            counted.others[k] += (times[i] - 1) * (partners_[i][k] - true_partners_[i][k]);
    for (std::array<double, kRadii>* at : {&counted.near, &counted.between, &counted.others})
        accumulate(*at);
    for (double& others : counted.others)
        others = others > 0 ? others : 0;
    return counted;
}

Refusals refusals(const Codes& codes, const Truth& truth, int radius) {
    struct Similar {
        std::vector<int> near, between; // earlier documents
    };
    std::vector<Similar> similar(codes.size());
    for (const auto& [a, b] : truth.near)
        similar[b].near.push_back(a);
    for (const auto& [a, b] : truth.between)
        similar[b].between.push_back(a);
    Refusals counted;
    Codes rows{codes.words, {}};
    std::vector<char> is_row(codes.size());
    std::vector<uint8_t> distances(codes.size());
    for (size_t i = 0; i < codes.size(); i++) {
        const auto one_is_row = [&](const std::vector<int>& documents) {
            return std::any_of(documents.begin(), documents.end(),
                               [&](int document) { return is_row[document]; });
        };
        const bool near = one_is_row(similar[i].near);
        distances_from(codes.words, codes[i], rows.all.data(), rows.size(), distances.data());
        const auto end = distances.begin() + rows.size();
        if (std::any_of(distances.begin(), end, [&](uint8_t d) { return d <= radius; })) {
            counted.refused++;
            counted.wrongly += !near && !one_is_row(similar[i].between);
        } else {
            counted.admitted += near;
            is_row[i] = true;
            rows.all.insert(rows.all.end(), codes[i], codes[i] + codes.words);
        }
    }
    return counted;
}

} // namespace quality
