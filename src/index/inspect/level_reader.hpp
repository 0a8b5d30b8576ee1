// Reading an index from end to end, for those who look at all of it (check.cpp, info.cpp): pages of
// one level from left to right, and entries of one tree in order.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// The pages of one level of a tree, each copied under its shared lock; no lock or pin is held
// between calls. Splits and unlinking meanwhile do no harm: no entry is left out or met twice.
class LevelReader {
  public:
    // From the page that holds `first` on.
    LevelReader(const TreeContext& tree, int level, Entry first = {0, 0});
    LevelReader(const LevelReader&) = delete;
    ~LevelReader() { pfree(page_); }
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
    Entry position_;   // pages before it are done
    BlockNumber next_; // where `position_` is expected; InvalidBlockNumber: descend
    bool ended_ = false;
    Page page_; // [BLCKSZ] copy
    BlockNumber block_ = InvalidBlockNumber;
};

// The entries of a tree in order.
class EntryReader {
  public:
    explicit EntryReader(const TreeContext& tree, Entry first = {0, 0});
    EntryReader(const EntryReader&) = delete;
    ~EntryReader() { pfree(entries_); }
    bool next(Entry* entry);
    // The leaf of the last entry.
    BlockNumber block() const { return leaves_.block(); }

  private:
    LevelReader leaves_;
    Entry first_;
    Entry* entries_; // [kMaxLeafEntries] of the current leaf
    int count_ = 0, position_ = 0;
};

// The level of a tree's root.
int root_level(const TreeContext& tree);

} // namespace simhash
