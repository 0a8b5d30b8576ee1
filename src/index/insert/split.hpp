// Merges and splits: how a full leaf takes one more entry.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// Descends to the leaf of `key` and returns it pinned and locked exclusively. If the leaf's split
// is incomplete, completes it first. The caller may hold page locks that rule 3 places before the
// leaf.
Buffer descend_for_write(const TreeContext& tree, Entry key);
// Adds an entry to a leaf that has no room for an append, locked exclusively and completely split.
// Leaves it locked. Returns false if it pushed the root down: the caller must descend again and
// retry.
bool insert_into_full_leaf(const TreeContext& tree, Buffer buffer, const LeafReader& reader,
                           Entry entry);

} // namespace simhash
