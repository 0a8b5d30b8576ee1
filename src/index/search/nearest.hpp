// Scans ordered by distance: exact nearest neighbours, lazily.
//
// A scan goes on in stages of growing radius around the target, each like a query within that
// radius, of which only what earlier stages have not returned is taken, sorted by distance, and
// looked up one fingerprint at a time:
//
//     stage      radius 3          radius 5        radius 7       ...   the last
//     returns    distances 0..3    4..5            6..7                 the others
//
// So a LIMIT that is reached near by costs one cheap stage. A far one costs little more than its
// last stage alone: stages beyond the near ones look ahead. They keep what they meet up to a far
// radius, until its stage comes, and so no later stage need search the same ranges again.
//
// Where a radius would cost as much as reading the posting table from end to end, a stage is such a
// pass instead, and its radius grows until some hundreds of matches are to be expected, and in the
// next stage many more. Where they are too many to be looked up one by one the last stage begins:
// one pass tells which distances occur, and each further pass returns one of them, straight from
// the leaves. At most 65 passes return everything, whatever the size, in no memory at all; matches
// of the earlier stages, which are few, are given up for the last stage where they outgrow
// work_mem.
//
// A condition on another center that is cheap to search for needs one stage only: what is in its
// ball, sorted by distance from the target.
//
// ORDER BY fp <~> a, fp <~> b: the stages follow the first distance, and fingerprints at the same
// one are sorted by the next. In the last stage each pass then keeps its distance's fingerprints.
#pragma once

#include "index/search/posting_reader.hpp"
#include "index/search/probes.hpp"

namespace simhash {

class NearestScan {
  public:
    NearestScan(SearchedIndex* index, Matches* matches, Probes* probes, PostingReader* postings)
        : index_(index), matches_(matches), probes_(probes), postings_(postings) {}

    // Rows are ordered by the distance from targets[0], then targets[1] ...; the first of `balls`
    // is the smallest.
    void start(std::span<const uint64_t> targets, std::span<const Ball> balls);
    // Loads the next postings, one leaf's. False at the end.
    bool next_leaf();

  private:
    enum class Step {
        kStage,  // the matches of a stage are looked up
        kPass,   // a pass of the last stage returns one distance
        kLookUp, // the matches of such a pass are looked up, where there are several targets
    };

    uint64_t target() const { return targets_[0]; }
    Filter filter(int radius) const { return {{target(), radius}, done_radius_, balls_}; }
    int find_greatest_radius() const;
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
    bool begin_lookup();
    bool begin_next();
    void add_matches_of_leaf();

    SearchedIndex* index_;
    Matches* matches_;
    Probes* probes_;
    PostingReader* postings_;
    std::span<const uint64_t> targets_;
    std::span<const Ball> balls_;
    Step step_ = Step::kStage;
    int radius_ = kNoRadius;              // of the stage, or of the pass
    int done_radius_ = kNoRadius;         // all within it was returned
    int greatest_radius_ = kNoRadius;     // that the balls leave
    const ProbePlan* searched_ = nullptr; // its ranges were searched: what they have ...
    int searched_radius_ = kNoRadius;     // ... within this radius was returned, or is held back
    bool looks_ahead_ = true;             // until work_mem does not suffice for it
    bool distance_occurs_[kFingerprintBits + 1]; // in the last stage
};

} // namespace simhash
