// Which block tables an index keeps for its radius (Manku, Jain, Das Sarma, WWW 2007, section 3.1).
//
// A lane is cut into blocks, and each block is the prefix of one table. At most
// `radius` blocks can hold the differences of two lanes within the radius. So with radius + 1
// tables some block is equal, and one exact probe for each table finds everything:
//
//   radius 3     |  A 16  |  B 16  |  C 16  |  D 16  |      tables A, B, C, D: 16 bits
//
// With fewer tables a query enumerates neighbours of their prefixes (probe_plan.hpp); more would
// have shorter prefixes.
#pragma once

#include <algorithm>
#include <bit>

#include "core/bits/fingerprint.hpp"

namespace simhash {

// A permutation of the 64 bits of a fingerprint: it brings a block to the front and lets the bits
// after it follow, round to the highest ones. So it is a rotation.
//
//     fp     a b c d e f g h          block at 2, of 2 bits   0 0 1 1 0 0 0 0
//     key    c d | e f g h a b
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

// Blocks: a lane cut into disjoint parts, with its highest bits in block 0. Their lengths differ by
// at most one bit; the longer blocks come first. Two lanes that differ in fewer bits than there are
// blocks agree in at least one block.

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

// A set of tables is a mask of 64 bits in the planner of probes.
constexpr int kMaxTables = 64;
// At 64 every fingerprint is within the radius, and there is nothing to lay out.
constexpr int kMaxLayoutRadius = 63;
constexpr int kMaxTrees = 255; // of an index; each page has the number of its tree in a byte

struct Layout {
    int radius;              // up to this distance, one exact probe per table finds everything
    int table_count;         // 1 .. kMaxTables
    int lane_count = 1;      // of a value: an index has these tables for each of its lanes
    bool lanes_vary = false; // a value has any number of lanes, all in the tables of one
    int lane_bits = kFingerprintBits; // that are cut into blocks, the leading ones of a lane
    uint32_t compared_columns = 0;    // bit i: column i, from 0, is in no lane (index/scope.hpp)
    int key_bits = kFingerprintBits;  // of a lane that are stored, the last ones
    int definition = 0;               // by which the index's lanes were computed

    // The bits before a table's block; before the end for table_count.
    int bits_before(int table) const { return bits_before_block(lane_bits, table_count, table); }
    int prefix_bits(int table) const { return bits_before(table + 1) - bits_before(table); }
    // The bits of its block, in the fingerprint.
    uint64_t mask(int table) const { return block_mask(lane_bits, table_count, table); }
    Permutation permutation(int table) const { return Permutation(bits_before(table)); }
};

// The layout of at most max_tables (1..64) tables for radius (0..63). Lanes have lane_bits (1..64)
// bits, the leading ones: tests prove layouts of short lanes by brute force.
constexpr Layout make_layout(int radius, int max_tables, int lane_bits = kFingerprintBits) {
    return {radius, std::min({max_tables, radius + 1, lane_bits}), 1, false, lane_bits, 0};
}

} // namespace simhash
