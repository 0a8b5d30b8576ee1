// Layouts: which block tables an index keeps for its radius. layout.cpp explains the construction.
#pragma once

#include <cstdint>

#include "core/bits/permutation.hpp"

namespace simhash {

// A set of tables is a mask of 64 bits in the planner of probes.
constexpr int kMaxTables = 64;
// At 64 every fingerprint is within the radius, and there is nothing to lay out.
constexpr int kMaxLayoutRadius = 63;
constexpr int kMaxTrees = 255; // of an index; each page has the number of its tree in a byte

struct Layout {
    int radius;                 // up to this distance, one exact probe per table finds everything
    int table_count;            // 1 .. kMaxTables
    uint64_t masks[kMaxTables]; // prefix masks; masks[0] is the leading bits of the fingerprint
    int lane_count = 1;         // of a value: an index has these tables for each of its lanes
    bool lanes_vary = false;    // a value has any number of lanes, all in the tables of one

    Permutation permutation(int table) const { return Permutation(masks[table]); }
};

// The layout with the longest shortest prefix among those of at most max_tables (1..64) tables for
// radius (0..63); among equals, the one with the fewest tables. With fewer than radius + 1 tables,
// that many disjoint blocks: a query then enumerates neighbours (probe_plan.hpp).
Layout make_layout(int radius, int max_tables);

// The same for lanes of lane_bits (1..64) bits, which are the leading ones: tests prove layouts of
// short lanes by brute force.
Layout make_layout_for_width(int lane_bits, int radius, int max_tables);

// Length of the shortest prefix among the layout's tables, in bits.
int shortest_prefix_bits(const Layout& layout);

} // namespace simhash
