// The one way of a scan to a leaf and along leaves: a cursor over a range of keys of one tree.
//
// It finds the leaf of its position by a note or from the root, has it fetched ahead, locks it, and
// goes on to the right by the fence. In between it holds neither pin nor lock, only the position:
// entries before it are done, and whatever happens to the pages meanwhile, the position tells where
// to go on (README.md, "Scans").
#pragma once

#include "index/search/notes.hpp"

namespace simhash {

// Keys from first to last, both included.
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
    // Over nothing: at its end.
    LeafCursor() = default;
    LeafCursor(SearchedTree* tree, KeyRange range, const Slices& slices = {})
        : tree_(tree), position_{range.first, 0}, last_(range.last), slices_(slices) {}

    bool at_end() const { return tree_ == nullptr; }
    void end() { tree_ = nullptr; }
    const TreeContext& tree() const { return tree_->context; }
    // Entries before it are done.
    Entry position() const { return position_; }
    // The keys that are left, and the slices of the whole range, if it is cut.
    KeyRange rest() const { return {position_.key, last_}; }
    const Slices& slices() const { return slices_; }

    // Has the leaves of several cursors fetched ahead, in steps, each for all of them, so that
    // waiting for one overlaps with waiting for the others. Expects no lock.
    static void fetch_ahead(LeafCursor* cursors, int count);
    // Of this one alone.
    void fetch_ahead();

    // Pins the leaf of the position, locks it shared and opens it. Expects no lock. Raises an error
    // where the snapshot is too old for what the leaf has lost.
    LeafReader lock(Snapshot snapshot);
    // Moves the position to the next leaf of the range, by the fence of this one, or the cursor to
    // its end. Expects the leaf locked.
    void go_on() {
        const PageOpaque* opaque = page_opaque(BufferGetPage(buffer_));
        if (opaque->high_key <= last_ && go_right(tree_->context.index, buffer_, &position_)) {
            hint_ = {opaque->right};
            if (slices_.cut_range())
                pass_to_slice();
        } else {
            end();
        }
    }
    // After go_on(): the next leaf begins among the postings of the key of the position. This moves
    // the position to the next key.
    bool is_among_postings() const { return !at_end() && position_.tid > 0; }
    void pass_key();

    Buffer buffer() const { return buffer_; } // of the leaf that is locked
    void release() { UnlockReleaseBuffer(buffer_); }
    // Gives the lock away, and the pin to the caller.
    Buffer unlock() {
        LockBuffer(buffer_, BUFFER_LOCK_UNLOCK);
        return buffer_;
    }

  private:
    void find_ahead();
    uint64_t prefetch_leaf();
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
