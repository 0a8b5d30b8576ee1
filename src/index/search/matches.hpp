// A list of fingerprints that a scan found in block tables. The scan looks them up in the posting
// table one by one, in order.
#pragma once

#include "index/search/searched_index.hpp"

namespace simhash {

class Matches {
  public:
    explicit Matches(SearchedIndex* index) : index_(index) {}

    void clear();
    // Adds the fingerprints. If they would not fit into work_mem, adds none and is_full() from then
    // on: the list is incomplete then. Skips the first one if it repeats the last one of the list.
    void add(std::span<const uint64_t> fingerprints);
    bool is_full() const { return is_full_; }
    // Adds the fingerprints of a query, which is in memory, whether they fit into work_mem or not.
    void append(std::span<const uint64_t> fingerprints);
    size_t count() const { return count_; }
    std::span<const uint64_t> all() const { return {fingerprints_, count_}; }
    // Sorts the matches within `radius` of the target by distance from it, and drops repetitions.
    // take() returns only these; the others are held back.
    void sort_by_distance(uint64_t target, int radius = kFingerprintBits);
    // Drops those that do not lie in the ball. Expects that none was taken.
    void drop_beyond(Ball ball);
    // Forgets all matches but those that are held back.
    void clear_taken() { count_ = next_ = fetched_ = held_; }

    bool all_taken() const { return next_ == count_; }
    // The next match. Expects that not all are taken.
    uint64_t next() const { return fingerprints_[next_]; }
    // Fetches the leaves of the next few matches ahead. Expects no lock.
    void fetch_ahead();
    LeafCursor take();

  private:
    static constexpr int kLookupsAhead = 8;

    SearchedIndex* index_;
    uint64_t* fingerprints_ = nullptr; // [capacity_]
    size_t count_ = 0, capacity_ = 0, limit_ = 0;
    size_t held_ = 0;                   // the first held_ matches are held back
    size_t next_ = 0, fetched_ = 0;     // matches before next_ are taken, before fetched_ fetched
    LeafCursor lookups_[kLookupsAhead]; // of matches that are fetched; match i is at i % size
    bool is_full_ = false;
};

} // namespace simhash
