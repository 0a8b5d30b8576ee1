// Adding entries to the leaves of a tree, which are merged or split where they are full.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// Descends to the leaf of `key` and returns it pinned and locked exclusively, with its split
// completed if one was met. Expects no page lock that rule 3 forbids.
Buffer descend_for_write(const TreeContext& tree, Entry key);
// True when the tail of a leaf, locked, takes one more entry.
bool leaf_has_room(const TreeContext& tree, Page page, const LeafReader& reader);
// Adds one entry to its leaf, which descend_for_write() gave; in block tables only if its key is
// absent. False where it must be tried again after another descent. Leaves the leaf locked.
bool insert_into_leaf(const TreeContext& tree, Buffer buffer, const LeafReader& reader,
                      Entry entry);

} // namespace simhash
