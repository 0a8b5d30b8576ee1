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
    using Sum [[gnu::aligned(8)]] = __int128;

    Sum ones[64] = {}; // by bit
    Sum total = 0;
    bool any = false; // a feature whose weight is not 0

    void add(uint64_t hash, __int128 weight);
    void add(const Votes& other);

    // False where there is no feature, which has no fingerprint.
    bool fingerprint(uint64_t* out) const;
};

// A caller's weight as a fixed-point number with kWeightFraction bits after the point, rounded to
// nearest, halves to even. False for NaN, infinite, and beyond +-kGreatestWeight.
constexpr int kWeightFraction = 40;
constexpr double kGreatestWeight = 1099511627776.0; // 2^40
bool fixed_point_weight(double weight, __int128* out);

// The hot loop, for a document's own weights: 16-bit sums, eight to a SIMD register, carried into
// Votes before they can overflow. A weight is added in two parts, its low twelve bits and the rest,
// which most features do not have.
class VoteBlock {
  public:
    explicit VoteBlock(Votes& votes) : votes_(votes) {}

    void add(uint64_t hash, uint64_t weight) {
        if (weight > kGreatestFast) {
            votes_.add(hash, __int128(weight));
            return;
        }
        add(low_, 0, hash, uint32_t(weight) & (kUnit - 1));
        if (weight >= kUnit)
            add(high_, kUnitBits, hash, uint32_t(weight) >> kUnitBits);
    }

    void flush() {
        carry(low_, 0);
        carry(high_, kUnitBits);
    }

  private:
    static constexpr int kUnitBits = 12;
    static constexpr uint32_t kUnit = 1 << kUnitBits;
    static constexpr uint64_t kGreatestFast = kUnit * kUnit - 1;
    using Lanes [[gnu::vector_size(16), gnu::may_alias]] = uint16_t;

    struct Sums {
        Lanes ones[8] = {}; // by byte of the hash, its lowest bit first
        uint32_t total = 0; // of all weights since the last carry
    };

    // Each byte of the hash selects eight lanes.
    void add(Sums& sums, int shift, uint64_t hash, uint32_t weight) {
        if (sums.total + weight > UINT16_MAX)
            carry(sums, shift);
        const uint16_t w = uint16_t(weight);
        const Lanes weights = {w, w, w, w, w, w, w, w};
        for (int byte = 0; byte < 8; byte++)
            sums.ones[byte] +=
                *reinterpret_cast<const Lanes*>(kSelect[hash >> (8 * byte) & 255]) & weights;
        sums.total += weight;
    }

    void carry(Sums& sums, int shift);

    struct Selection {
        alignas(16) uint16_t of[256][8];
        constexpr const uint16_t* operator[](size_t byte) const { return of[byte]; }
    };
    static const Selection kSelect;

    Votes& votes_;
    Sums low_, high_;
};

} // namespace simhash
