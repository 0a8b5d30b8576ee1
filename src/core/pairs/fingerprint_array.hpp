// Fingerprints in memory, with room to sort them by some of their bits, a block, so that those that
// agree in it are adjacent. The caller owns the memory.
#pragma once

#include <bit>

#include "core/bits/fingerprint.hpp"
#include "core/bits/pause.hpp"

namespace simhash {

struct FingerprintArray {
    uint64_t* fingerprints; // [count]
    uint64_t* scratch;      // [count]
    size_t count;

    FingerprintArray part(size_t begin, size_t end) const {
        return {fingerprints + begin, scratch + begin, end - begin};
    }
};

// A number of 24 bits fits into uint32_t, and three digits of 8 bits or more hold it.
constexpr int kMaxBlockBits = 24;

// A fingerprint's bits in a block of 1 .. kMaxBlockBits bits, as a number: one shift for each
// segment of adjacent bits.
class BlockBits {
  public:
    explicit BlockBits(uint64_t block) {
        int below = 0; // bits taken from lower segments
        for (uint64_t rest = block; rest != 0; segment_count_++) {
            int low = std::countr_zero(rest);
            // The block's bits need not be adjacent, where bits between them do not vary.
            int length = std::countr_one(rest >> low);
            uint64_t ones = ~uint64_t{0} >> (kFingerprintBits - length);
            shifts_[segment_count_] = low - below;
            masks_[segment_count_] = ones << below;
            rest &= ~(ones << low);
            below += length;
        }
    }

    uint32_t operator()(uint64_t fingerprint) const {
        uint64_t number = fingerprint >> shifts_[0] & masks_[0];
        for (int i = 1; i < segment_count_; i++)
            number |= fingerprint >> shifts_[i] & masks_[i];
        return uint32_t(number);
    }

  private:
    int segment_count_ = 0;
    int shifts_[kMaxBlockBits];
    uint64_t masks_[kMaxBlockBits];
};

// Radix sort by the bits of a block.
class BlockSort {
  public:
    // The sort is stable, but nothing relies on it. The order of the numbers is that of BlockBits.
    void sort(const FingerprintArray& array, uint64_t block, Pause pause);

  private:
    static constexpr int kMaxDigitBits = 11;
    static constexpr int kMaxPasses = 3;

    void count_digits(const FingerprintArray& array, const BlockBits& number, int passes,
                      int digit_bits, Pause pause);

    uint32_t counts_[kMaxPasses][1 << kMaxDigitBits];
};

} // namespace simhash
