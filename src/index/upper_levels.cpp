#include "index/upper_levels.hpp"

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

// The copy of an internal page, made now if there is room; nullptr where there is none or the page
// is a leaf. A slot belongs to the block that came first.
Page UpperLevels::copy_of(const TreeContext& tree, BlockNumber block) {
    Copy& slot = copies_[block % kSlots];
    if (slot.page != nullptr)
        return slot.block == block ? slot.page : nullptr;
    if (copy_count_ == kMaxCopies)
        return nullptr;
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

// Where the copies say that the leaf of `key` is; InvalidBlockNumber where they do not.
BlockNumber UpperLevels::guess_leaf(const TreeContext& tree, TreeKey key) {
    BlockNumber block = root_block(tree.tree);
    path_length_ = 0;
    for (int level = -1; path_length_ < kMaxHeight;) {
        Page page = copy_of(tree, block);
        if (page == nullptr)
            return InvalidBlockNumber;
        path_[path_length_++] = block;
        if (!leads_to(tree, page, key, level)) {
            drop_path();
            return InvalidBlockNumber;
        }
        level = page_opaque(page)->level - 1;
        block = read_pivot(tree.kind, page, find_pivot(tree.kind, page, key)).child;
        if (level == 0)
            return block;
    }
    return InvalidBlockNumber;
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

Buffer UpperLevels::find_leaf(const TreeContext& tree, TreeKey key) {
    if (++descents_ <= kDescentsBefore)
        return simhash::find_leaf(tree, InvalidBlockNumber, key);
    descents_ = kDescentsBefore;
    if (copies_ == nullptr)
        copies_ = static_cast<Copy*>(MemoryContextAllocZero(memory_, kSlots * sizeof(Copy)));
    BlockNumber guess = guess_leaf(tree, key);
    Buffer buffer = simhash::find_leaf(tree, guess, key);
    if (guess != InvalidBlockNumber && BufferGetBlockNumber(buffer) != guess)
        drop_path();
    return buffer;
}

} // namespace simhash
