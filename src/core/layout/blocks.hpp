// Blocks: a lane cut into disjoint parts, with its highest bits in block 0. Their lengths differ by
// at most one bit; the longer blocks come first. Two lanes that differ in fewer bits than there are
// blocks agree in at least one block.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/bits/highest.hpp"

namespace simhash {

// The number of bits before a block when lane_bits bits are cut into `count` blocks; all of them
// for block `count`. If there are more blocks than bits, the last blocks are empty.
constexpr int bits_before_block(int lane_bits, int count, int block) {
    return block * (lane_bits / count) + std::min(block, lane_bits % count);
}

// The bits of a block (0 .. count - 1), of a lane in the leading lane_bits bits.
constexpr uint64_t block_mask(int lane_bits, int count, int block) {
    return leading_mask(bits_before_block(lane_bits, count, block + 1)) ^
           leading_mask(bits_before_block(lane_bits, count, block));
}

// Whether a mask is not empty and its bits are adjacent.
constexpr bool is_block(uint64_t mask) {
    int before = std::countl_zero(mask);
    return mask != 0 && mask == (leading_mask(before + std::popcount(mask)) ^ leading_mask(before));
}

// The bits between the end of one block and the beginning of another, going round.
constexpr int bits_between(uint64_t block, uint64_t other) {
    // This counts from the last bit of the one to the first bit of the other; the bits of a key go
    // round.
    int bits = std::countl_zero(other) - (64 - std::countr_zero(block));
    return bits < 0 ? bits + 64 : bits;
}

} // namespace simhash
