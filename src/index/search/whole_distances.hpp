// The distances of whole values from a query, added up lane by lane, for an order by distance whose
// nearest rows are far: one pass over each lane's posting table.
//
// A row has one posting in each lane's table. So the sum of its lanes' distances is the distance of
// its value. The sums stand in an array, in order of TID. Where the memory of a hash table does not
// hold all of them, the table's blocks are taken in parts, each with a pass of its own over all
// lanes.
//
// Each pass keeps the nearest thousands of rows that were not returned yet, which are given out in
// order; the next one many more, up to half of what work_mem holds; and so on, until nobody asks
// for more.
#pragma once

#include "core/layout/lane_radii.hpp"
#include "index/search/lane_scan.hpp"
#include "index/search/seen_rows.hpp"

namespace simhash {

class WholeDistances {
  public:
    // `lanes` has the scans of all lanes. Takes its memory from the current context.
    explicit WholeDistances(std::span<LaneScan> lanes) : lanes_(lanes) {}

    // Begins with the distances from the value whose lanes are `centers`. Leaves out the rows in
    // `seen` and those beyond `greatest`.
    void start(std::span<const uint64_t> centers, int greatest, const SeenRows* seen);
    // Returns the TIDs of rows at the next distance; none at the end. Of many rows at one distance
    // it returns some at a time.
    std::span<const uint64_t> next();
    // Of the rows that next() returned.
    int distance() const { return distance_; }

  private:
    static_assert(kMaxLanes * kFingerprintBits < UINT16_MAX, "sums_ has 16 bits for each");
    static constexpr size_t kFirstRows = 4096; // that a pass keeps, at least
    static constexpr size_t kGrowth = 16;      // each further one so many times as many
    static constexpr size_t kMostRows = 4096;  // that next() returns

    void visit_postings(size_t lane, const auto& visit);
    void find_extent();
    void add_up(uint64_t first_block, uint64_t end_block);
    void gather();

    std::span<LaneScan> lanes_;
    std::span<const uint64_t> centers_;
    const SeenRows* seen_ = nullptr;
    int greatest_ = kNoRadius;

    uint64_t blocks_ = 0;  // of the table
    uint64_t offsets_ = 0; // greatest offset of a row on a block
    // The sums of a part of the blocks, [part_blocks_ * offsets_]: for each row its distance plus
    // 1; 0 where there is no row.
    GrowingArray<uint16_t> sums_{server_memory()};
    uint64_t part_blocks_ = 0;
    bool holds_all_ = false; // there is one part, and sums_ has it

    int distance_ = kNoRadius;
    size_t wanted_ = kFirstRows;
    // In order: a distance, and in the lower 48 bits a TID. When a row is taken, the distance goes.
    GrowingArray<uint64_t> gathered_{server_memory()};
    uint64_t last_ = 0;     // of those gathered so far; no TID is 0
    bool has_more_ = false; // perhaps: the last pass found as many rows as it keeps
    size_t taken_ = 0;
};

} // namespace simhash
