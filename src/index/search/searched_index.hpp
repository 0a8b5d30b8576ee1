// One lane's part of the index as a scan sees it. All parts of the scan of that lane share it, and
// the buffers for the entries that one leaf yields.
#pragma once

#include "core/bits/ball.hpp"
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
    // Is about the first lane. The scan takes all its memory from the current context.
    explicit SearchedIndex(Relation index);
    // Is about another lane of the same index. The first one must outlive it.
    SearchedIndex(const SearchedIndex& first, int lane);
    // Trees have its layout's address.
    SearchedIndex(const SearchedIndex&) = delete;
    SearchedIndex& operator=(const SearchedIndex&) = delete;

    Relation relation() const { return relation_; }
    MemoryContext memory() const { return memory_; }
    // Bytes that each lane's matches may take.
    size_t work_memory() const { return size_t(work_mem) * 1024 / size_t(layout_->lane_count); }
    const Layout& layout() const { return *layout_; }
    // Tables 0 .. layout().table_count - 1 of the lane.
    SearchedTree* table(int number) { return &tables_[number]; }
    SearchedTree* posting_table() { return &tables_[0]; }
    SearchedTree* null_table() { return null_table_; }
    // Returns a cursor over the posting table from end to end.
    LeafCursor all_postings() { return {posting_table(), kAllKeys}; }
    Permutation permutation(int table) const { return layout_->permutation(table); }
    // The estimated number of distinct fingerprints of a lane.
    double entries() const { return entries_; }
    // Returns the plan for a radius of -1 .. 64.
    const ProbePlan* plan_for(int radius);
    LeafYield* yield() const { return &backend_yield_; }

    Snapshot snapshot = nullptr; // of the rows to be returned
    Relation heap = nullptr;     // the table, if TIDs are its blocks and offsets

  private:
    Relation relation_;
    MemoryContext memory_;
    const Layout* layout_;
    SearchedTree* tables_; // [layout_->table_count]
    SearchedTree* null_table_;
    double entries_;
    ProbePlan** plans_; // [kFingerprintBits + 1] by radius, each made when first needed
    // What the lanes share, in the first one. The layout is a copy, as an invalidation of the
    // relation frees the cached one.
    Layout shared_layout_;
    ProbePlan* shared_plans_[kFingerprintBits + 1] = {};
    static LeafYield backend_yield_;
};

} // namespace simhash
