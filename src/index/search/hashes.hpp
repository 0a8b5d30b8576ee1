// Scans for values that have any number of lanes, such as the winnowed hashes of texts: the rows
// that have a lane in common with the query. The lanes are looked up one after the other, and a row
// that several of them find is returned once. The server compares each row with the query again.
#pragma once

#include "index/search/lane_scan.hpp"
#include "index/search/seen_rows.hpp"

namespace simhash {

class HashScan {
  public:
    HashScan(LaneScan* lane, MemoryContext memory) : lane_(lane), seen_(memory) {}

    // Begins a scan of the rows that have one of these lanes, which are stored ones and distinct.
    void start(std::span<const uint64_t> lanes);
    // Begins a scan of all rows that have a lane.
    void start_everything();
    // Loads rows into the lane's postings, none of them loaded before. Returns false at the end.
    bool next_leaf();

    // True where a row may be loaded more than once, as for a bitmap, which takes it once.
    bool may_repeat = false;

  private:
    void drop_seen();

    LaneScan* lane_;
    SeenRows seen_;
};

} // namespace simhash
