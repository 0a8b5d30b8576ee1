// A permutation of the 64 bits that brings the bits of a mask to the front, in their order:
//
//     key = pext(fp, mask) << (64 - p) | pext(fp, ~mask),   p = popcount(mask)
//
//     fp    a b c d e f g h          mask   0 0 1 1 0 0 0 1
//     key   c d h | a b e f g        p = 3
//
// Every run of bits moves as one piece, so a permutation is a few (mask, rotate) segments: two runs
// that move equally far share one. The masks of layouts have two to four segments; any mask has at
// most 64.
#pragma once

#include <bit>
#include <cstdint>

#include "core/bits/distance.hpp"

namespace simhash {

class Permutation {
  public:
    explicit Permutation(uint64_t mask) : prefix_bits_(std::popcount(mask)) {
        int to_prefix = 0;                             // bits already placed at the front
        int to_rest = prefix_bits_;                    // and behind the prefix
        for (int from = 0; from < kFingerprintBits;) { // positions are counted from bit 63 down
            bool in_prefix = (mask << from) >> (kFingerprintBits - 1);
            int run = std::countl_one((in_prefix ? mask : ~mask) << from);
            int& to = in_prefix ? to_prefix : to_rest;
            add_segment(run_mask(from, run), from - to);
            to += run;
            from += run;
        }
    }

    uint64_t apply(uint64_t fingerprint) const {
        uint64_t key = 0;
        for (int i = 0; i < segment_count_; ++i)
            key |= std::rotl(fingerprint & masks_[i], rotations_[i]);
        return key;
    }

    uint64_t invert(uint64_t key) const {
        uint64_t fingerprint = 0;
        for (int i = 0; i < segment_count_; ++i)
            fingerprint |= std::rotr(key, rotations_[i]) & masks_[i];
        return fingerprint;
    }

    int prefix_bits() const { return prefix_bits_; }

  private:
    static uint64_t run_mask(int from, int length) {
        uint64_t ones = ~uint64_t{0} << (kFingerprintBits - length);
        return ones >> from;
    }

    // rotation: bits to the left, may be negative.
    void add_segment(uint64_t mask, int rotation) {
        rotation &= kFingerprintBits - 1;
        int i = 0;
        while (i < segment_count_ && rotations_[i] != rotation)
            ++i;
        if (i == segment_count_) {
            masks_[i] = 0;
            rotations_[i] = static_cast<int8_t>(rotation);
            ++segment_count_;
        }
        masks_[i] |= mask;
    }

    int prefix_bits_;
    int segment_count_ = 0;
    int8_t rotations_[kFingerprintBits]; // [segment_count_], bits to the left
    uint64_t masks_[kFingerprintBits];   // [segment_count_], bits of the fingerprint
};

} // namespace simhash
