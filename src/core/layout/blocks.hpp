// Blocks: a lane cut into disjoint parts, with its highest bits in block 0. Their lengths differ by
// at most one bit; the longer blocks come first. Two lanes that differ in fewer bits than there are
// blocks agree in at least one block.
#pragma once

#include <algorithm>
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

} // namespace simhash
