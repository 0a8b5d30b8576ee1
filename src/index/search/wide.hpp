// Scans for values of several lanes; at the end, of any number of lanes.
//
// Within a radius: each lane is searched within its share of the radius, or where one lane decides
// within the whole of it (lane_radius()), one after the other. A lane with many matches holds them
// back until all lanes were searched. Then the radius is shared out again by what is left to do:
// those lanes drop matches, and others are searched within more bits. A row that several lanes find
// is returned once. Where the rows found outgrow work_mem, and where the radius is so large that it
// costs less, the rows of the first lane's posting table are read from end to end instead.
//
// In order of distance, by the threshold algorithm (Fagin, Lotem and Naor, PODS 2001): each lane
// has a scan in order of its own distance, and the scan that has come least far goes on. A row that
// no lane has returned yet is at least as far away, in each lane, as that lane's scan has come. The
// sum of these is a lower bound of its distance, and it never falls. The server computes the
// distance from the row and holds the row back until the bound has come up to it. Where the next
// step of a lane would be a pass over its posting table, the nearest rows are far. If the query has
// a radius that is cheap to search, the rows that are left within it come in no order, and the
// server sorts them. Otherwise the distances of all rows that are left are added up
// (whole_distances.hpp).
//
// The server compares each row with the query again: a row beyond the radius may be returned.
#pragma once

#include "index/search/lane_scan.hpp"
#include "index/search/whole_distances.hpp"

namespace simhash {

class WideScan {
  public:
    // `lanes` has the scans of all lanes.
    WideScan(std::span<LaneScan*> lanes, MemoryContext memory)
        : lanes_(lanes), distances_(lanes), seen_(memory) {}

    // Begins a scan of the rows that may lie within `radius` of the value whose lanes are
    // `centers`. The lanes must outlive the scan.
    void start_within(std::span<const uint64_t> centers, const ValueRadius& radius);
    // Begins a scan of the rows that may lie within `greatest` of that value, in order of bound().
    // The distances of lanes must add up.
    void start_nearest(std::span<const uint64_t> centers, const ValueRadius& greatest);
    // Loads rows that were not loaded before. Returns false at the end.
    bool next_leaf();

    PostingReader* postings() { return &lanes_[lane_]->postings; }
    // No row that is loaded now, or later, is nearer than this; 0 in a scan without an order.
    int bound() const { return bound_; }
    // True where bitmaps are made: they take a row twice.
    bool may_repeat = false;

  private:
    enum class Step {
        kLanes,      // searches one lane after the other within its radius
        kEverything, // reads the first lane's posting table
        kNearest,    // goes on with the lane that has come least far
        kDistances,  // returns rows by their added-up distances
    };

    void start(std::span<const uint64_t> centers, const ValueRadius& radius);
    const ProbePlan& first_plan();
    int first_radius() const;
    bool may_share_again() const;
    void start_lane();
    bool next_lane();
    bool share_again();
    void begin_lanes();
    void begin_everything();
    void begin_rest();
    bool drop_seen();
    bool next_of_lanes();
    bool next_of_everything();
    void choose_lane();
    bool next_nearest();
    bool next_distance();

    std::span<LaneScan*> lanes_;
    std::span<const uint64_t> centers_;
    ValueRadius radius_ = {LaneRule::kSum, kNoRadius};
    Step step_ = Step::kLanes;
    size_t lane_ = 0;              // whose turn it is
    int radii_[kMaxLanes] = {};    // [lanes_.size()] within which the lanes are searched
    bool is_shared_again_ = false; // into radii_, by share_again()
    int bound_ = 0;
    WholeDistances distances_;
    SeenRows seen_;
};

// ---- values of any number of lanes ----

// Scans for values that have any number of lanes, such as the winnowed hashes of texts: the rows
// that have a lane in common with the query. The lanes are looked up one after the other, and a row
// that several of them find is returned once. The server compares each row with the query again.
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
