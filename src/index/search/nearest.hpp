// Scans ordered by distance: exact nearest neighbours, found as they are asked for.
//
// A scan goes on in stages of growing radius around the target. Each stage is like a query within
// its radius. It leaves out the fingerprints that earlier stages returned, sorts the others by
// distance, and looks them up one at a time:
//
//     stage      radius 3          radius 5        radius 7       ...   the last
//     returns    distances 0..3    4..5            6..7                 the others
//
// So a LIMIT that is reached near by costs one cheap stage. A LIMIT that is reached far out costs
// little more than its last stage alone, because stages beyond the near ones look ahead: they hold
// back matches up to a far radius until the stage of these comes. No later stage has to search the
// same ranges again.
//
// If a radius would cost as much as reading the posting table from end to end, the stage is a pass
// over the table instead. Its radius grows until some hundreds of matches are to be expected; in
// the next stage it grows until there are many more. If there are too many matches to look them up
// one by one, the last stage begins. Its first pass finds out which distances occur. Each further
// pass returns the rows at one distance, straight from the leaves. So at most 65 passes return
// everything, whatever the size, without memory for matches.
//
// If the query has a condition on another center, and the ball around that one is cheap to search,
// one stage is enough: it sorts the fingerprints in that ball by distance from the target.
#pragma once

#include "index/search/matches.hpp"
#include "index/search/posting_reader.hpp"

namespace simhash {

class NearestScan {
  public:
    NearestScan(SearchedIndex* index, Matches* matches, PostingReader* postings)
        : index_(index), matches_(matches), postings_(postings) {}

    // Begins a scan that returns rows of a ball in order of the distance from the target. The first
    // stage has the layout's radius, or `first_radius` if that is smaller.
    void start(uint64_t target, const Ball& ball, int first_radius);
    // Takes one step towards the next leaf, and loads its postings, which are all at one distance,
    // frontier(), or none yet. Returns false at the end. Expects that the loaded ones were taken.
    bool go_on() { return postings_->next_leaf() || begin_next(); }
    // No row that was not returned yet is nearer than this.
    int frontier() const;
    // True when the next step is in a pass over the posting table, or costs about as much.
    bool is_at_pass();

  private:
    Filter filter(int radius) const { return {{target_, radius}, done_radius_, ball_}; }
    double expected_matches(int radius) const;
    bool are_too_many() const;
    bool collect_by_pass();
    bool collect_by_probes(const ProbePlan* plan, int far_radius);
    int far_radius() const;
    bool collect_stage();
    bool begin_stage_elsewhere();
    int next_radius() const;
    bool begin_stage();
    bool begin_last_stage();
    bool begin_pass(int distance);
    bool begin_next();

    SearchedIndex* index_;
    Matches* matches_;
    PostingReader* postings_;
    uint64_t target_ = 0;
    Ball ball_ = {0, kFingerprintBits};
    bool is_last_stage_ = false;      // whose passes return one distance each
    int radius_ = kNoRadius;          // of the stage, or of the pass
    int first_radius_ = kNoRadius;    // of the first stage
    int looked_up_ = 0;               // distance of the match that was looked up last
    int done_radius_ = kNoRadius;     // all rows within it were returned
    int greatest_radius_ = kNoRadius; // at which a row can lie in the ball
    // The plan whose ranges were searched last, or null. The matches that they have within
    // searched_radius_ were returned or are held back.
    const ProbePlan* searched_ = nullptr;
    int searched_radius_ = kNoRadius;
    bool looks_ahead_ = true; // false once the matches of a far radius have outgrown work_mem
    bool distance_occurs_[kFingerprintBits + 1]; // set by the first pass of the last stage
};

} // namespace simhash
