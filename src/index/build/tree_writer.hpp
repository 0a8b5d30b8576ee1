// Writes new trees from their leaves up: the leaves of one key range from its sorted entries, and
// the levels above from the leaves' pivots. README.md's section on the build says who may write
// which page.
#pragma once

#include "index/store/tree.hpp"
#include "server/arguments.hpp"

namespace simhash {

// The pivots of the pages of a level, in order.
using Pivots = GrowingArray<Pivot>;

// Adds pages to the end of the index for new trees. It adds them in batches that grow as the build
// proceeds, so that participants seldom wait for each other's extension lock.
class NewPages {
  public:
    NewPages(Relation index, int most_at_once) : index_(index), most_at_once_(most_at_once) {}

    // The page is all zeros, and no other backend writes it.
    BlockNumber take();
    Buffer take_pinned() { return ReadBuffer(index_, take()); }
    // Records the pages that were added and not taken as free.
    void release();

  private:
    // After so many taken pages a batch grows by one: hardly more than 1 page in 64 is left over.
    static constexpr int kTakenForOneMore = 64;

    Relation index_;
    int most_at_once_;
    int64 taken_ = 0;
    BlockNumber next_ = 0; // blocks next_ .. end_ - 1 are added and not taken yet
    BlockNumber end_ = 0;
};

// A part of a tree's leaf level: the keys low .. high, high excluded.
struct LeafRange {
    Entry low = {0, 0};
    BlockNumber block = InvalidBlockNumber; // of its first leaf; invalid if the tree begins here
    bool is_last = true;
    Entry high = {0, 0};                         // unless it is the last one
    BlockNumber next_block = InvalidBlockNumber; // of the first leaf after it
};

// Writes the pages of a level from left to right, or of leaves those of a range.
class LevelWriter {
  public:
    LevelWriter(const TreeContext& tree, int level, const LeafRange& range, NewPages* pages);

    // The image of the next page, to be filled.
    Page begin();
    // Writes that page. The next one begins with `next_low`; null: it is the last one.
    void end(const Entry* next_low);
    // Returns the pivots of all pages. Returns none if they are a tree's only page: the root.
    Pivots finish();

  private:
    TreeContext tree_;
    int level_;
    LeafRange range_;
    NewPages* pages_;
    Page page_;     // image of the page being written
    Entry low_;     // of that page
    Buffer buffer_; // it, pinned, once it is known not to be the root
    Pivots pivots_{server_memory()};
};

// Writes the leaves of a range from its entries, which come in ascending order. Reads no page and
// depends on no other range, so participants can write ranges side by side.
class LeafWriter {
  public:
    LeafWriter(const TreeContext& tree, int fillfactor, const LeafRange& range, NewPages* pages);

    // Several runs may have the same fingerprint for a block table; it follows itself in the merge,
    // and goes in once.
    void add(Entry entry) {
        // write_full_leaves() leaves the last entry in the window.
        if (end_ > 0 && window_[end_ - 1] == entry)
            return;
        if (end_ == kWindow)
            write_full_leaves();
        window_[end_++] = entry;
    }

    // Writes the entries that are left, and returns the pivots of all leaves. Returns none if the
    // range is a whole tree of one leaf: that leaf is the root.
    Pivots finish();

  private:
    // A full tail still fits beside a packed part of this many entries.
    static constexpr int kMaxPacked = kMaxLeafEntries - kMaxTailEntries;
    // A leaf is cut when more entries are known than it could take. With room for some leaves more,
    // what is left over is moved to the front once in several leaves.
    static constexpr int kWindow = 4 * kMaxLeafEntries;

    void write_full_leaves();
    int entries_of_leaf(const Entry* entries, int count);
    void write_leaf(int count);

    TreeContext tree_;
    LeafRange range_;
    LevelWriter leaves_;
    size_t target_, slack_; // bytes that a leaf's body should have, and by how much it may differ
    Entry* window_;         // entries begin_ .. end_ - 1 are not written yet
    int begin_ = 0, end_ = 0;
    int last_count_ = 0; // entries of the leaf before
};

// Writes the levels above the leaves. `below` are the leaves' pivots, which it releases. Writes
// nothing if there are none: then the tree's only leaf is the root.
void write_upper_levels(const TreeContext& tree, Pivots below, NewPages* pages);

} // namespace simhash
