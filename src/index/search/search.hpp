// Finds the rows that a scan's conditions ask for, leaf by leaf: first those that have a
// fingerprint, then, if wanted, the others, as an order by distance has NULLs last.
//
// Within a radius: each lane is searched within its share of the radius, or where one lane decides
// within the whole of it (lane_radius()), one after the other. A lane with many matches holds them
// back until all lanes were searched. Then the radius is shared out again by what is left to do:
// those lanes drop matches, and others are searched within more bits. A row that several lanes find
// is returned once. Where the rows found outgrow work_mem, and where the radius is so large that it
// costs less, the rows of the first lane's posting table are read from end to end instead. A value
// of one lane needs none of what adds up or remembers.
//
// In order of distance, by the threshold algorithm (Fagin, Lotem and Naor, PODS 2001): each lane
// has a scan in order of its own distance, and the scan that has come least far goes on. A row that
// no lane has returned yet is at least as far away, in each lane, as that lane's scan has come. The
// sum of these is a lower bound of its distance, and it never falls. The server computes the
// distance from the row and holds the row back until the bound has come up to it. Where the next
// step of one of several lanes would be a pass over its posting table, the nearest rows are far. If
// the query has a radius that is cheap to search, the rows that are left within it come in no
// order, and the server sorts them. Otherwise the distances of all rows that are left are added up
// (whole_distances.hpp).
//
// Where values have any number of lanes, such as the winnowed hashes of texts, the query's are
// looked up one after the other.
//
// The server compares each row with the query again if values have not one lane: a row beyond the
// radius may be returned.
#pragma once

#include "index/search/conditions.hpp"
#include "index/search/lane_scan.hpp"
#include "index/search/whole_distances.hpp"

namespace simhash {

class Search {
  public:
    // `lanes` has the scans of all lanes. Takes its memory from the current context.
    Search(const Conditions* conditions, std::span<LaneScan> lanes)
        : conditions_(*conditions), lanes_(lanes), distances_(lanes) {}

    // Begins to search for what the conditions say now. They and the lanes must outlive the search.
    // Expects that the search was stopped.
    // `may_repeat`: a row may be loaded more than once, as for a bitmap, which takes it once.
    void start(bool may_repeat);
    // Loads rows that were not loaded before. Returns false at the end.
    bool next_leaf();
    // Drops what is loaded, with the pin.
    void stop();

    PostingReader* postings() { return &lanes_[lane_].postings; }
    // True if the loaded rows have no fingerprint.
    bool is_among_nulls() const { return step_ == Step::kNulls; }
    // No row that is loaded now, or later, is nearer than this; of one lane, it is the distance of
    // the loaded ones. 0 in a search without an order.
    int bound() const { return bound_; }

  private:
    enum class Step {
        kLanes,      // searches one lane after the other within its first share of the radius
        kLanesAgain, // goes on with those whose share has grown, or whose matches were held back
        kEverything, // reads the first lane's posting table
        kNearest,    // goes on with the lane that has come least far
        kDistances,  // returns rows by their added-up distances
        kNulls,      // reads the null table
        kDone,
    };

    const ValueRadius& radius() const { return conditions_.radius(); }
    int share(size_t lane) const;
    // The plan for the first lane, whose radius is the greatest.
    const ProbePlan& first_plan() { return *lanes_[0].index.plan_for(share(0)); }
    bool may_share_again() const;
    bool start_lane_from(size_t from);
    void share_again();
    void begin_lanes();
    void begin_everything();
    void begin_within();
    void begin_nearest();
    void begin_rest();
    void begin_nulls();
    bool drop_seen();
    void choose_lane();
    bool go_on();

    const Conditions& conditions_;
    std::span<LaneScan> lanes_;
    std::span<const uint64_t> centers_; // or the targets of an order
    Step step_ = Step::kDone;
    size_t lane_ = 0;      // whose turn it is
    int radii_[kMaxLanes]; // [lanes_.size()] within which the lanes are searched
    int bound_ = 0;
    bool remembers_ = false; // what was loaded, in seen_
    WholeDistances distances_;
    SeenRows seen_;
};

} // namespace simhash
