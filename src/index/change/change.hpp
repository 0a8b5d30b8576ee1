// Changes trees: adds entries to leaves, and merges or splits the leaves that are full; takes
// entries out, and unlinks empty leaves, which only VACUUM does.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// ---- split.cpp ----

// Descends to the leaf of `key` and returns it pinned and locked exclusively. If the leaf's split
// is incomplete, completes it first. The caller may hold page locks that rule 3 places before the
// leaf.
Buffer descend_for_write(const TreeContext& tree, Entry key);
// True when the tail of a leaf takes one more entry. Expects the leaf locked.
bool leaf_has_room(const TreeContext& tree, Page page, const LeafReader& reader);
// Adds one entry to its leaf, locked exclusively and completely split; to a block table only if the
// key is absent. Returns false if the caller must find it again and retry. Leaves it locked.
bool insert_into_leaf(const TreeContext& tree, Buffer buffer, const LeafReader& reader,
                      Entry entry);

// ---- unlink.cpp ----

// Replaces a leaf's content by parts of its packed part and tail, in one WAL record. Expects the
// leaf locked exclusively; leaves it locked.
void rewrite_leaf(const TreeContext& tree, Buffer buffer, std::span<const Entry> packed,
                  std::span<const Entry> tail);
// Unlinks an empty leaf if the protocol allows it, and returns whether it did. A leaf that stays is
// harmless: it takes new entries, or a later VACUUM unlinks it. Expects no page lock, leaves none.
bool unlink_leaf(const TreeContext& tree, BlockNumber block);

} // namespace simhash
