// The vote. See votes.hpp.
#include "core/text/votes.hpp"

#include <cmath>

#include "core/bits/standalone.hpp"

namespace simhash {

namespace {

constexpr __int128 kGreatestSum = ~(__int128(1) << 127) >> 1; // half of the range, for 2 * ones

__int128 add_saturating(__int128 a, __int128 b) {
    const __int128 sum = a + b; // both are within half of the range
    return sum > kGreatestSum ? kGreatestSum : sum < -kGreatestSum ? -kGreatestSum : sum;
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

bool Votes::fingerprint(uint64_t* out) const {
    uint64_t fingerprint = 0;
    for (int bit = 0; bit < 64; bit++)
        fingerprint |= uint64_t(2 * ones[bit] > total) << bit;
    *out = fingerprint;
    return any;
}

bool fixed_point_weight(double weight, __int128* out) {
    if (!(weight >= -kGreatestWeight && weight <= kGreatestWeight))
        return false;
    // 2^40 * 2^40 does not fit 64 bits: the whole part and the rest are converted one by one. All
    // steps but the last are exact.
    const double whole = trunc(weight);
    const double rest = (weight - whole) * double(1LL << kWeightFraction);
    *out = (__int128(int64_t(whole)) << kWeightFraction) + int64_t(rint(rest));
    return true;
}

constexpr VoteBlock::Selection VoteBlock::kSelect = [] {
    Selection select{};
    for (int byte = 0; byte < 256; byte++)
        for (int bit = 0; bit < 8; bit++)
            select.of[byte][bit] = byte >> bit & 1 ? 0xFFFF : 0;
    return select;
}();

void VoteBlock::carry(Sums& sums, int shift) {
    for (int bit = 0; bit < 64; bit++)
        votes_.ones[bit] += uint64_t(sums.ones[bit / 8][bit % 8]) << shift;
    votes_.total += uint64_t(sums.total) << shift;
    votes_.any |= sums.total != 0;
    sums = Sums{};
}

} // namespace simhash
