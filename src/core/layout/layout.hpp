// Layouts: which block tables an index keeps for its radius (Manku, Jain, Das Sarma, WWW 2007,
// section 3.1).
//
// A lane is cut into blocks (blocks.hpp), and each block is the prefix of one table. At most
// `radius` blocks can hold the differences of two lanes within the radius. So with radius + 1
// tables some block is equal, and one exact probe for each table finds everything:
//
//   radius 3     |  A 16  |  B 16  |  C 16  |  D 16  |      tables A, B, C, D: 16 bits
//
// With fewer tables a query enumerates neighbours of their prefixes (probe_plan.hpp); more would
// have shorter prefixes.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/bits/distance.hpp"
#include "core/bits/highest.hpp"
#include "core/bits/permutation.hpp"
#include "core/layout/blocks.hpp"

namespace simhash {

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
    return {radius, std::min({max_tables, radius + 1, lane_bits}), 1, false, lane_bits};
}

} // namespace simhash
