// The vote. See votes.hpp.
#include "core/votes.hpp"

#include <cmath>

namespace simhash {

namespace {

constexpr __int128 kGreatestSum = ~((__int128)1 << 127) >> 1; // half of the range, for 2 * ones

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
        fingerprint |= (uint64_t)(2 * ones[bit] > total) << bit;
    *out = fingerprint;
    return any;
}

bool fixed_point_weight(double weight, __int128* out) {
    if (!(weight >= -kGreatestWeight && weight <= kGreatestWeight))
        return false;
    // 2^40 * 2^40 does not fit 64 bits: the whole part and the rest are converted one by one. All
    // steps but the last are exact.
    const double whole = trunc(weight);
    const double rest = (weight - whole) * (double)(1LL << kWeightFraction);
    *out = ((__int128)(int64_t)whole << kWeightFraction) + (int64_t)rint(rest);
    return true;
}

#define SELECT(n)                                                                                  \
    { (n) & 1 ? ~0u : 0u, (n)&2 ? ~0u : 0u, (n)&4 ? ~0u : 0u, (n)&8 ? ~0u : 0u }
const VoteBlock::Lanes VoteBlock::kSelect[16] = {
    SELECT(0), SELECT(1), SELECT(2),  SELECT(3),  SELECT(4),  SELECT(5),  SELECT(6),  SELECT(7),
    SELECT(8), SELECT(9), SELECT(10), SELECT(11), SELECT(12), SELECT(13), SELECT(14), SELECT(15)};
#undef SELECT

void VoteBlock::flush() {
    for (int bit = 0; bit < 64; bit++)
        votes.ones[bit] += ones[bit / 4][bit % 4];
    votes.total += total;
    votes.any |= any;
    for (Lanes& lanes : ones)
        lanes = Lanes{};
    total = 0;
    any = false;
}

} // namespace simhash
