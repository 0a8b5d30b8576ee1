// Writes new trees, from their leaves up: the leaves of one key range from its sorted entries, and
// the levels above from the leaves' pivots. README.md's section on the build says who may write
// what.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// The pivots of the pages of a level, in order, in memory that lasts until release().
class Pivots {
  public:
    void add(const Pivot& pivot);
    std::span<const Pivot> all() const { return {pivots_, count_}; }
    void release();

  private:
    Pivot* pivots_ = nullptr;
    size_t count_ = 0, capacity_ = 0;
};

// The pages of new trees. They come from the end of the index, the more at once the more were
// taken, so that participants seldom wait for each other there.
class NewPages {
  public:
    NewPages(Relation index, int most_at_once) : index_(index), most_at_once_(most_at_once) {}

    BlockNumber take();
    // Takes a page; returns it pinned.
    Buffer take_pinned() { return ReadBuffer(index_, take()); }
    // Records the pages that were added and not taken as free.
    void release();

  private:
    static constexpr int kTakenForOneMore = 64; // so that hardly more than one of so many is left

    Relation index_;
    int most_at_once_;
    int64 taken_ = 0;
    BlockNumber next_ = 0; // added, and not taken yet: next_ .. end_ - 1
    BlockNumber end_ = 0;
};

// A part of a tree's leaf level.
struct LeafRange {
    Entry low = {0, 0};
    BlockNumber block = InvalidBlockNumber; // of its first leaf; none: the tree begins here
    bool is_last = true;
    Entry high = {0, 0};                         // unless it is the last one
    BlockNumber next_block = InvalidBlockNumber; // of the first leaf after it
};

// Writes the leaves of a range, given its entries in ascending order. Takes no notice of what other
// ranges hold.
class LeafWriter {
  public:
    LeafWriter(const TreeContext& tree, int fillfactor, const LeafRange& range, NewPages* pages);

    void add(Entry entry) {
        if (end_ == kWindow)
            write_full_leaves();
        window_[end_++] = entry;
    }

    // Writes what is left. Returns the pivots of all leaves; none where the tree's only leaf was
    // written, which is the root.
    Pivots finish();

  private:
    static constexpr int kMaxPacked = kMaxLeafEntries - kMaxTailEntries;
    static constexpr int kWindow = 4 * kMaxLeafEntries;

    void write_full_leaves();
    int entries_of_leaf(const Entry* entries, int count);
    void write_leaf(int count);

    TreeContext tree_;
    LeafRange range_;
    NewPages* pages_;
    size_t target_, slack_; // bytes of a leaf's body, and by how much it may miss them
    Entry* window_;         // entries that are not written yet are begin_ .. end_ - 1
    int begin_ = 0, end_ = 0;
    int last_count_ = 0; // entries of the leaf before
    Page page_;          // image of the leaf being written
    Entry low_;          // of that leaf
    Buffer buffer_;      // for it, pinned, once the tree has more than one leaf
    Pivots pivots_;
};

// Writes the levels above the leaves, whose pivots these are, and releases them. No pivots: there
// is one leaf at most, the root.
void write_upper_levels(const TreeContext& tree, Pivots below, NewPages* pages);

} // namespace simhash
