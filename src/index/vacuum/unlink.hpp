// Takes an empty leaf out of its tree.
#pragma once

#include "index/store/tree.hpp"

namespace simhash {

// Unlinks an empty leaf if the protocol allows it, and returns whether it did. A leaf that stays is
// harmless: it takes new entries, or a later VACUUM unlinks it. Expects no page lock, leaves none.
bool unlink_leaf(const TreeContext& tree, BlockNumber block);

} // namespace simhash
