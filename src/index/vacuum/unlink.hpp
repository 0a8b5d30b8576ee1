// Takes entries out of a leaf, and an empty leaf out of its tree.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// Replaces a leaf's content by parts of its packed part and tail, in one WAL record. Expects the
// leaf locked exclusively; leaves it locked.
void rewrite_leaf(const TreeContext& tree, Buffer buffer, std::span<const Entry> packed,
                  std::span<const Entry> tail);
// Unlinks an empty leaf if the protocol allows it, and returns whether it did. A leaf that stays is
// harmless: it takes new entries, or a later VACUUM unlinks it. Expects no page lock, leaves none.
bool unlink_leaf(const TreeContext& tree, BlockNumber block);

} // namespace simhash
