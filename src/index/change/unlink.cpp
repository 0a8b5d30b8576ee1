// Entries taken from leaves, and the unlinking of empty leaves. The index's README.md states the
// protocol ("Unlinking a leaf").
#include "index/change/unlink.hpp"

namespace simhash {

void rewrite_leaf(const TreeContext& tree, Buffer buffer, std::span<const Entry> packed,
                  std::span<const Entry> tail) {
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page page = GenericXLogRegisterBuffer(state, buffer, 0);
    size_t bytes = encode_body(tree.kind, packed, tail, page_body(page), kBodyCapacity);
    if (bytes == 0) // a part never encodes larger
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "Entries of a leaf are out of order.");
    page_set_body_size(page, bytes);
    GenericXLogFinish(state);
}

// ---- Unlinking ----

namespace {

Entry predecessor(Entry key) {
    return key.tid > 0 ? Entry{key.key, key.tid - 1} : Entry{key.key - 1, kMaxTid};
}

Entry low_of_block(Relation index, BlockNumber block) {
    Buffer buffer = read_page(index, block, BUFFER_LOCK_SHARE);
    Entry low = page_low(BufferGetPage(buffer));
    UnlockReleaseBuffer(buffer);
    return low;
}

bool may_unlink(const TreeContext& tree, Buffer buffer) {
    Page page = BufferGetPage(buffer);
    return page_is_leaf(page) && !page_is_deleted(page) && !page_is_rightmost(page) &&
           !(page_opaque(page)->flags & kPageIncompleteSplit) &&
           open_leaf(tree.index, buffer, tree.kind).count() == 0;
}

// With neighbours and leaf locked: finds the parent and changes all four pages in one record.
bool unlink_locked(const TreeContext& tree, Buffer left, Buffer buffer, Buffer right) {
    Entry low = page_low(BufferGetPage(buffer));
    Buffer parent = descend(tree, low, 1, BUFFER_LOCK_EXCLUSIVE);
    check_internal(tree.index, parent, tree.kind);
    Page parent_page = BufferGetPage(parent);
    // Both pivots must be here: otherwise two parents would have to change.
    int position = find_pivot(tree.kind, parent_page, low);
    if (position + 1 >= pivot_count(tree.kind, parent_page) ||
        read_pivot(tree.kind, parent_page, position).child != BufferGetBlockNumber(buffer) ||
        read_pivot(tree.kind, parent_page, position + 1).child != BufferGetBlockNumber(right)) {
        UnlockReleaseBuffer(parent);
        return false;
    }
    // The leaf's pivot leads to its right neighbour from now on, whose own pivot goes: the parent
    // then says of that page what its new low key says.
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
    // The page keeps its right link for those who read a link to it before. While one of them may
    // still come it is not used again: its transaction id tells.
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
    // VACUUM alone changes the low key of a page, so this one holds until the page is locked.
    Entry low = low_of_block(tree.index, block);
    Buffer left = InvalidBuffer;
    if (low > Entry{0, 0}) {
        // There are no left links. The left neighbour is locked first: left to right (rule 3).
        left = descend(tree, predecessor(low), 0, BUFFER_LOCK_EXCLUSIVE);
        PageOpaque* opaque = page_opaque(BufferGetPage(left));
        // Another link: the neighbour was split since. The flag: the leaf has no downlink to take.
        if (opaque->right != block || (opaque->flags & kPageIncompleteSplit)) {
            UnlockReleaseBuffer(left);
            return false;
        }
    }
    bool unlinked = false;
    Buffer buffer = read_page(tree.index, block, BUFFER_LOCK_EXCLUSIVE);
    // It was empty without a lock: an inserter may have come since.
    if (may_unlink(tree, buffer)) {
        Buffer right =
            read_page(tree.index, page_opaque(BufferGetPage(buffer))->right, BUFFER_LOCK_EXCLUSIVE);
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
