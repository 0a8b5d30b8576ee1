// The B-link trees: the ranges of their keys, and the descent. tree.hpp has the contracts.
#include "index/store/tree.hpp"

#include "index/testing.hpp"

namespace simhash {

TreeContext tree_context(Relation index, Relation heap, const Layout* layout, int tree) {
    return {index, heap, layout, tree, tree_kind(*layout, tree)};
}

// ---- Ranges of probes ----

namespace {

// Returns a mask of the bits that follow the prefix in a tree's keys.
uint64_t bits_in_range(const TreeContext& tree) {
    // No probe reads the null table: all of it is one range.
    if (tree.number == null_tree(*tree.layout))
        return UINT64_MAX;
    int prefix_bits = tree.layout->prefix_bits(table_of_tree(*tree.layout, tree.number));
    return prefix_bits == kFingerprintBits ? 0 : UINT64_MAX >> prefix_bits;
}

} // namespace

bool begins_range(const TreeContext& tree, Entry before, Entry entry) {
    return (before.key ^ entry.key) > bits_in_range(tree);
}

Entry low_key_between(const TreeContext& tree, Entry before, Entry entry) {
    return begins_range(tree, before, entry) ? Entry{entry.key & ~bits_in_range(tree), 0} : entry;
}

// ---- Descent ----

namespace {

// Damaged links may form a circle. Both limits are far beyond the needs of any sound tree.
constexpr int kMaxHops = 1 << 16;
constexpr int kMaxRestarts = 1000;
// A kept link may lead to a page that was split many times since. After a few hops a descent from
// the root is cheaper than to go on to the right.
constexpr int kMaxHopsOfKeptLink = 4;

// The age of a link: we read it a moment ago, or keep it from an earlier call.
enum class Link { kNew, kKept };

void count_hop(Relation index, BlockNumber block, int* hops) {
    if (++*hops > kMaxHops)
        report_corruption(index, block, "Sibling or child links form a circle.");
}

enum class Fit { kHere, kRight, kElsewhere };

// Tells where to look for `key` from a page that a link led to: README.md, "Fences", has the table.
Fit page_fit(const TreeContext& tree, Page page, Entry key, int level) {
    PageOpaque* opaque = page_opaque(page);
    // Since the link was read, the page was deleted and used again, or it is a root that was pushed
    // down, or the index was rebuilt.
    if ((opaque->flags & kPageMeta) || opaque->tree != tree.number || opaque->level != level)
        return Fit::kElsewhere;
    // A deleted page keeps its right link for readers such as us. Its right neighbour took over its
    // keys, so to the right is the way.
    if (page_is_deleted(page))
        return page_is_rightmost(page) ? Fit::kElsewhere : Fit::kRight;
    // No link leads to the left, so from a page that begins after the key there is no way to it.
    if (key < page_low(page))
        return Fit::kElsewhere;
    return page_precedes(page, key) ? Fit::kRight : Fit::kHere;
}

// Returns the child of an internal page to which `key` belongs. Expects the page locked.
BlockNumber child_of(const TreeContext& tree, Buffer buffer, Entry key) {
    Page page = BufferGetPage(buffer);
    check_internal(tree.index, buffer, tree.kind);
    return read_pivot(tree.kind, page, find_pivot(tree.kind, page, key)).child;
}

// Goes right from `block` on `level` to the page whose fences hold `key`, and returns that page
// locked. Returns InvalidBuffer if the link is stale, or if it was kept and a few hops do not reach
// the page. Takes one lock at a time.
Buffer move_right(const TreeContext& tree, BlockNumber block, Entry key, int level,
                  BufferLockMode lock_mode, Link link, int* hops) {
    int patience = link == Link::kKept ? kMaxHopsOfKeptLink : kMaxHops;
    for (;;) {
        CHECK_FOR_INTERRUPTS();
        Buffer buffer = pin_page(tree.index, block);
        LockBuffer(buffer, lock_mode);
        Page page = BufferGetPage(buffer);
        // After REINDEX a link into the old file may lead to a page that another backend has just
        // added to the new one. For a new link an all-zero page is damage: check_page() says so.
        if (link == Link::kKept && PageIsNew(page)) {
            UnlockReleaseBuffer(buffer);
            return InvalidBuffer;
        }
        check_page(tree.index, block, buffer);
        // The page may have been split since the link was read, or deleted and used again. Only its
        // fences, under its lock, say whether the key is here.
        Fit fit = page_fit(tree, page, key, level);
        if (fit == Fit::kHere)
            return buffer;
        block = page_opaque(page)->right;
        // Rule 1: we release this page before we lock the next one. The right link may go stale in
        // between. That is harmless: the next round checks the fences again.
        UnlockReleaseBuffer(buffer);
        if (fit == Fit::kElsewhere || patience-- == 0)
            return InvalidBuffer;
        count_hop(tree.index, block, hops);
    }
}

// Descends once. Returns InvalidBuffer if it meets a stale link.
Buffer try_descend(const TreeContext& tree, Entry key, int level, BufferLockMode lock_mode,
                   int* hops) {
    // Roots never move, so a descent that fails can always start again from here.
    Buffer buffer = read_page(tree.index, root_block(tree.number), BUFFER_LOCK_SHARE);
    if (page_opaque(BufferGetPage(buffer))->tree != tree.number)
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "A root belongs to another tree.");
    int at = page_opaque(BufferGetPage(buffer))->level;
    if (at < level)
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "A root is lower than one of its pages.");
    while (at > level) {
        // Rule 1: we release the parent before we lock the child. The child may be split or
        // unlinked in between, so move_right() checks its fences.
        BlockNumber child = child_of(tree, buffer, key);
        UnlockReleaseBuffer(buffer);
        // Levels are counted, not read: the descent ends even where links are damaged.
        at--;
        buffer = move_right(tree, child, key, at, at == level ? lock_mode : BUFFER_LOCK_SHARE,
                            Link::kNew, hops);
        if (buffer == InvalidBuffer)
            return InvalidBuffer;
        count_hop(tree.index, child, hops);
        if (at == level)
            return buffer;
    }
    if (lock_mode == BUFFER_LOCK_SHARE)
        return buffer;
    // The caller wants the root itself, and a shared lock cannot be made exclusive. Another backend
    // may push the root down while we do not hold it, so we look at its level again.
    LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    pause_for_test("writer-before-root");
    LockBuffer(buffer, lock_mode);
    if (page_opaque(BufferGetPage(buffer))->level == level)
        return buffer;
    UnlockReleaseBuffer(buffer);
    return InvalidBuffer;
}

} // namespace

