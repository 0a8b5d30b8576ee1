// Blocks: a word cut into disjoint parts, the first of its bits in block 0. Their lengths differ by
// at most one bit, the longer ones first. Two words that differ in fewer bits than there are blocks
// agree in one of them at least.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/bits/highest.hpp"

namespace simhash {

// The bits before a block (0 .. count; of `count` itself, all) when word_bits bits are cut into
// `count` blocks. Where there are more blocks than bits, the last ones are empty.
constexpr int bits_before_block(int word_bits, int count, int block) {
    return block * (word_bits / count) + std::min(block, word_bits % count);
}

// The bits of a block (0 .. count - 1), in a word that stands in the leading word_bits bits.
constexpr uint64_t block_mask(int word_bits, int count, int block) {
    return leading_mask(bits_before_block(word_bits, count, block + 1)) ^
           leading_mask(bits_before_block(word_bits, count, block));
}

} // namespace simhash
