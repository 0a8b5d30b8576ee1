// Notes on where this backend last found the leaves of a tree, by their keys.
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

#include "core/bits/distance.hpp"
#include "index/store/tree.hpp"

namespace simhash {

struct LeafNote;

// Where a leaf is thought to be: a link read long ago.
struct LeafHint {
    BlockNumber block = InvalidBlockNumber; // InvalidBlockNumber: not known
    Buffer buffer = InvalidBuffer;          // that held it, if known
    const LeafNote* note = nullptr;         // that said so; it may say something else by now
};

// The notes on one tree. They are the backend's and stay when the object goes, which only knows how
// to find them.
class LeafNotes {
  public:
    // `index_blocks`: pages of the whole index.
    LeafNotes(const TreeContext& tree, BlockNumber index_blocks);

    // Has the note on a key's leaf, soon to be used, brought into the processor's cache.
    void prefetch_note(uint64_t key);
    // Has what a search from `first` to `last` will read brought there, of the packed part of the
    // leaf that the hint's note is on. Returns where that leaf ends; 0 where there is no note, or
    // at the end.
    static uint64_t prefetch_keys(const LeafHint& hint, uint64_t first, uint64_t last);

    // Has that leaf's tail brought there.
    static void prefetch_tail(const LeafHint& hint);

    // What was noted of the leaf of a key; a hint of nothing where there is no note. Expects no
    // lock.
    LeafHint look_up(uint64_t key);
    // False the next few times after notes were found to name buffers that other pages took: what
    // they say to be in memory must then be asked for as if it were on disk.
    static bool trust() { return distrust_ == 0 || distrust_-- == 0; }

    // Notes where the leaf of `key`, found by the hint or not, is, and how its keys are laid out.
    // Expects it locked.
    void put(uint64_t key, const LeafHint& hint, Buffer buffer, const LeafReader& reader);

  private:
    LeafNote* note_of_slot(uint64_t slot);
    LeafNote* find(uint64_t key);
    uint64_t slot_of(uint64_t key) const { return key >> (kFingerprintBits - slot_bits_); }

    static int distrust_; // so many times more

    Relation index_;
    uint32 owner_;  // index and tree, as notes name them
    uint32 base_;   // of the tree's slots
    int slot_bits_; // a note for each value of so many leading bits of a key
    bool kept_;     // whether there are notes on this tree at all
};

} // namespace simhash
