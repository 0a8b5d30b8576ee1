// A permutation of the 64 bits. It brings the bits of a mask to the front, in their order, and puts
// the others after them, from the one after the mask's last bit down and round to the highest:
//
//     fp     a b c d e f g h          mask   0 0 1 1 0 0 0 0
//     key    c d | e f g h a b
//
// A segment of adjacent bits moves as one piece, so a permutation is a few rotations, each of the
// bits of a mask. Segments that move equally far share a rotation. The masks of layouts take one to
// four rotations; any mask takes at most 64.
#pragma once

#include <bit>
#include <cstdint>

#include "core/bits/distance.hpp"

namespace simhash {

class Permutation {
  public:
    // The empty mask leaves the bits as they are.
    explicit Permutation(uint64_t mask) {
        int prefix_bits = std::popcount(mask);
        int to_prefix = 0; // bits already placed at the front
        // and after the prefix, where those after the mask's last bit go before
        int to_rest = prefix_bits + std::countr_zero(mask);
        for (int from = 0; from < kFingerprintBits;) { // positions are counted from bit 63 down
            bool in_prefix = (mask << from) >> (kFingerprintBits - 1);
            if (mask << from == 0)
                to_rest = prefix_bits;
            int length = std::countl_one((in_prefix ? mask : ~mask) << from);
            int& to = in_prefix ? to_prefix : to_rest;
            add_segment(segment_mask(from, length), from - to);
            to += length;
            from += length;
        }
    }

    uint64_t apply(uint64_t fingerprint) const {
        uint64_t key = 0;
        for (int i = 0; i < rotation_count_; i++)
            key |= std::rotl(fingerprint & masks_[i], rotations_[i]);
        return key;
    }

    uint64_t invert(uint64_t key) const {
        uint64_t fingerprint = 0;
        for (int i = 0; i < rotation_count_; i++)
            fingerprint |= std::rotr(key, rotations_[i]) & masks_[i];
        return fingerprint;
    }

  private:
    static uint64_t segment_mask(int from, int length) {
        uint64_t ones = ~uint64_t{0} << (kFingerprintBits - length);
        return ones >> from;
    }

    // rotation: bits to the left, may be negative.
    void add_segment(uint64_t mask, int rotation) {
        rotation &= kFingerprintBits - 1;
        int i = 0;
        while (i < rotation_count_ && rotations_[i] != rotation)
            i++;
        if (i == rotation_count_) {
            masks_[i] = 0;
            rotations_[i] = int8_t(rotation);
            rotation_count_++;
        }
        masks_[i] |= mask;
    }

    int rotation_count_ = 0;
    int8_t rotations_[kFingerprintBits]; // [rotation_count_], bits to the left
    uint64_t masks_[kFingerprintBits];   // [rotation_count_], bits of the fingerprint
};

} // namespace simhash
