#include "index/upper_levels.hpp"

#include "index/recent_leaves.hpp"

namespace simhash {

namespace {

// False where the page cannot be the one of this tree and level that leads to `key`. `level` < 0:
// any.
bool leads_to(const TreeContext& tree, Page page, TreeKey key, int level) {
    PageOpaque* opaque = page_opaque(page);
    return opaque->tree == tree.tree && !page_is_deleted(page) &&
           (level < 0 || opaque->level == level) && page_low(page) <= key &&
           !page_precedes(page, key);
}

} // namespace

// The copy of an internal page, made now if that is wanted and there is room; nullptr where there
// is none or the page is a leaf. A slot belongs to the block that came first. To make one, expects
// no lock.
Page UpperLevels::copy_of(const TreeContext& tree, BlockNumber block, bool make) {
    Copy& slot = copies_[block % kSlots];
    if (slot.page != nullptr)
        return slot.block == block ? slot.page : nullptr;
    if (!make || copy_count_ == kMaxCopies)
        return nullptr;
    Assert(InterruptHoldoffCount == 0); // as it is under a page lock
    auto* copy = static_cast<char*>(MemoryContextAlloc(memory_, BLCKSZ));
    Buffer buffer = read_page(tree.index, block, BUFFER_LOCK_SHARE);
    bool internal = !page_is_leaf(BufferGetPage(buffer)) && block != kMetaBlock;
    if (internal) {
        check_internal(tree.index, buffer, tree.kind);
        memcpy(copy, BufferGetPage(buffer), BLCKSZ);
    }
    UnlockReleaseBuffer(buffer);
    if (!internal) {
        pfree(copy);
        return nullptr;
    }
    slot = {block, copy};
    copy_count_++;
    return copy;
}

// Where the copies say that the leaf of `key` is; notes their path. Makes those that are missing,
// or stops there.
UpperLevels::Hint UpperLevels::follow_copies(const TreeContext& tree, TreeKey key, bool make) {
    BlockNumber block = root_block(tree.tree);
    path_length_ = 0;
    for (int level = -1; path_length_ < kMaxHeight;) {
        Page page = copy_of(tree, block, make);
        if (page == nullptr)
            return {};
        path_[path_length_++] = block;
        if (!leads_to(tree, page, key, level)) {
            drop_path();
            return {};
        }
        level = page_opaque(page)->level - 1;
        int i = find_pivot(tree.kind, page, key);
        Pivot pivot = read_pivot(tree.kind, page, i);
        block = pivot.child;
        if (level == 0) {
            bool last = i + 1 == pivot_count(tree.kind, page);
            return {block, true, pivot.key.key,
                    last ? UINT64_MAX : read_pivot(tree.kind, page, i + 1).key.key};
        }
    }
    return {};
}

UpperLevels::Hint UpperLevels::guess_leaf(const TreeContext& tree, TreeKey key) {
    if (++descents_ <= kDescentsBefore)
        return {};
    descents_ = kDescentsBefore;
    if (copies_ == nullptr)
        copies_ = static_cast<Copy*>(MemoryContextAllocZero(memory_, kSlots * sizeof(Copy)));
    return follow_copies(tree, key, true);
}

void UpperLevels::drop_path() {
    while (path_length_ > 0) {
        Copy& slot = copies_[path_[--path_length_] % kSlots];
        if (slot.page == nullptr) // a damaged link led to a page of the path
            continue;
        pfree(slot.page);
        slot.page = nullptr;
        copy_count_--;
    }
}

UpperLevels::Hint UpperLevels::fetch_ahead(const TreeContext& tree, uint64_t first, uint64_t last) {
    Hint hint = guess_leaf(tree, {first, 0});
    if (hint.block == InvalidBlockNumber)
        hint.block = expected_leaf(tree, {first, 0});
    if (hint.block == InvalidBlockNumber)
        return hint;
    fetch_leaf_ahead(tree.index, hint.block, fraction_of_range(hint.low, hint.high, first),
                     fraction_of_range(hint.low, hint.high, last));
    return hint;
}

Buffer UpperLevels::find_leaf(const TreeContext& tree, const Hint& known, TreeKey key) {
    Hint hint = known.block == InvalidBlockNumber ? guess_leaf(tree, key) : known;
    Buffer pinned =
        hint.block == InvalidBlockNumber ? InvalidBuffer : pin_recent_leaf(tree.index, hint.block);
    Buffer buffer = simhash::find_leaf(tree, hint.block, key, pinned);
    if (hint.by_copies && BufferGetBlockNumber(buffer) != hint.block) {
        follow_copies(tree, key, false); // the leaf is locked
        drop_path();
    }
    return buffer;
}

} // namespace simhash
