// The vote: each feature votes with its weight for every bit of its hash, and a fingerprint bit is
// 1 where the sum of (+weight where the hash has a 1, -weight where it has a 0) is above 0.
//
//   feature hashes (4 bits shown)   weight    bit 3  bit 2  bit 1  bit 0
//   1 0 1 0                            2        +2     -2     +2     -2
//   1 1 0 0                            1        +1     +1     -1     -1
//   sum                                         +3     -1     +1     -3    ->  1 0 1 0
//
// Only the weights of the ones are added up, with the total beside them: the sum is 2 * ones -
// total. Weights are integers (fixed-point from the door on), so the order of adding never matters.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simhash {

// Sums of any size, for weights that a caller gives. 128 bits hold 2^47 weights of the greatest
// size; beyond that sums stay at the limit instead of wrapping.
struct Votes {
    // A server's memory is aligned to 8 bytes, not to the 16 that the type would have.
    typedef __int128 Sum __attribute__((aligned(8)));

    Sum ones[64] = {}; // by bit
    Sum total = 0;
    bool any = false; // a feature whose weight is not 0

    void add(uint64_t hash, __int128 weight);
    void add(const Votes& other);

    // False where there is no feature, which has no fingerprint.
    bool fingerprint(uint64_t* out) const;
};

// A caller's weight as a fixed-point number with kWeightFraction bits behind the point, rounded to
// nearest, halves to even. False for NaN, infinite, and beyond +-kGreatestWeight.
constexpr int kWeightFraction = 40;
constexpr double kGreatestWeight = 1099511627776.0; // 2^40
bool fixed_point_weight(double weight, __int128* out);

// The hot loop, for a document's own weights: 32-bit sums, sixteen SIMD registers' worth, carried
// into Votes before they can overflow.
class VoteBlock {
  public:
    explicit VoteBlock(Votes& votes) : votes(votes) {}

    void add(uint64_t hash, uint64_t weight) {
        if (weight > kGreatestFast) {
            votes.add(hash, (__int128)weight);
            return;
        }
        if (total > UINT32_MAX - (uint32_t)weight)
            flush();
        add_fast(hash, (uint32_t)weight);
        any |= weight != 0;
        total += (uint32_t)weight;
    }

    void flush();

  private:
    static constexpr uint64_t kGreatestFast = 1u << 24;
    typedef uint32_t Lanes __attribute__((vector_size(16)));

    // Each nibble of the hash selects four lanes.
    void add_fast(uint64_t hash, uint32_t weight) {
        const Lanes weights = {weight, weight, weight, weight};
        for (int nibble = 0; nibble < 16; nibble++)
            ones[nibble] += kSelect[hash >> (4 * nibble) & 15] & weights;
    }

    static const Lanes kSelect[16];

    Votes& votes;
    Lanes ones[16] = {};
    uint32_t total = 0; // of all weights since the last flush
    bool any = false;
};

} // namespace simhash
