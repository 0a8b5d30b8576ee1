// The vote. See votes.hpp.
#include "core/text/votes.hpp"

#include <cmath>

namespace simhash {
namespace {

constexpr __int128 kGreatestSum = ~(__int128(1) << 127) >> 1; // half of the range, for 2 * ones

__int128 add_saturating(__int128 a, __int128 b) {
    __int128 sum = a + b; // both are within half of the range
    return sum > kGreatestSum ? kGreatestSum : sum < -kGreatestSum ? -kGreatestSum : sum;
}

// For each bit, the sum of the weights of the features whose hash has a 1 there. The sum of all
// weights fits in 32 bits.
void add_up(const FeatureCount* features, size_t count, uint32_t ones[64], SimdLevel highest) {
    at_best_level(
        highest, [=]<SimdLevel level>() __attribute__((always_inline)) {
            using Vector = typename VectorAt<level>::Type;
            constexpr size_t kLanes = sizeof(Vector) / sizeof(uint32_t), kHalf = 32 / kLanes;
            // A lane for each bit of the hash: 32 for its lower half and 32 for its upper one.
            Vector low[kHalf] = {}, high[kHalf] = {}, bits[kHalf];
            for (size_t i = 0; i < 32; i++)
                bits[i / kLanes][i % kLanes] = uint32_t(1) << i;
            for (size_t i = 0; i < count; i++) {
                Vector weight = Vector{} + features[i].weight;
                Vector low_hash = Vector{} + uint32_t(features[i].hash);
                Vector high_hash = Vector{} + uint32_t(features[i].hash >> 32);
                for (size_t part = 0; part < kHalf; part++) {
                    // A comparison gives all ones or zeros, so the AND adds the weight or nothing.
                    low[part] += Vector((low_hash & bits[part]) == bits[part]) & weight;
                    high[part] += Vector((high_hash & bits[part]) == bits[part]) & weight;
                }
            }
            memcpy(ones, low, sizeof low);
            memcpy(ones + 32, high, sizeof high);
        });
}

} // namespace

void Votes::add(uint64_t hash, __int128 weight) {
    for (int bit = 0; bit < 64; bit++)
        ones[bit] = add_saturating(ones[bit], hash >> bit & 1 ? weight : 0);
    total = add_saturating(total, weight);
    any |= weight != 0;
}

void Votes::add(const Votes& other) {
    for (int bit = 0; bit < 64; bit++)
        ones[bit] = add_saturating(ones[bit], other.ones[bit]);
    total = add_saturating(total, other.total);
    any |= other.any;
}

void Votes::add(const FeatureCount* features, size_t count, SimdLevel highest) {
    for (const FeatureCount *at = features, *end = features + count; at < end;) {
        const FeatureCount* begin = at;
        uint64_t sum = 0;
        // A batch has as many features as keep the sum of all weights, and so each lane, within 32
        // bits.
        for (; at < end && sum + at->weight <= UINT32_MAX; at++)
            sum += at->weight;
        uint32_t sums[64];
        add_up(begin, at - begin, sums, highest);
        for (int bit = 0; bit < 64; bit++)
            // A document's sums are far from the limit, so these need not saturate.
            ones[bit] += sums[bit];
        total += sum;
        any |= sum != 0;
    }
}

bool Votes::are_possible() const {
    auto is_possible = [](__int128 sum) { return sum >= -kGreatestSum && sum <= kGreatestSum; };
    bool possible = is_possible(total) && any <= 1;
    for (int bit = 0; bit < 64; bit++)
        possible &= is_possible(ones[bit]);
    return possible;
}

std::optional<uint64_t> Votes::fingerprint() const {
    uint64_t fingerprint = 0;
    for (int bit = 0; bit < 64; bit++)
        // This tests ones - (total - ones) > 0, so a tie gives 0.
        fingerprint |= uint64_t(2 * ones[bit] > total) << bit;
    return any ? std::optional(fingerprint) : std::nullopt;
}

bool fixed_point_weight(double weight, __int128* out) {
    if (!(weight >= -kGreatestWeight && weight <= kGreatestWeight))
        return false;
    // 2^40 * 2^40 does not fit in 64 bits, so the whole part and the fraction are converted
    // separately. All steps but the last are exact.
    double whole = trunc(weight);
    double rest = (weight - whole) * double(1LL << kWeightFraction);
    *out = (__int128(int64_t(whole)) << kWeightFraction) + int64_t(rint(rest));
    return true;
}

} // namespace simhash