Buffer descend(const TreeContext& tree, Entry key, int level, BufferLockMode lock_mode) {
    int hops = 0;
    for (int restarts = 0; restarts < kMaxRestarts; restarts++) {
        Buffer buffer = try_descend(tree, key, level, lock_mode, &hops);
        if (buffer != InvalidBuffer)
            return buffer;
    }
    report_corruption(tree.index, root_block(tree.number), "Links of this tree lead nowhere.");
}

Buffer find_page(const TreeContext& tree, BlockNumber block, Entry key, int level) {
    if (block != InvalidBlockNumber) {
        int hops = 0;
        Buffer buffer = move_right(tree, block, key, level, BUFFER_LOCK_SHARE, Link::kKept, &hops);
        if (buffer != InvalidBuffer)
            return buffer;
    }
    return descend(tree, key, level, BUFFER_LOCK_SHARE);
}

bool leaf_holds(const TreeContext& tree, BlockNumber block, Buffer buffer, Entry key) {
    Page page = BufferGetPage(buffer);
    // After REINDEX the block may be a page that was just added to the new file: not damage.
    if (PageIsNew(page))
        return false;
    check_page(tree.index, block, buffer);
    return page_fit(tree, page, key, 0) == Fit::kHere;
}

int root_level(const TreeContext& tree) {
    Buffer buffer = read_page(tree.index, root_block(tree.number), BUFFER_LOCK_SHARE);
    int level = page_opaque(BufferGetPage(buffer))->level;
    UnlockReleaseBuffer(buffer);
    return level;
}

BlockNumber expected_leaf(const TreeContext& tree, Entry key) {
    if (root_level(tree) == 0)
        return root_block(tree.number);
    Buffer buffer = descend(tree, key, 1, BUFFER_LOCK_SHARE);
    BlockNumber block = child_of(tree, buffer, key);
    UnlockReleaseBuffer(buffer);
    return block;
}

bool has_posting(const TreeContext& postings, uint64_t fingerprint) {
    Entry key{fingerprint, 0};
    // A split may have cut between two postings of the fingerprint, so they may go on to the right.
    // Splits move entries to the right only: a walk from left to right misses none.
    for (;;) {
        Buffer buffer = descend(postings, key, 0, BUFFER_LOCK_SHARE);
        LeafReader reader = open_leaf(postings.index, buffer, postings.kind);
        bool found = reader.contains_key(fingerprint);
        bool more = go_right(postings.index, buffer, &key) && key.key == fingerprint;
        UnlockReleaseBuffer(buffer);
        if (found || !more)
            return found;
    }
}

} // namespace simhash
