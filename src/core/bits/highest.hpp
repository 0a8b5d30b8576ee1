// Masks of the highest bits of a word.
#pragma once

#include <bit>
#include <cstdint>

namespace simhash {

// A word with its highest `count` (0..64) bits set.
constexpr uint64_t leading_mask(int count) {
    return count == 0 ? 0 : ~uint64_t{0} << (64 - count);
}

// The highest `count` of the bits that are set in `word`; all of them if there are fewer.
constexpr uint64_t highest_ones(uint64_t word, int count) {
    uint64_t taken = 0;
    for (; count > 0; --count) {
        uint64_t bit = std::bit_floor(word);
        taken |= bit;
        word ^= bit;
    }
    return taken;
}

} // namespace simhash
