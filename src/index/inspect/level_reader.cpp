// Reads an index from end to end. See the header.
#include "index/inspect/level_reader.hpp"

namespace simhash {

LevelReader::LevelReader(const TreeContext& tree, int level, Entry first)
    : tree_(tree), level_(level), position_(first), next_(InvalidBlockNumber),
      page_(static_cast<Page>(palloc(BLCKSZ))) {}

bool LevelReader::next() {
    CHECK_FOR_INTERRUPTS();
    if (ended_)
        return false;
    // We copy the page, because the caller may raise errors, allocate and wait while it looks at
    // it: nobody may do that under a page lock. The position is moved under the same lock, as in a
    // scan.
    Buffer buffer = find_page(tree_, next_, position_, level_);
    memcpy(page_, BufferGetPage(buffer), BLCKSZ);
    block_ = BufferGetBlockNumber(buffer);
    // go_right() moves the position to the page's high, and returns false where there is none.
    ended_ = !go_right(tree_.index, buffer, &position_);
    UnlockReleaseBuffer(buffer);
    // This is the link in the copy. The page itself may have another right neighbour by now, and
    // the position will tell.
    next_ = page_opaque(page_)->right;
    return true;
}

// The reader reads in the copy, which is valid until next().
LeafReader LevelReader::leaf() const {
    LeafReader reader;
    if (!page_is_leaf(page_) || !reader.open(page_body(page_), page_body_size(page_), tree_.kind))
        report("The leaf's header does not fit its content.");
    return reader;
}

EntryReader::EntryReader(const TreeContext& tree, Entry first)
    : leaves_(tree, 0, first), first_(first),
      entries_(static_cast<Entry*>(palloc(kMaxLeafEntries * sizeof(Entry)))) {}

bool EntryReader::next(Entry* entry) {
    do {
        // Empty leaves take more than one turn.
        while (position_ == count_) {
            if (!leaves_.next())
                return false;
            count_ = leaves_.leaf().decode_sorted(entries_);
            position_ = 0;
        }
        *entry = entries_[position_++];
        // The first leaf may begin before the wanted entry.
    } while (*entry < first_);
    return true;
}

int root_level(const TreeContext& tree) {
    Buffer buffer = read_page(tree.index, root_block(tree.number), BUFFER_LOCK_SHARE);
    int level = page_opaque(BufferGetPage(buffer))->level;
    UnlockReleaseBuffer(buffer);
    return level;
}

} // namespace simhash
