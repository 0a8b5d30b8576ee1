// The list of fingerprints that the probes of a plan find in block tables. The scan looks them up
// in the posting table one by one, in order.
#pragma once

#include "index/search/searched_index.hpp"
#include "server/arguments.hpp"

namespace simhash {

class Matches {
  public:
    explicit Matches(SearchedIndex* index) : index_(index) {}

    // ---- The list ----

    void clear();
    // Adds the fingerprints. If they would not fit into work_mem, adds none and is_full() from then
    // on: the list is incomplete then. Skips the first one if it repeats the last one of the list.
    void add(std::span<const uint64_t> fingerprints);
    bool is_full() const { return is_full_; }
    // Adds the fingerprints of a query, which is in memory, whether they fit into work_mem or not.
    void append(std::span<const uint64_t> fingerprints) { fingerprints_.append(fingerprints); }
    size_t count() const { return fingerprints_.size(); }
    std::span<const uint64_t> all() const { return fingerprints_.all(); }
    // Sorts the matches within `radius` of the target by distance from it, and drops repetitions.
    // take() returns only these; the others are held back.
    void sort_by_distance(uint64_t target, int radius = kFingerprintBits);
    // Drops those that do not lie in the ball. Expects that none was taken.
    void drop_beyond(Ball ball);
    // Forgets all matches but those that are held back.
    void clear_taken() {
        fingerprints_.cut_to(fingerprints_.data() + held_);
        next_ = fetched_ = held_;
    }

    bool all_taken() const { return next_ == count(); }
    // The next match. Expects that not all are taken.
    uint64_t next() const { return fingerprints_[next_]; }
    // Fetches the leaves of the next few matches ahead. Expects no lock.
    void fetch_ahead();
    LeafCursor take();

    // ---- Probes: the ranges of keys that they look through, in the plan's order ----

    // Begins with the first range of `plan` around the center of the filter's ball, for the
    // fingerprints that the filter takes. `searched` is a plan around the same center whose ranges
    // were searched before, or null: ranges that both plans have are left out.
    void start(const ProbePlan* plan, const Filter& filter, const ProbePlan* searched = nullptr);
    // Passes the range whose turn it is, if that is one of the posting table, and returns it.
    // Otherwise returns null. The range stands until the next call.
    const LeafCursor* take_postings() {
        return has_range() && table_of(origins_[next_range_]) == 0 ? &ranges_[next_range_++]
                                                                   : nullptr;
    }
    // Adds the fingerprints of all ranges that are left. If they are to be looked up `in_order`,
    // fetches the leaves of the first ones, which arrive while other ranges are searched. Returns
    // false if the list is full. Expects no lock, leaves neither pin nor lock.
    bool collect(bool in_order);

  private:
    static constexpr int kLookupsAhead = 8;
    // The number of ranges whose leaves are fetched together: the first time, and from then on.
    static constexpr int kFirstAhead = 4;
    static constexpr int kAhead = 16;

    struct Origin {
        int probe;       // its number in the plan
        uint64_t target; // the center's key in its tree
    };
    int table_of(const Origin& origin) const { return plan_->probes[origin.probe].table; }
    bool has_range() { return next_range_ < range_count_ || fetch_more(); }
    int searched_threshold(const Probe& probe) const;
    void begin_probe();
    bool make_range(LeafCursor* range);
    bool fetch_more();
    void collect_leaf();

    SearchedIndex* index_;
    GrowingArray<uint64_t> fingerprints_{server_memory()};
    size_t limit_ = 0;                  // most of them
    size_t held_ = 0;                   // the first held_ matches are held back
    size_t next_ = 0, fetched_ = 0;     // matches before next_ are taken, before fetched_ fetched
    LeafCursor lookups_[kLookupsAhead]; // of matches that are fetched; match i is at i % size
    bool is_full_ = false;

    const ProbePlan *plan_ = nullptr, *searched_ = nullptr;
    Filter filter_;
    LeafCursor ranges_[kAhead]; // [range_count_] those before next_range_ are passed
    Origin origins_[kAhead];    // [range_count_] of each range
    int range_count_ = 0, next_range_ = 0;
    Origin origin_;                         // the probe whose ranges are being made
    PrefixNeighbours neighbours_{0, 1, -1}; // the prefixes of its ranges that are not made yet
};

} // namespace simhash
