// The cursor over leaves; see the header.
#include "index/search/cursor.hpp"

#include "index/store/fetch_ahead.hpp"

namespace simhash {

SearchedTree::SearchedTree(const TreeContext& tree, BlockNumber index_blocks)
    : context(tree), notes(tree, index_blocks), fetches_pages(may_fetch_ahead(tree.index)) {}

void LeafCursor::find_ahead() {
    Assert(InterruptHoldoffCount == 0); // as it is under a page lock
    hint_ = tree_->notes.look_up(position_.key);
    // Without a note, or while notes are often wrong, the leaf may be on disk.
    if (hint_.note == nullptr || !LeafNotes::trust()) {
        hint_.note = nullptr;
        hint_.buffer = InvalidBuffer;
        if (hint_.block == InvalidBlockNumber)
            hint_.block = expected_leaf(tree_->context, position_);
        if (hint_.block != InvalidBlockNumber && tree_->fetches_pages)
            hint_.buffer = fetch_page_ahead(tree_->context.index, hint_.block);
    }
    if (hint_.buffer != InvalidBuffer) {
        prefetch_page(hint_.buffer);
        prefetch_page_end(hint_.buffer);
    }
}

// What is to be read of the leaf that was found. Returns where that leaf ends; 0 where there is no
// note, or at the end.
uint64_t LeafCursor::prefetch_leaf() {
    LeafNotes::prefetch_tail(hint_);
    if (!slices_.cut_range())
        return LeafNotes::prefetch_keys(hint_, position_.key, last_);
    uint64_t end = 0;
    for (int i = 0; i < slices_.count(); i++)
        end = LeafNotes::prefetch_keys(hint_, slices_.first(i), slices_.last(i));
    return end;
}

// Also of the next leaf, where the range goes on there.
void LeafCursor::prefetch_keys() {
    uint64_t end = prefetch_leaf();
    if (end == 0 || end > last_)
        return;
    LeafCursor next(tree_, {end, last_}, slices_);
    if (slices_.cut_range())
        next.pass_to_slice();
    if (!next.at_end()) {
        next.find_ahead();
        next.prefetch_leaf();
    }
}

void LeafCursor::fetch_ahead(LeafCursor* cursors, int count) {
    // Each step needs what the step before has asked for. By then it has come, as the other cursors
    // had their turn.
    for (int i = 0; i < count; i++)
        cursors[i].tree_->notes.prefetch_note(cursors[i].position_.key);
    for (int i = 0; i < count; i++)
        cursors[i].find_ahead();
    for (int i = 0; i < count; i++)
        cursors[i].prefetch_keys();
}

void LeafCursor::fetch_ahead() {
    find_ahead();
    prefetch_leaf();
}

// The leaf of the position, pinned and locked shared.
inline Buffer LeafCursor::lock_leaf() {
    const TreeContext& tree = tree_->context;
    LeafHint hint = hint_;
    if (hint.buffer == InvalidBuffer) {
        LeafHint noted = tree_->notes.look_up(position_.key);
        // A link that was read a moment ago is younger than a note; only its buffer is missing.
        if (noted.note != nullptr &&
            (hint.block == InvalidBlockNumber || hint.block == noted.block))
            hint = noted;
    }
    // The short way: the buffer that had the page, without asking the server's table of buffers.
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
    // Under the lock: whatever takes entries off the leaf afterwards is no concern of this reading.
    test_for_old_snapshot(snapshot, tree.index, BufferGetPage(buffer_));
    LeafReader reader = open_leaf(tree.index, buffer_, tree.kind);
    tree_->notes.put(position_.key, hint_, buffer_, reader);
    return reader;
}

// After go_on(): moves the position to the next key that is in a slice, or the cursor to its end.
void LeafCursor::pass_to_slice() {
    uint64_t key = position_.key;
    if (!slices_.advance(&key)) {
        end();
    } else if (key != position_.key) {
        position_ = {key, 0};
        hint_ = {}; // the leaf to the right may not be the one
    }
}

void LeafCursor::pass_key() {
    if (position_.key >= last_)
        end();
    position_ = {position_.key + 1, 0};
    hint_ = {};
}

} // namespace simhash
