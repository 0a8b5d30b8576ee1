// Fingerprints in memory, with room to sort them by some of their bits, a block, so that those that
// agree in it are adjacent. The caller owns the memory.
#pragma once

#include <bit>
#include <initializer_list>

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

// Up to this many bits few passes sort by a block.
constexpr int kMaxBlockBits = 24;

// A permutation of the 64 bits that brings those of a block to the front. Each segment of adjacent
// bits is rotated to its place.
class BlockFirst {
  public:
    explicit BlockFirst(uint64_t block) : bits_(std::popcount(block)) {
        int placed = 0;
        for (uint64_t rest : {block, ~block})
            for (int length; rest != 0; placed += length, segment_count_++) {
                block_segment_count_ += placed < bits_;
                int above = std::countl_zero(rest);
                length = std::countl_one(rest << above);
                uint64_t segment = leading_mask(length) >> above;
                segments_[segment_count_] = {segment, above - placed};
                rest ^= segment;
            }
    }

    uint64_t apply(uint64_t fingerprint) const { return placed(fingerprint, segment_count_); }
    uint64_t invert(uint64_t key) const {
        uint64_t fingerprint = 0;
        for (int i = 0; i < segment_count_; i++)
            fingerprint |= std::rotr(key, segments_[i].rotation) & segments_[i].bits;
        return fingerprint;
    }

    // The bits of a block of one or more as a number, which has this many.
    int bits() const { return bits_; }
    uint64_t number(uint64_t fingerprint) const {
        return placed(fingerprint, block_segment_count_) >> (kFingerprintBits - bits_);
    }

  private:
    struct Segment {
        uint64_t bits; // before they are rotated
        int rotation;
    };

    uint64_t placed(uint64_t fingerprint, int segments) const {
        uint64_t key = std::rotl(fingerprint & segments_[0].bits, segments_[0].rotation);
        for (int i = 1; i < segments; i++)
            key |= std::rotl(fingerprint & segments_[i].bits, segments_[i].rotation);
        return key;
    }

    int bits_;
    int segment_count_ = 0, block_segment_count_ = 0; // those of the block are the first
    Segment segments_[kFingerprintBits];
};

} // namespace simhash
