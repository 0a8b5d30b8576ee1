// Where this backend last found the leaves of indexes, by their keys.
//
// In an index that is far larger than the processor's caches, most of a probe's time is waiting for
// memory: for the pages above a leaf, the server's table of buffers, the buffer's descriptor, the
// page's two ends, and what is searched in it. A note of the leaf and its buffer saves the first
// two, and lets the others be asked for ahead.
//
// A note may be out of date. That is no worse than a link read before a split: the server tells
// whether the buffer still holds the page, and the fences of the leaf whether it holds the key
// (README.md, "Trees").
#pragma once

#include "index/index.hpp"

namespace simhash {

struct LeafNote;

// Where a leaf is thought to be: a link read long ago.
struct LeafHint {
    BlockNumber block = InvalidBlockNumber; // InvalidBlockNumber: not known
    Buffer buffer = InvalidBuffer;          // that held it, if known
    const LeafNote* note = nullptr;         // that said so; it may say something else by now
};

// The notes of one index's trees. They are the backend's and stay when the object goes, which only
// knows how to find them.
class RecentLeaves {
  public:
    void init(Relation index, const Layout& layout, BlockNumber index_blocks);

    // The leaves of several runs are fetched ahead in three steps, each for all of them, so that
    // waiting for one overlaps with waiting for the others.

    // Has the note on a key's leaf, soon to be used, brought into the processor's cache.
    void fetch_note_ahead(const TreeContext& tree, uint64_t key) const;
    // Where the leaf of a key seems to be. Has it brought into memory, or, if it is there, its ends
    // into the processor's cache. Expects no lock.
    LeafHint fetch_leaf_ahead(const TreeContext& tree, uint64_t key) const;
    // The first key that is not on the leaf of the hint, about; 0 if that is not known.
    static uint64_t end_of_leaf(const LeafHint& hint);
    // Has what a search of the leaf from `first` to `last` will read brought into the cache, too.
    static void fetch_keys_ahead(const LeafHint& hint, uint64_t first, uint64_t last);

    // The leaf of `key`, pinned and locked shared. Expects no lock.
    Buffer find_leaf(const TreeContext& tree, const LeafHint& hint, TreeKey key) const;
    // Notes where the leaf of `key`, found by the hint or not, is and how its keys are laid out.
    // Expects it locked.
    void note_leaf(const TreeContext& tree, uint64_t key, const LeafHint& hint, Buffer buffer,
                   const LeafReader& reader) const;

  private:
    LeafNote* note_of_slot(int tree, uint64_t slot) const;
    LeafNote* find_note(int tree, uint64_t key) const;
    const LeafNote* usable_note(const TreeContext& tree, uint64_t key) const;
    uint32 owner_of(int tree) const { return index_hash_ + uint32(tree); }
    uint64_t slot_of(uint64_t key) const { return key >> (kFingerprintBits - slot_bits_); }

    uint32 index_hash_ = 0;
    int slot_bits_ = 0; // a note for each value of so many leading bits of a key
    bool keeps_notes_ = false;
    bool fetches_pages_ = false;
};

// Whether the server's settings are for having the relation's pages fetched before they are read.
bool may_fetch_ahead(Relation relation);
// Has the server bring a page from disk into memory, if there is such a page. The buffer that seems
// to hold it already, if any.
Buffer fetch_page_ahead(Relation relation, BlockNumber block);

} // namespace simhash
