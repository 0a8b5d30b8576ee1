// One lane's part of a scan: all rows within a radius, in no order. First come the probes of the
// posting table, whose rows are returned as they are found. Then the scan collects the matches of
// the other probes and looks each one up in the posting table. If the matches outgrow work_mem, it
// reads all of the posting table once instead. If asked to, it holds the matches back where they
// are many, so that the caller can choose a smaller radius.
#pragma once

#include "index/search/nearest.hpp"

namespace simhash {

class LaneScan {
  public:
    // Takes its memory from the current context.
    explicit LaneScan(const SearchedIndex& of_lane)
        : index(of_lane), matches(&index), postings(&index), nearest(&index, &matches, &postings) {}
    // The parts have each other's addresses.
    LaneScan(const LaneScan&) = delete;
    LaneScan& operator=(const LaneScan&) = delete;

    SearchedIndex index;
    Matches matches;
    PostingReader postings;
    NearestScan nearest; // in order, by the same matches and postings: one of both runs at a time

    // Begins a scan of all rows that lie in `ball`. If it finds more than `few` matches, it holds
    // them back.
    void start(Ball ball, size_t few);
    // Begins a scan of the rows of these fingerprints or, if there are none, of all rows.
    void start(std::span<const uint64_t> fingerprints);
    // Loads the next leaf's postings. Returns false at the end, and while matches are held back.
    bool next_leaf();
    // Lets those of the matches go on that lie within a radius, at most the ball's.
    void release(int radius);

    bool is_holding() const { return step_ == Step::kHolding; }
    size_t loaded() const { return loaded_; }

  private:
    enum class Step { kProbePostings, kHolding, kLookUp, kReadRest };

    bool begin_next();
    void begin_rest();

    const ProbePlan* plan_ = nullptr;
    size_t few_ = SIZE_MAX, loaded_ = 0;
    Filter filter_; // for postings and matches; a looked-up fingerprint has passed it before
    Step step_ = Step::kLookUp;
};

} // namespace simhash
