// Scans all rows within a radius, in no order. First come the probes of the posting table, whose
// rows are returned as they are found. Then the scan collects the matches of the other probes and
// looks each one up in the posting table. If the matches outgrow work_mem, it reads all of the
// posting table once instead.
#pragma once

#include "index/search/posting_reader.hpp"
#include "index/search/probes.hpp"

namespace simhash {

class WithinScan {
  public:
    WithinScan(SearchedIndex* index, Matches* matches, Probes* probes, PostingReader* postings)
        : index_(index), matches_(matches), probes_(probes), postings_(postings) {}

    // Begins a scan of all rows that lie in `ball` and in all `others`.
    void start(Ball ball, std::span<const Ball> others);
    // Loads the postings of the next leaf. Returns false at the end.
    bool next_leaf();

  private:
    enum class Step { kProbePostings, kLookUp, kReadRest };

    bool begin_next();
    void begin_rest();

    SearchedIndex* index_;
    Matches* matches_;
    Probes* probes_;
    PostingReader* postings_;
    const ProbePlan* plan_ = nullptr;
    Filter filter_; // for postings and matches; a looked-up fingerprint has passed it before
    Step step_ = Step::kLookUp;
};

} // namespace simhash
