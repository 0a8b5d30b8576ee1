// A scan of all rows within a radius, in no order: first the probes of the posting table, whose
// rows are returned as they are found; then the matches of the other probes, each looked up in the
// posting table; or, where they outgrow work_mem, all of that table once.
#pragma once

#include "index/posting_reader.hpp"
#include "index/probes.hpp"

namespace simhash {

class WithinScan {
  public:
    explicit WithinScan(SearchedIndex* index)
        : index_(index), probes_(index), matches_(index->memory()) {}

    // All rows in the ball and in the others. `heap`: the table whose rows will be looked at next,
    // if they are to be fetched ahead; or null.
    void start(Ball ball, std::span<const Ball> others, Relation heap, PostingReader* postings);
    // Loads the next postings, one leaf's. False at the end.
    bool next_leaf(PostingReader* postings);

  private:
    enum class Step { kProbePostings, kLookUp, kReadRest };

    bool begin_next(PostingReader* postings);
    void collect_one_leaf();
    void collect_meanwhile(const PostingReader& postings);
    void collect_rest();

    SearchedIndex* index_;
    Relation heap_ = nullptr;
    int row_bytes_ = 0; // that a row of it takes, typically
    Filter filter_;
    Step step_ = Step::kLookUp;
    Probes probes_;
    Matches matches_;
};

} // namespace simhash
