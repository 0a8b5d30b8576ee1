// Reading an index from end to end, for those who look at all of it (check.cpp, info.cpp): pages of
// one level from left to right, entries of one tree in order, and the opening of an index that SQL
// names.
#pragma once

#include "index/index.hpp"

namespace simhash {

// The pages of one level of a tree, each copied under its shared lock; no lock or pin is held
// between calls. Splits and unlinking beside the walk do no harm: no entry is left out or met
// twice.
class LevelWalk {
  public:
    // From the page that holds `first` on.
    LevelWalk(const TreeContext& tree, int level, TreeKey first = {0, 0});
    LevelWalk(const LevelWalk&) = delete;
    ~LevelWalk() { pfree(page_); }
    // Goes to the next page; false at the level's end.
    bool next();
    Page page() const { return page_; }
    BlockNumber block() const { return block_; }
    const TreeContext& tree() const { return tree_; }
    // The current page as a leaf.
    LeafReader leaf() const;

  private:
    TreeContext tree_;
    int level_;
    TreeKey position_; // pages before it are done
    BlockNumber next_; // where `position_` is expected; InvalidBlockNumber: descend
    bool ended_ = false;
    Page page_; // [BLCKSZ] copy
    BlockNumber block_ = InvalidBlockNumber;
};

// The entries of a tree in order.
class EntryWalk {
  public:
    explicit EntryWalk(const TreeContext& tree, TreeKey first = {0, 0});
    EntryWalk(const EntryWalk&) = delete;
    ~EntryWalk() { pfree(entries_); }
    bool next(LeafEntry* entry);
    // The leaf of the last entry.
    BlockNumber block() const { return leaves_.block(); }

  private:
    LevelWalk leaves_;
    TreeKey first_;
    LeafEntry* entries_; // [kMaxLeafEntries] of the current leaf
    int count_ = 0, position_ = 0;
};

// The level of a tree's root.
int root_level(const TreeContext& tree);

// What a user needs for an inspection: to maintain the table, or that or to be in pg_monitor.
enum class IndexRight { kMaintain, kMonitor };

// Opens the index `oid` and its table, both locked in `mode`. Raises an error where it is no
// simhash index, or one that cannot be read now, or where the user does not have the right.
void open_index(Oid oid, LOCKMODE mode, Relation* heap, Relation* index,
                IndexRight right = IndexRight::kMaintain);

} // namespace simhash
