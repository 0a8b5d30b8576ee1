// The B-link trees: the ranges of their keys, and the descent; see the header.
#include "index/store/tree.hpp"

namespace simhash {

TreeContext tree_context(Relation index, Relation heap, const Layout* layout, int tree) {
    return {index, heap, layout, tree, tree_kind(*layout, tree)};
}

// ---- Ranges of probes ----

namespace {

// The bits of a tree's keys after the prefix of a range.
uint64_t bits_in_range(const TreeContext& tree) {
    if (tree.number == null_tree(*tree.layout))
        return UINT64_MAX;
    int prefix_bits = std::popcount(tree.layout->masks[tree.number]);
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

// A damaged index must not keep us going round: far more hops than any sound tree needs.
constexpr int kMaxHops = 1 << 16;
constexpr int kMaxRestarts = 1000;
// A link that was kept for long may lead to a page that was split many times since.
constexpr int kMaxHopsOfKeptLink = 4;

// How old a link is: read a moment ago, or in another call.
enum class Link { kNew, kKept };

void count_hop(Relation index, BlockNumber block, int* hops) {
    if (++*hops > kMaxHops)
        report_corruption(index, block, "Sibling or child links form a circle.");
}

enum class Fit { kHere, kRight, kElsewhere };

// Where `key` is to be looked for, seen from a page that a link led to.
Fit page_fit(const TreeContext& tree, Page page, Entry key, int level) {
    PageOpaque* opaque = page_opaque(page);
    if ((opaque->flags & kPageMeta) || opaque->tree != tree.number || opaque->level != level)
        return Fit::kElsewhere;
    if (page_is_deleted(page))
        return page_is_rightmost(page) ? Fit::kElsewhere : Fit::kRight;
    if (key < page_low(page))
        return Fit::kElsewhere;
    return page_precedes(page, key) ? Fit::kRight : Fit::kHere;
}

// The child of an internal page that holds `key`.
BlockNumber child_of(const TreeContext& tree, Buffer buffer, Entry key) {
    Page page = BufferGetPage(buffer);
    check_internal(tree.index, buffer, tree.kind);
    return read_pivot(tree.kind, page, find_pivot(tree.kind, page, key)).child;
}

// Goes from `block`, on `level`, right to the page that holds `key`, and locks it. Returns
// InvalidBuffer where the link turns out to be stale, or, if it was kept, the page is not reached
// in a few hops.
Buffer move_right(const TreeContext& tree, BlockNumber block, Entry key, int level,
                  BufferLockMode lock_mode, Link link, int* hops) {
    int patience = link == Link::kKept ? kMaxHopsOfKeptLink : kMaxHops;
    for (;;) {
        CHECK_FOR_INTERRUPTS();
        Buffer buffer = pin_page(tree.index, block);
        LockBuffer(buffer, lock_mode);
        Page page = BufferGetPage(buffer);
        // An index that was built anew may be just growing where a link into the old one leads.
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
        // Rule 1: released before the next page is locked. The right link may go out of date
        // meanwhile, as any link may.
        UnlockReleaseBuffer(buffer);
        if (fit == Fit::kElsewhere || patience-- == 0)
            return InvalidBuffer;
        count_hop(tree.index, block, hops);
    }
}

// One descent; InvalidBuffer where it met a stale link.
Buffer try_descend(const TreeContext& tree, Entry key, int level, BufferLockMode lock_mode,
                   int* hops) {
    // Roots never move, so a descent can begin anew at any time.
    Buffer buffer = read_page(tree.index, root_block(tree.number), BUFFER_LOCK_SHARE);
    if (page_opaque(BufferGetPage(buffer))->tree != tree.number)
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "A root belongs to another tree.");
    int at = page_opaque(BufferGetPage(buffer))->level;
    if (at < level)
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "A root is lower than one of its pages.");
    while (at > level) {
        // The child may be split before it is locked: move_right() looks at its fences.
        BlockNumber child = child_of(tree, buffer, key);
        UnlockReleaseBuffer(buffer);
        // Levels are counted here, not read, so damaged links cannot keep the descent from ending.
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
    // The root itself is wanted, and a shared lock cannot be made exclusive. The root may be pushed
    // down while it is unlocked.
    LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
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
    // An index that was built anew may be just growing there.
    if (PageIsNew(page))
        return false;
    check_page(tree.index, block, buffer);
    return page_fit(tree, page, key, 0) == Fit::kHere;
}

BlockNumber expected_leaf(const TreeContext& tree, Entry key) {
    BlockNumber block = root_block(tree.number);
    Buffer buffer = read_page(tree.index, block, BUFFER_LOCK_SHARE);
    int hops = 0;
    for (int level = page_opaque(BufferGetPage(buffer))->level; level > 0; level--) {
        block = child_of(tree, buffer, key);
        UnlockReleaseBuffer(buffer);
        if (level == 1) // the leaf itself is not read
            return block;
        buffer = move_right(tree, block, key, level - 1, BUFFER_LOCK_SHARE, Link::kKept, &hops);
        if (buffer == InvalidBuffer)
            return InvalidBlockNumber;
    }
    UnlockReleaseBuffer(buffer);
    return block;
}

bool has_posting(Relation index, const Layout* layout, uint64_t fingerprint) {
    TreeContext postings = tree_context(index, nullptr, layout, 0);
    Entry key{fingerprint, 0};
    // An incomplete split or a cut inside of a fingerprint's postings: they may go on to the right.
    for (;;) {
        Buffer buffer = descend(postings, key, 0, BUFFER_LOCK_SHARE);
        LeafReader reader = open_leaf(index, buffer, postings.kind);
        bool found = reader.contains_key(fingerprint);
        bool more = go_right(index, buffer, &key) && key.key == fingerprint;
        UnlockReleaseBuffer(buffer);
        if (found || !more)
            return found;
    }
}

} // namespace simhash
