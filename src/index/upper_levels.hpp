// Copies of internal pages, kept by a scan that descends often, such as the inner side of a join.
//
// A descent from the root costs a lookup in the buffer table, a pin and a lock for each page; with
// the upper levels at hand only the leaf is left. A copy may be out of date. That is no worse than
// a link read before a split: the fences of the leaf tell (README.md, "Trees"), the scan then goes
// right or descends from the root, and the copies that led astray are dropped.
#pragma once

#include "index/index.hpp"

namespace simhash {

class UpperLevels {
  public:
    // Where a leaf is thought to be, and its range: a link read long ago.
    struct Hint {
        BlockNumber block = InvalidBlockNumber; // InvalidBlockNumber: not known
        bool by_copies = false;                 // which are to be dropped if it proves wrong
        uint64_t low = 0, high = UINT64_MAX;    // keys
    };

    // Copies will be allocated in `memory`.
    void init(MemoryContext memory) { memory_ = memory; }

    // Where the leaf of `first` seems to be; has it brought nearer for a search from `first` to
    // `last`. Expects no lock.
    Hint fetch_ahead(const TreeContext& tree, uint64_t first, uint64_t last);
    // The leaf of `key`, pinned and locked shared. Expects no lock.
    Buffer find_leaf(const TreeContext& tree, const Hint& hint, TreeKey key);

  private:
    struct Copy {
        BlockNumber block;
        char* page; // [BLCKSZ]
    };
    static constexpr int kSlots = 1024;        // of a table addressed by block number
    static constexpr int kMaxCopies = 512;     // 4 MB
    static constexpr int kDescentsBefore = 16; // a scan of few descents gains nothing
    static constexpr int kMaxHeight = 8;

    Hint follow_copies(const TreeContext& tree, TreeKey key, bool make);
    Hint guess_leaf(const TreeContext& tree, TreeKey key);
    Page copy_of(const TreeContext& tree, BlockNumber block, bool make);
    void drop_path();

    MemoryContext memory_;
    Copy* copies_; // [kSlots]
    int copy_count_;
    int descents_;
    BlockNumber path_[kMaxHeight]; // [path_length_], the pages of the last guess
    int path_length_;
};

} // namespace simhash
