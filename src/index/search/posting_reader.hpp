// The postings of a range of keys, leaf by leaf: those of one leaf are there at a time, with the
// pin that protects them where the snapshot alone does not (README.md, "Scans").
#pragma once

#include "index/search/filter.hpp"
#include "index/search/searched_index.hpp"

namespace simhash {

class PostingReader {
  public:
    explicit PostingReader(SearchedIndex* index) : index_(index) {}

    // Whether the leaf whose postings are there stays pinned.
    bool keeps_pin = false;

    // Begins a range, of whose postings those are loaded that the filter takes.
    void start(const LeafCursor& cursor, const Filter& filter);
    // Ends it: nothing is there, nothing pinned.
    void stop();
    // Loads those of the next leaf that has any. False at the range's end. Expects no lock, leaves
    // none; the last leaf's pin goes, this one's stays if it is to.
    bool next_leaf();

    // What is there and was not yet taken.
    std::span<const Entry> postings() const { return {postings_ + next_, size_t(count_ - next_)}; }
    bool is_empty() const { return next_ == count_; }
    const Entry& take() { return postings_[next_++]; }

  private:
    void release();
    void keep(const Entry* found, int count);

    SearchedIndex* index_;
    LeafCursor cursor_;
    Filter filter_;
    bool begun_ = false;
    Buffer pinned_ = InvalidBuffer;
    Entry* postings_ = nullptr; // [capacity_]
    int count_ = 0, capacity_ = 0, next_ = 0;
};

} // namespace simhash
