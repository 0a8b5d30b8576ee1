// Fingerprints that were found in block tables, to be looked up in the posting table one by one, in
// order.
#pragma once

#include "index/search/searched_index.hpp"

namespace simhash {

class Matches {
  public:
    explicit Matches(SearchedIndex* index) : index_(index) {}

    // Forgets all; takes as many from now on as work_mem holds, or any number.
    void clear(bool limited = true);
    // Adds nothing, and is_full() from then on, where they would be too many: they are not all
    // there then. The first is left out where it repeats the last one there.
    void add(std::span<const uint64_t> fingerprints);
    bool is_full() const { return is_full_; }
    size_t count() const { return count_; }
    // Has those within a radius of the first target taken, in order of distance from it, then from
    // the next target, without repetitions. The others are held back.
    void sort_by_distance(std::span<const uint64_t> targets, int radius = kFingerprintBits);
    // Forgets all but those that were held back.
    void clear_taken() { count_ = next_ = fetched_ = held_; }

    bool all_taken() const { return next_ == count_; }
    // Has the leaves of the next few fetched ahead. Expects no lock.
    void fetch_ahead();
    // A cursor over the postings of the next.
    LeafCursor take();

  private:
    static constexpr int kLookupsAhead = 8;

    SearchedIndex* index_;
    uint64_t* fingerprints_ = nullptr; // [capacity_]
    size_t count_ = 0, capacity_ = 0, limit_ = 0;
    size_t held_ = 0;                   // so many, the first, are held back
    size_t next_ = 0, fetched_ = 0;     // those before it are taken, or have their leaf fetched
    LeafCursor lookups_[kLookupsAhead]; // of those fetched, by number
    bool is_full_ = false;
};

} // namespace simhash
