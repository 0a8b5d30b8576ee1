// Reads the postings of a range of keys, leaf by leaf. It holds the postings of one leaf at a time,
// and the pin that protects their TIDs where the snapshot alone does not (README.md, "Scans").
#pragma once

#include "index/search/searched_index.hpp"
#include "server/arguments.hpp"

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
        postings_.remove_if([&](const Entry& posting) { return !wanted(posting); });
    }
    // False when all postings of the range were loaded and taken.
    bool is_reading() const { return !cursor_.at_end() || !is_empty(); }

    std::span<const Entry> postings() const { return postings_.all().subspan(next_); }
    bool is_empty() const { return next_ == postings_.size(); }
    const Entry& take() { return postings_[next_++]; }

  private:
    void release();

    SearchedIndex* index_;
    LeafCursor cursor_;
    Filter filter_;
    bool begun_ = false;
    Buffer pinned_ = InvalidBuffer;
    GrowingArray<Entry> postings_{server_memory()};
    size_t next_ = 0;
};

} // namespace simhash
