// What VACUUM does to the leaves of a tree: it takes entries out, and unlinks the empty ones.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// Replaces a leaf's content by parts of its packed part and tail, one WAL record. Expects the leaf
// locked exclusively; leaves it so.
void rewrite_leaf(const TreeContext& tree, Buffer buffer, std::span<const Entry> packed,
                  std::span<const Entry> tail);
// Unlinks an empty leaf, where the protocol allows it. Expects no page lock, leaves none. Returns
// true when it was unlinked.
bool unlink_leaf(const TreeContext& tree, BlockNumber block);

} // namespace simhash
