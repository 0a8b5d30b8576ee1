// What the parts of a scan share: one lane's part of the index, the buffers for the entries that
// one leaf yields, and the test that decides which fingerprints a part takes.
#pragma once

#include <span>

#include "core/bits/fingerprint.hpp"
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
    uint8_t distances[kMaxLeafEntries]; // of the postings
};

class SearchedIndex {
  public:
    // Is about the first lane. The scan takes all its memory from the current context.
    explicit SearchedIndex(Relation index);
    // The same index from this lane on; what the lanes share is not copied.
    SearchedIndex at_lane(int lane) const {
        SearchedIndex other = *this;
        other.tables_ += tree_of_table(*layout_, lane, 0);
        return other;
    }

    // Bytes that each lane's matches may take.
    size_t work_memory() const { return size_t(work_mem) * 1024 / size_t(layout_->lane_count); }
    const Layout& layout() const { return *layout_; }
    // Tables 0 .. layout().table_count - 1 of the lane.
    SearchedTree* table(int number) { return &tables_[number]; }
    SearchedTree* posting_table() { return &tables_[0]; }
    SearchedTree* null_table() { return null_table_; }
    Permutation permutation(int table) const { return layout_->permutation(table); }
    // The estimated number of distinct fingerprints of a lane.
    double entries() const { return entries_; }
    // The plan of a search within a radius. It lasts as long as the backend.
    const ProbePlan* plan_for(int radius) const;
    LeafYield* yield() const { return &backend_yield_; }
    // Reads the leaf of the cursor's position: calls take(reader, hit) for each entry of the range
    // whose key lies in `ball`, and moves the cursor on. Returns the hits. Leaves the leaf locked,
    // and the caller releases it: take() must not allocate.
    std::span<const LeafReader::Hit> read_leaf(LeafCursor* cursor, const Ball& ball,
                                               const auto& take) const {
        LeafReader reader = cursor->lock(snapshot);
        KeyRange keys = cursor->rest();
        int count = reader.keys_within(keys.first, keys.last, ball.center, ball.radius,
                                       yield()->hits, cursor->slices());
        std::span<const LeafReader::Hit> hits(yield()->hits, size_t(count));
        for (const LeafReader::Hit& hit : hits)
            take(reader, hit);
        // The position moves while the leaf is locked: fence, link and entries are of one moment.
        cursor->go_on();
        return hits;
    }
    // Raises an error if the table can have no row at the place of one of a leaf's postings. They
    // were read before, and no leaf is locked any more.
    void check_places(std::span<const Entry> postings, BlockNumber leaf);

    Snapshot snapshot = nullptr; // of the rows to be returned
    Relation heap = nullptr;     // the table, if TIDs are its blocks and offsets

  private:
    Relation relation_;
    const Layout* layout_; // a copy: an invalidation of the relation frees the cached one
    SearchedTree* tables_; // [layout_->table_count]
    SearchedTree* null_table_;
    double entries_;
    int size_class_; // the same where there are up to 1.26 times as many
    // The places that the table has, as far as it was asked: it may have grown since.
    BlockNumber heap_blocks_ = 0;
    OffsetNumber heap_offsets_ = MaxHeapTuplesPerPage;
    static LeafYield backend_yield_;
};

// A fingerprint passes if it meets all four conditions.
struct Filter {
    Ball ball;                          // it lies in this ball
    int done_radius = kNoRadius;        // it lies outside of this radius around the ball's center
    Ball other = {0, kFingerprintBits}; // it lies in this ball, too
    const Probe* done_probe = nullptr;  // this probe around the center does not see it; may be null

    // Tests a fingerprint that is known to lie in the ball.
    bool takes(uint64_t fingerprint) const {
        if (done_radius >= 0 && hamming_distance(fingerprint, ball.center) <= done_radius)
            return false;
        return other.contains(fingerprint) &&
               (done_probe == nullptr || !done_probe->sees(fingerprint ^ ball.center));
    }
    bool matches(uint64_t fingerprint) const {
        return ball.contains(fingerprint) && takes(fingerprint);
    }
};
constexpr Filter kEverything = {{0, kFingerprintBits}};

} // namespace simhash
