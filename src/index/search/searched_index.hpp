// The index as a scan sees it. All parts of the scan share it, and the buffers for the entries that
// one leaf yields.
#pragma once

#include "core/bits/ball.hpp"
#include "core/bits/permutation.hpp"
#include "core/layout/probe_plan.hpp"
#include "index/search/cursor.hpp"

namespace simhash {

// Buffers for the entries that one leaf yields while it is locked. We must not allocate under the
// lock: that may raise an error or take long, and others wait meanwhile. One leaf can yield far
// more than most scans ever return, so the backend has one set of buffers instead of one a scan. No
// call leaves anything in them.
struct LeafYield {
    LeafReader::Hit hits[LeafReader::kHitRoom];
    Entry postings[kMaxLeafEntries];
    uint64_t fingerprints[kMaxLeafEntries];
};

class SearchedIndex {
  public:
    // The scan takes all its memory from the current context.
    explicit SearchedIndex(Relation index);

    Relation relation() const { return relation_; }
    MemoryContext memory() const { return memory_; }
    const Layout& layout() const { return layout_; }
    // Trees 0 .. layout().table_count; the last one is the null table.
    SearchedTree* tree(int number) { return &trees_[number]; }
    SearchedTree* posting_table() { return &trees_[0]; }
    // Returns a cursor over the posting table from end to end.
    LeafCursor all_postings() { return {posting_table(), kAllKeys}; }
    const Permutation& permutation(int table) const { return permutations_[table]; }
    // The estimated number of distinct fingerprints.
    double entries() const { return entries_; }
    // Returns the plan for a radius of -1 .. 64.
    const ProbePlan* plan_for(int radius);
    LeafYield* yield() const { return &backend_yield_; }

    Snapshot snapshot = nullptr; // of the rows to be returned

  private:
    Relation relation_;
    MemoryContext memory_;
    Layout layout_; // a copy: an invalidation of the relation frees the cached one
    SearchedTree* trees_;
    Permutation* permutations_;
    double entries_;
    ProbePlan* plans_[kFingerprintBits + 1] = {}; // by radius, each made when first needed
    static LeafYield backend_yield_;
};

} // namespace simhash
