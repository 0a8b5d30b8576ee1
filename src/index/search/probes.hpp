// The ranges of keys that the probes of a plan look through, in the plan's order, with their leaves
// fetched ahead; and the fingerprints that are collected from them.
#pragma once

#include "index/search/filter.hpp"
#include "index/search/matches.hpp"

namespace simhash {

class Probes {
  public:
    // What is collected goes to `matches`.
    Probes(SearchedIndex* index, Matches* matches) : index_(index), matches_(matches) {}

    // Begins with the first range of a plan around the center of the filter's ball; fingerprints
    // are collected that the filter takes. Ranges that are also those of another plan around that
    // center, searched before, are left out, as far as the two look at the same prefixes.
    void start(const ProbePlan* plan, const Filter& filter, const ProbePlan* searched = nullptr);

    // A cursor over the range whose turn it is; null after the last.
    LeafCursor* current() {
        return current_is_fetched() || fetch_more() ? &ranges_[next_] : nullptr;
    }
    // Whether the range whose turn it is was fetched ahead together with the one before.
    bool current_is_fetched() const { return next_ < count_; }
    // Whether it is one of the posting table. There must be one.
    bool current_has_postings() const { return ranges_[next_].tree().number == 0; }
    // The next range's turn.
    void pass() { next_++; }

    // Collects those fingerprints of one leaf of the current range that no earlier probe of the
    // plan reports; after its last leaf the range is passed. Fingerprints of the posting table may
    // be repeated. Expects no lock, leaves neither pin nor lock.
    void collect_leaf();
    // Collects all that is left. False where that is more than the matches hold.
    bool collect();

  private:
    // Ranges that are fetched before the first of them is read: at first, and from then on.
    static constexpr int kFirstAhead = 4;
    static constexpr int kAhead = 16;

    int searched_threshold(const Probe& probe) const;
    void begin_probe();
    bool make_range(LeafCursor* range);
    bool fetch_more();

    SearchedIndex* index_;
    Matches* matches_;
    const ProbePlan *plan_ = nullptr, *searched_ = nullptr;
    Filter filter_;
    struct Origin {
        int probe;       // its number in the plan
        uint64_t target; // the center's key in its tree
    };
    LeafCursor ranges_[kAhead]; // [count_], of those from next_ on it is not yet the turn
    Origin origins_[kAhead];    // [count_], of the ranges
    int count_ = 0, next_ = 0;
    Origin origin_;                         // of the ranges that are being made, and ...
    PrefixNeighbours neighbours_{0, 1, -1}; // ... the prefixes of those that are left
};

} // namespace simhash
