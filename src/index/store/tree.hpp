// The B-link trees: the ranges of their keys, and the ways to a page. Who changes a tree is in
// index/change. In comments, "rule n" is a rule of the index's README.md, section "Locks".
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

// Whether the second of two neighbours in a tree begins another range of a probe: the keys with one
// prefix of the tree's mask, which one probe of the index's own radius looks through.
bool begins_range(const TreeContext& tree, Entry before, Entry entry);
// The low key of a page that begins with `entry`, while `before` stands on the page to its left: at
// the beginning of a range the least key of the range, so that a probe looks on the one page only.
Entry low_key_between(const TreeContext& tree, Entry before, Entry entry);

// Returns the page of `level` whose range holds `key`, pinned and locked in `lock_mode`. Expects no
// page lock that rule 3 of README.md forbids.
Buffer descend(const TreeContext& tree, Entry key, int level, BufferLockMode lock_mode);
// The page of `level` that holds `key`, reached from `block` by right links, or by descent where
// that is InvalidBlockNumber or turns out to be stale; pinned and locked shared. Expects no lock.
Buffer find_page(const TreeContext& tree, BlockNumber block, Entry key, int level);
// Whether a page to which an old link led, locked, is the leaf that holds `key`.
bool leaf_holds(const TreeContext& tree, BlockNumber block, Buffer buffer, Entry key);
// The block where the page above says the leaf of `key` is, for a caller who wants it fetched
// before it is read; InvalidBlockNumber where links were stale. Expects no lock.
BlockNumber expected_leaf(const TreeContext& tree, Entry key);
// True when the posting table holds an entry for the fingerprint. May be called holding a lock in a
// block table; leaves no other.
bool has_posting(Relation index, const Layout* layout, uint64_t fingerprint);

} // namespace simhash
