// Notes on where this backend last found the leaves of a tree, by their keys.
//
// In an index that is far larger than the processor's caches, a probe spends most of its time
// waiting for memory: for the pages above a leaf, the server's buffer table, the buffer's
// descriptor, the page's two ends, and the keys that it compares. A note of the leaf and its buffer
// saves the first two, and allows us to prefetch the others.
//
// What that gains, in microseconds of processor time, all in shared buffers:
//
//     million rows                           3: probe  insert   100: probe  insert
//     as it is                                  4.5     3.9         8.0     6.6
//     notes, and nothing fetched ahead          7.9     6.1        12.4     9.3
//     neither                                   9.3     9.4        20.6    12.6
//
// Where shared buffers hold a part of the index only, notes gain nothing and cost nothing, and from
// disk fetching ahead takes .8 of the time (1000 probes or insertions after a restart).
//
// A note may be out of date. That is as harmless as a link that was read before a split: the server
// checks whether the buffer still holds the page, and the fences of the leaf say whether it holds
// the key (README.md, "Trees"). So notes need no invalidation and no lock.
#pragma once

#include "core/bits/fingerprint.hpp"
#include "index/store/tree.hpp"

namespace simhash {

struct LeafNote;

// The place where we expect a leaf: a link that may have been read long ago.
struct LeafHint {
    BlockNumber block = InvalidBlockNumber; // InvalidBlockNumber: not known
    Buffer buffer = InvalidBuffer;          // the buffer that held it, if known
    const LeafNote* note = nullptr;         // the note it came from, which may have changed since
};

// Finds and writes the notes on one tree. Notes belong to the backend and outlive this object.
class LeafNotes {
  public:
    // `index_blocks` is the number of pages of the whole index.
    LeafNotes(const TreeContext& tree, BlockNumber index_blocks);

    // Prefetches the bytes of the packed part that a search from `first` to `last` will read, of
    // the leaf that the hint's note describes, if there is one.
    void prefetch_keys(const LeafHint& hint, uint64_t first, uint64_t last) const;

    // Returns the note on the leaf of a key as a hint, empty if there is none. Expects no lock.
    LeafHint look_up(uint64_t key);

    // Notes the block and buffer of the leaf of `key`, and how its keys are laid out. `hint` is the
    // hint that was used to find the leaf, or an empty one. Expects the leaf locked.
    void put(uint64_t key, const LeafHint& hint, Buffer buffer, const LeafReader& reader);

  private:
    LeafNote* note_of_slot(uint64_t slot);
    LeafNote* find(uint64_t key);
    // Of the bits that a key has.
    uint32 leading_bits(uint64_t key) const { return uint32(key << zero_bits_ >> 32); }
    uint64_t slot_of(uint64_t key) const { return leading_bits(key) >> (32 - slot_bits_); }

    Relation index_;
    uint32 owner_;  // index and tree, as notes name them
    uint32 base_;   // place of the tree's first slot
    int zero_bits_; // before a key's leading bits
    int slot_bits_; // leading bits of a key that are its slot
    bool kept_;     // false: this tree has no notes
};

} // namespace simhash
