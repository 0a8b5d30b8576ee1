// Unlinks an empty leaf: one record takes it out of its level and its parent, and flags it deleted.
// A later vacuum records the page as free, when no scan can be under way to it any more
// (vacuum.cpp). The index's README.md states the protocol ("Unlinking a leaf").
#include "index/vacuum/unlink.hpp"

#include "index/testing.hpp"

namespace simhash {

namespace {

// Returns the greatest entry before `key`, which is not the least one.
Entry predecessor(Entry key) {
    return key.tid > 0 ? Entry{key.key, key.tid - 1} : Entry{key.key - 1, kMaxTid};
}

Entry low_of_block(Relation index, BlockNumber block) {
    Buffer buffer = read_page(index, block, BUFFER_LOCK_SHARE);
    Entry low = page_low(BufferGetPage(buffer));
    UnlockReleaseBuffer(buffer);
    return low;
}

// Tests the leaf's own conditions under its lock. A rightmost leaf stays, as nobody could take over
// its keys. An incompletely split one stays, as its right neighbour has no downlink yet.
bool may_unlink(const TreeContext& tree, Buffer buffer) {
    Page page = BufferGetPage(buffer);
    return page_is_leaf(page) && !page_is_deleted(page) && !page_is_rightmost(page) &&
           !(page_opaque(page)->flags & kPageIncompleteSplit) &&
           open_leaf(tree.index, buffer, tree.kind).count() == 0;
}

// Finds the parent and changes all four pages in one record. Expects leaf and neighbours locked
// exclusively; `left` is InvalidBuffer if the leaf is leftmost.
bool unlink_locked(const TreeContext& tree, Buffer left, Buffer buffer, Buffer right) {
    Entry low = page_low(BufferGetPage(buffer));
    // The parent comes after its children in the order of locks (rule 3).
    Buffer parent = descend(tree, low, 1, BUFFER_LOCK_EXCLUSIVE);
    check_internal(tree.index, parent, tree.kind);
    Page parent_page = BufferGetPage(parent);
    // Both pivots must be on this page. Otherwise a second parent would have to change, and a
    // generic record takes four pages at most. So the last child of a parent is never unlinked.
    int position = find_pivot(tree.kind, parent_page, low);
    if (position + 1 >= pivot_count(tree.kind, parent_page) ||
        read_pivot(tree.kind, parent_page, position).child != BufferGetBlockNumber(buffer) ||
        read_pivot(tree.kind, parent_page, position + 1).child != BufferGetBlockNumber(right)) {
        UnlockReleaseBuffer(parent);
        return false;
    }
    // The leaf's pivot now leads to the right neighbour, and the neighbour's own pivot goes. So the
    // pivot's key equals the neighbour's new `low`.
    GenericXLogState* state = GenericXLogStart(tree.index);
    parent_page = GenericXLogRegisterBuffer(state, parent, 0);
    uint8_t* at = page_body(parent_page) + position * pivot_bytes(tree.kind);
    size_t rest = page_body_size(parent_page) - (position + 2) * pivot_bytes(tree.kind);
    write_pivot(tree.kind, at, Pivot{low, BufferGetBlockNumber(right)});
    memmove(at + pivot_bytes(tree.kind), at + 2 * pivot_bytes(tree.kind), rest);
    page_set_body_size(parent_page, page_body_size(parent_page) - pivot_bytes(tree.kind));

    set_page_low(GenericXLogRegisterBuffer(state, right, 0), low);
    if (left != InvalidBuffer)
        page_opaque(GenericXLogRegisterBuffer(state, left, 0))->right = BufferGetBlockNumber(right);
    // The leaf keeps its right link for readers that have read a link to it before. They go right
    // to the page that took over its keys. The transaction id keeps the page from being used again
    // while one of them may still be on its way.
    PageOpaque* opaque = page_opaque(GenericXLogRegisterBuffer(state, buffer, 0));
    opaque->flags |= kPageDeleted;
    opaque->deleted_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
    GenericXLogFinish(state);
    UnlockReleaseBuffer(parent);
    return true;
}

} // namespace

bool unlink_leaf(const TreeContext& tree, BlockNumber block) {
    if (block == root_block(tree.number))
        return false;
    pause_for_test("vacuum-before-unlink");
    // The low key that we read here stays true without a lock: only VACUUM changes the low key of a
    // page, and no second VACUUM works on the index.
    Entry low = low_of_block(tree.index, block);
    Buffer left = InvalidBuffer;
    if (low > Entry{0, 0}) {
        // Pages have no left links, so we descend to the key just before the leaf. We lock the left
        // neighbour before the leaf: rule 3 goes from left to right.
        left = descend(tree, predecessor(low), 0, BUFFER_LOCK_EXCLUSIVE);
        PageOpaque* opaque = page_opaque(BufferGetPage(left));
        // If the neighbour's link leads elsewhere, it was split since, and is not the page to
        // change. If it has the flag, our leaf has no downlink that could be turned over to another
        // page.
        if (opaque->right != block || (opaque->flags & kPageIncompleteSplit)) {
            UnlockReleaseBuffer(left);
            return false;
        }
    }
    bool unlinked = false;
    Buffer buffer = read_page(tree.index, block, BUFFER_LOCK_EXCLUSIVE);
    // The caller saw the leaf empty under an earlier lock. An inserter may have come since.
    if (may_unlink(tree, buffer)) {
        Buffer right =
            read_page(tree.index, page_opaque(BufferGetPage(buffer))->right, BUFFER_LOCK_EXCLUSIVE);
        // Nothing is known that would go wrong with an incompletely split right neighbour. We leave
        // it alone as a precaution.
        if (!(page_opaque(BufferGetPage(right))->flags & kPageIncompleteSplit))
            unlinked = unlink_locked(tree, left, buffer, right);
        UnlockReleaseBuffer(right);
    }
    UnlockReleaseBuffer(buffer);
    if (left != InvalidBuffer)
        UnlockReleaseBuffer(left);
    return unlinked;
}

} // namespace simhash
