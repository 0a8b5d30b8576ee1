// The cursor over leaves. See the header.
#include "index/search/cursor.hpp"

#include "index/store/page.hpp"

namespace simhash {

SearchedTree::SearchedTree(const TreeContext& tree, BlockNumber index_blocks)
    : context(tree), notes(tree, index_blocks), fetches_pages(may_fetch_ahead(tree.index)) {}

void LeafCursor::find_ahead() {
    // A content lock holds interrupts off. We may lock pages below, and replay locks all pages of a
    // record in an order of its own: a reader with a lock could wait for replay, and replay for it
    // (rule 1).
    Assert(InterruptHoldoffCount == 0);
    hint_ = tree_->notes.look_up(position_.key);
    // If there is no note, the leaf may be on disk.
    if (hint_.note == nullptr) {
        hint_.block = expected_leaf(tree_->context, position_);
        if (tree_->fetches_pages)
            hint_.buffer = fetch_page_ahead(tree_->context.index, hint_.block);
    }
    if (hint_.buffer != InvalidBuffer)
        prefetch_page(hint_.buffer);
}

// Fetches the part of the found leaf's keys that the search will compare.
void LeafCursor::prefetch_keys() {
    if (!slices_.cut_range())
        tree_->notes.prefetch_keys(hint_, position_.key, last_);
    else
        for (int i = 0; i < slices_.count(); i++)
            tree_->notes.prefetch_keys(hint_, slices_.first(i), slices_.last(i));
}

void LeafCursor::fetch_ahead(LeafCursor* cursors, int count) {
    for (int i = 0; i < count; i++)
        cursors[i].find_ahead();
    for (int i = 0; i < count; i++)
        cursors[i].prefetch_keys();
}

// Returns the leaf of the position, pinned and locked shared.
inline Buffer LeafCursor::lock_leaf() {
    const TreeContext& tree = tree_->context;
    LeafHint hint = hint_;
    if (hint.buffer == InvalidBuffer) {
        LeafHint noted = tree_->notes.look_up(position_.key);
        // A link that we have just read, from the left or from above, is younger than a note. So we
        // take the note only if it names the same block, for the buffer that the link lacks.
        if (noted.note != nullptr &&
            (hint.block == InvalidBlockNumber || hint.block == noted.block))
            hint = noted;
    }
    // The short way goes straight to the buffer that had the page, past the server's buffer table.
    // The server checks under the pin that the buffer still holds the block. The fences say under
    // the lock whether the page still holds the position. So a stale hint costs time only.
    Buffer buffer = pin_recent_page(tree.index, hint.block, hint.buffer);
    if (buffer != InvalidBuffer) {
        LockBuffer(buffer, BUFFER_LOCK_SHARE);
        if (leaf_holds(tree, hint.block, buffer, position_))
            return buffer;
        UnlockReleaseBuffer(buffer);
    }
    return find_page(tree, hint.block, position_, 0);
}

LeafReader LeafCursor::lock(Snapshot snapshot) {
    const TreeContext& tree = tree_->context;
    buffer_ = lock_leaf();
    // A removal leaves its LSN on the leaf. We test it under the lock under which we read: a
    // removal that comes later cannot take entries from what we have read.
    test_for_old_snapshot(snapshot, tree.index, BufferGetPage(buffer_));
    LeafReader reader = open_leaf(tree.index, buffer_, tree.kind);
    // A note names block and buffer, and we know both while we have the pin.
    tree_->notes.put(position_.key, hint_, buffer_, reader);
    return reader;
}

// After go_on(): moves the position to the next key that is in a slice, or ends the cursor.
void LeafCursor::pass_to_slice() {
    uint64_t key = position_.key;
    if (!slices_.advance(&key)) {
        end();
    } else if (key != position_.key) {
        position_ = {key, 0};
        // The right link leads to the leaf of the old position. The new one may be leaves away.
        hint_ = {};
    }
}

void LeafCursor::pass_key() {
    // The last key of the range may be UINT64_MAX, and the position below would wrap to 0.
    if (position_.key >= last_)
        end();
    position_ = {position_.key + 1, 0};
    hint_ = {};
}

} // namespace simhash
