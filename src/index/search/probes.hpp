// Makes the ranges of keys that the probes of a plan look through, in the plan's order, fetches
// their leaves ahead, and collects the matching fingerprints from them.
#pragma once

#include "index/search/matches.hpp"
#include "index/search/searched_index.hpp"

namespace simhash {

class Probes {
  public:
    Probes(SearchedIndex* index, Matches* matches) : index_(index), matches_(matches) {}

    // Begins with the first range of `plan` around the center of the filter's ball, and collects
    // the fingerprints that the filter takes. `searched` is a plan around the same center whose
    // ranges were searched before, or null: ranges that both plans have are left out.
    void start(const ProbePlan* plan, const Filter& filter, const ProbePlan* searched = nullptr);

    // Returns a cursor over the range whose turn it is, or null after the last one.
    LeafCursor* current() { return next_ < count_ || fetch_more() ? &ranges_[next_] : nullptr; }
    // True when the current range is one of the posting table. Expects that there is a range.
    bool current_has_postings() const { return table_of(origins_[next_]) == 0; }
    void pass() { next_++; }

    // Collects from all ranges that are left. If the matches are to be looked up `in_order`,
    // fetches the leaves of the first ones, which arrive while other ranges are searched. Returns
    // false if the matches are full. Expects no lock, leaves neither pin nor lock.
    bool collect(bool in_order);

  private:
    // The number of ranges whose leaves are fetched together: the first time, and from then on.
    static constexpr int kFirstAhead = 4;
    static constexpr int kAhead = 16;

    int searched_threshold(const Probe& probe) const;
    void begin_probe();
    bool make_range(LeafCursor* range);
    bool fetch_more();
    void collect_leaf();

    SearchedIndex* index_;
    Matches* matches_;
    const ProbePlan *plan_ = nullptr, *searched_ = nullptr;
    Filter filter_;
    struct Origin {
        int probe;       // its number in the plan
        uint64_t target; // the center's key in its tree
    };
    int table_of(const Origin& origin) const { return plan_->probes[origin.probe].table; }

    LeafCursor ranges_[kAhead]; // [count_] ranges before next_ are passed
    Origin origins_[kAhead];    // [count_] of each range
    int count_ = 0, next_ = 0;
    Origin origin_;                         // the probe whose ranges are being made
    PrefixNeighbours neighbours_{0, 1, -1}; // the prefixes of its ranges that are not made yet
};

} // namespace simhash
