// A cursor over a range of keys of one tree. Scans reach leaves through it only.
//
// It finds the leaf of its position by a note or from the root, fetches it ahead, locks it, and
// goes on to the right by the fence. Between two leaves it holds neither pin nor lock, only the
// position: entries before the position are done. The position says where to go on, whatever
// happens to the pages meanwhile (README.md, "Scans").
#pragma once

#include "index/search/notes.hpp"

namespace simhash {

// The keys from `first` to `last`, both included.
struct KeyRange {
    uint64_t first, last;
};
constexpr KeyRange kAllKeys = {0, UINT64_MAX};

// A tree as scans see it: with this backend's notes on its leaves.
struct SearchedTree {
    TreeContext context;
    LeafNotes notes;
    bool fetches_pages; // from disk, before they are read

    SearchedTree(const TreeContext& tree, BlockNumber index_blocks);
};

class LeafCursor {
  public:
    // Makes a cursor over nothing, which is at its end.
    LeafCursor() = default;
    LeafCursor(SearchedTree* tree, KeyRange range, const Slices& slices = {})
        : tree_(tree), position_{range.first, 0}, last_(range.last), slices_(slices) {}

    bool at_end() const { return tree_ == nullptr; }
    void end() { tree_ = nullptr; }
    const TreeContext& tree() const { return tree_->context; }
    // The scan is done with all entries before the position.
    Entry position() const { return position_; }
    // The keys that are left. slices() are those of the whole range, if it is cut into slices.
    KeyRange rest() const { return {position_.key, last_}; }
    const Slices& slices() const { return slices_; }

    // Fetches the leaves of several cursors ahead. Does each step for all cursors before the next
    // step, so that the waits for memory overlap. Expects no lock: it may read pages, and rule 1
    // allows a reader one lock at a time.
    static void fetch_ahead(LeafCursor* cursors, int count);

    // Pins the leaf of the position, locks it shared and opens it. Expects no lock. Raises an error
    // if old_snapshot_threshold let VACUUM remove entries that the snapshot may need.
    LeafReader lock(Snapshot snapshot);
    // Moves the position to the high fence of this leaf, where the next leaf begins, or ends the
    // cursor. Expects the leaf locked: fence and link must be of the same moment as the entries
    // that the caller has read. Otherwise a split in between would hide the entries that it moves.
    void go_on() {
        const PageOpaque* opaque = page_opaque(BufferGetPage(buffer_));
        if (opaque->high_key <= last_ && go_right(tree_->context.index, buffer_, &position_)) {
            // The right link is a hint only: lock() checks the fences of the page that it finds.
            hint_ = {opaque->right};
            if (slices_.cut_range())
                pass_to_slice();
        } else {
            end();
        }
    }
    // After go_on(): true when the next leaf begins among the postings of the position's key.
    bool is_among_postings() const { return !at_end() && position_.tid > 0; }
    void pass_key();

    Buffer buffer() const { return buffer_; } // of the leaf that is locked
    void release() { UnlockReleaseBuffer(buffer_); }
    // Releases the lock and hands the pin to the caller.
    Buffer unlock() {
        LockBuffer(buffer_, BUFFER_LOCK_UNLOCK);
        return buffer_;
    }

  private:
    void find_ahead();
    void prefetch_keys();
    void pass_to_slice();
    Buffer lock_leaf();

    SearchedTree* tree_ = nullptr; // null: at its end
    Entry position_{0, 0};
    uint64_t last_ = 0;
    Slices slices_;
    LeafHint hint_; // where the leaf of the position is thought to be
    Buffer buffer_ = InvalidBuffer;
};

} // namespace simhash
