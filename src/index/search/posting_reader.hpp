// Reads the postings of a range of keys, leaf by leaf. It holds the postings of one leaf at a time,
// and the pin that protects their TIDs where the snapshot alone does not (README.md, "Scans").
#pragma once

#include "index/search/searched_index.hpp"
#include "server/growing.hpp"

#include <algorithm>

namespace simhash {

class PostingReader {
  public:
    explicit PostingReader(SearchedIndex* index) : index_(index) {}

    // True when the leaf stays pinned for as long as its postings are loaded (rule 4).
    bool keeps_pin = false;

    // Begins to read a range. next_leaf() loads the postings that the filter takes.
    void start(const LeafCursor& cursor, const Filter& filter);
    // Begins a pass: reads the posting table from end to end.
    void start_pass(const Filter& filter);
    // Ends the range: drops the loaded postings and the pin.
    void stop();
    // Loads the postings of the next leaf that has any. Returns false at the range's end. Expects
    // no lock, leaves none. Drops the pin on the last leaf; keeps one on this leaf if keeps_pin.
    bool next_leaf();

    // Loads rows that the scan has from elsewhere, and ends the range. Their fingerprints do not
    // matter.
    void load(std::span<const uint64_t> tids);
    // Keeps the loaded postings for which wanted(posting) is true. Expects that none was taken.
    void keep_if(const auto& wanted) {
        Entry* end = std::remove_if(postings_, postings_ + count_,
                                    [&](const Entry& posting) { return !wanted(posting); });
        count_ = int(end - postings_);
    }
    // False when all postings of the range were loaded and taken.
    bool is_reading() const { return !cursor_.at_end() || !is_empty(); }

    std::span<const Entry> postings() const { return {postings_ + next_, size_t(count_ - next_)}; }
    bool is_empty() const { return next_ == count_; }
    const Entry& take() { return postings_[next_++]; }

  private:
    void release();
    void resize(size_t count) {
        make_room(index_->memory(), &postings_, &capacity_, count);
        count_ = int(count);
    }

    SearchedIndex* index_;
    LeafCursor cursor_;
    Filter filter_;
    bool begun_ = false;
    Buffer pinned_ = InvalidBuffer;
    Entry* postings_ = nullptr; // [capacity_]
    size_t capacity_ = 0;
    int count_ = 0, next_ = 0;
};

} // namespace simhash
