// A permutation of the 64 bits of a fingerprint: it brings a block to the front and lets the bits
// after it follow, round to the highest ones. So it is a rotation.
//
//     fp     a b c d e f g h          block at 2, of 2 bits   0 0 1 1 0 0 0 0
//     key    c d | e f g h a b
#pragma once

#include <bit>
#include <cstdint>

namespace simhash {

class Permutation {
  public:
    // Of the block that so many bits stand before.
    explicit constexpr Permutation(int bits_before) : bits_before_(bits_before) {}

    constexpr uint64_t apply(uint64_t fingerprint) const {
        return std::rotl(fingerprint, bits_before_);
    }
    constexpr uint64_t invert(uint64_t key) const { return std::rotr(key, bits_before_); }

  private:
    int bits_before_;
};

} // namespace simhash
