// The B-link trees: the ranges of their keys, and the ways to a page. The code that changes a tree
// is in index/insert and index/vacuum. In comments, "rule n" is a rule of the index's README.md,
// section "Locks".
#pragma once

#include "index/store/page.hpp"

namespace simhash {

struct TreeContext {
    Relation index;
    Relation heap; // for page reuse; may be null where nothing is allocated
    const Layout* layout;
    int number;
    LeafKind kind;
};
TreeContext tree_context(Relation index, Relation heap, const Layout* layout, int tree);

// True when `entry` begins another range than `before`, its left neighbour in the tree. A range
// here is the keys with one prefix of the tree's mask: a probe of the index's radius reads one.
bool begins_range(const TreeContext& tree, Entry before, Entry entry);
// Returns the low key for a page that begins with `entry` while the page to its left ends with
// `before`. Where a range begins it is the least key of the range, not the entry's own: then a
// probe of that range reads this page alone.
Entry low_key_between(const TreeContext& tree, Entry before, Entry entry);

// Returns the page of `level` whose fences hold `key`, pinned and locked in `lock_mode`. The caller
// may hold page locks that rule 3 places before this page.
Buffer descend(const TreeContext& tree, Entry key, int level, BufferLockMode lock_mode);
// Returns the page of `level` whose fences hold `key`, pinned and locked shared. Goes right from
// `block`; descends from the root if that is InvalidBlockNumber or a stale link. Expects no lock.
Buffer find_page(const TreeContext& tree, BlockNumber block, Entry key, int level);
// True when the page that an old link led to is the leaf that holds `key`. Expects it locked.
bool leaf_holds(const TreeContext& tree, BlockNumber block, Buffer buffer, Entry key);
// Returns the level of the tree's root. Expects no lock of a page of the tree.
int root_level(const TreeContext& tree);
// Returns the block of the leaf of `key` as the page above it says, without the wait that it would
// be to read the leaf itself. Expects no lock.
BlockNumber expected_leaf(const TreeContext& tree, Entry key);
// True when a posting table holds an entry for the fingerprint. The caller may hold the lock of a
// leaf of a block table of the same lane: the posting table comes later in the order of locks
// (rule 3).
bool has_posting(const TreeContext& postings, uint64_t fingerprint);

} // namespace simhash
