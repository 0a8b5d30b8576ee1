// What check.cpp and info.cpp share. They open an index that SQL names, and read it from end to
// end: the pages of one level from left to right, or the entries of one tree in order.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// ---- opening ----

// Opens the index `oid` and its table, both locked in `mode`. Raises an error if it is no simhash
// index, if it cannot be read now, or if the user may not maintain the table. Where `may_monitor`,
// members of pg_monitor may open it, too.
void open_index(Oid oid, LOCKMODE mode, bool may_monitor, Relation* heap, Relation* index);

// ---- reading ----

// Reads the pages of one level of a tree, and copies each under its shared lock. Holds no lock or
// pin between calls. Splits and unlinking meanwhile do no harm, because the position tells where to
// go on: the reader leaves out no entry and meets none twice.
class LevelReader {
  public:
    // Begins with the page that holds `first`.
    LevelReader(const TreeContext& tree, int level, Entry first = {0, 0});
    LevelReader(const LevelReader&) = delete;
    ~LevelReader() { pfree(page_); }
    // Goes to the next page. Returns false at the level's end.
    bool next();
    Page page() const { return page_; }
    BlockNumber block() const { return block_; }
    const TreeContext& tree() const { return tree_; }
    LeafReader leaf() const;
    // Raises the error that the current page is damaged.
    [[noreturn]] void report(const char* what) const {
        report_corruption(tree_.index, block_, what);
    }

  private:
    TreeContext tree_;
    int level_;
    Entry position_;   // the next page begins here
    BlockNumber next_; // the block where we expect that page, or InvalidBlockNumber
    bool ended_ = false;
    Page page_; // [BLCKSZ] copy
    BlockNumber block_ = InvalidBlockNumber;
};

// Reads the entries of a tree in order.
class EntryReader {
  public:
    // Begins with the first entry that is not less than `first`.
    explicit EntryReader(const TreeContext& tree, Entry first = {0, 0});
    EntryReader(const EntryReader&) = delete;
    ~EntryReader() { pfree(entries_); }
    bool next(Entry* entry);
    // Raises the error that the leaf of the last entry is damaged.
    [[noreturn]] void report(const char* what) const { leaves_.report(what); }

  private:
    LevelReader leaves_;
    Entry first_;
    Entry* entries_; // [kMaxLeafEntries] of the current leaf
    int count_ = 0, position_ = 0;
};

} // namespace simhash
