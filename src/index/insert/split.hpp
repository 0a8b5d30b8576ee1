// Adds an entry to a leaf, and makes room for it by a merge or a split where the leaf is full.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

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

} // namespace simhash
