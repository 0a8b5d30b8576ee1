// The index as a scan sees it, which all parts of the scan share, and the room for what one leaf
// gives.
#pragma once

#include "core/bits/ball.hpp"
#include "core/bits/permutation.hpp"
#include "core/layout/probe_plan.hpp"
#include "index/search/cursor.hpp"

namespace simhash {

// What one leaf gives while it is locked. Nothing may be allocated then, and a leaf can give a lot
// more than most scans ever see. So there is one for the backend; no call leaves anything in it.
struct LeafYield {
    LeafReader::Hit hits[LeafReader::kHitRoom];
    Entry postings[kMaxLeafEntries];
    uint64_t fingerprints[kMaxLeafEntries];
};

class SearchedIndex {
  public:
    // All memory of the scan comes from the current context.
    explicit SearchedIndex(Relation index);

    Relation relation() const { return relation_; }
    MemoryContext memory() const { return memory_; }
    const Layout& layout() const { return layout_; }
    // Number 0 .. layout().table_count, the null table.
    SearchedTree* tree(int number) { return &trees_[number]; }
    SearchedTree* posting_table() { return &trees_[0]; }
    // A cursor over the posting table from end to end.
    LeafCursor all_postings() { return {posting_table(), kAllKeys}; }
    const Permutation& permutation(int table) const { return permutations_[table]; }
    // Distinct fingerprints, estimated.
    double entries() const { return entries_; }
    // The plan for a radius of -1 .. 64.
    const ProbePlan* plan_for(int radius);
    LeafYield* yield() const { return &backend_yield_; }

    Snapshot snapshot = nullptr; // of the rows to be returned

  private:
    Relation relation_;
    MemoryContext memory_;
    Layout layout_; // a copy: the cached one goes when the relation is invalidated
    SearchedTree* trees_;
    Permutation* permutations_;
    double entries_;
    ProbePlan* plans_[kFingerprintBits + 1] = {}; // by radius, made when first needed
    static LeafYield backend_yield_;
};

} // namespace simhash
