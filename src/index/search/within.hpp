// A scan of all rows within a radius, in no order: first the probes of the posting table, whose
// rows are returned as they are found; then the matches of the other probes, each looked up in the
// posting table; or, where they outgrow work_mem, all of that table once.
#pragma once

#include "index/search/posting_reader.hpp"
#include "index/search/probes.hpp"

namespace simhash {

class WithinScan {
  public:
    WithinScan(SearchedIndex* index, Matches* matches, Probes* probes, PostingReader* postings)
        : index_(index), matches_(matches), probes_(probes), postings_(postings) {}

    // All rows in the ball and in the others. `heap`: the table whose rows will be looked at next,
    // if they are to be fetched ahead; or null.
    void start(Ball ball, std::span<const Ball> others, Relation heap);
    // Loads the next postings, one leaf's. False at the end.
    bool next_leaf();

  private:
    enum class Step { kProbePostings, kLookUp, kReadRest };

    bool begin_next();
    void begin_rest();
    void collect_one_leaf();
    void collect_meanwhile();
    void collect_rest();

    SearchedIndex* index_;
    Matches* matches_;
    Probes* probes_;
    PostingReader* postings_;
    Relation heap_ = nullptr;
    int row_bytes_ = 0; // that a row of it takes, typically
    const ProbePlan* plan_ = nullptr;
    Filter filter_; // of postings and of matches; what was looked up has passed it
    Step step_ = Step::kLookUp;
};

} // namespace simhash
