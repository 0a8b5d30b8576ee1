// Writes new trees. See the header.
#include "index/build/tree_writer.hpp"

#include <algorithm>

namespace simhash {
namespace {

// Copies an image into a page and logs it whole. Expects the page pinned; releases it. Holds the
// lock of this page only, so rules 1 to 3 hold.
void write_page(Relation index, Buffer buffer, Page image) {
    // Nobody else reads the page yet, but the checkpointer may write it.
    LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
    auto* header = reinterpret_cast<PageHeader>(image);
    // WAL leaves the hole out, and replay fills it with zeros. So do we: both pages are equal.
    memset(image + header->pd_lower, 0, header->pd_upper - header->pd_lower);
    START_CRIT_SECTION();
    memcpy(BufferGetPage(buffer), image, BLCKSZ);
    MarkBufferDirty(buffer);
    if (RelationNeedsWAL(index))
        log_newpage_buffer(buffer, true);
    END_CRIT_SECTION();
    UnlockReleaseBuffer(buffer);
}

} // namespace

BlockNumber NewPages::take() {
    if (next_ == end_) {
        // At 64 taken pages a batch is 2, at 4032 it is 64.
        auto count = int(std::min<int64>(1 + taken_ / kTakenForOneMore, most_at_once_));
        next_ = extend_relation_by(index_, &count);
        end_ = next_ + BlockNumber(count);
    }
    taken_++;
    return next_++;
}

void NewPages::release() {
    if (next_ == end_)
        return;
    // The pages are all zeros, and no link leads there, so insertions may take them.
    while (next_ < end_)
        RecordFreeIndexPage(index_, next_++);
    // A search of the map begins at its upper pages, which this brings up to date.
    IndexFreeSpaceMapVacuum(index_);
}

LevelWriter::LevelWriter(const TreeContext& tree, int level, const LeafRange& range,
                         NewPages* pages)
    : tree_(tree), level_(level), range_(range), pages_(pages),
      page_(static_cast<Page>(palloc(BLCKSZ))), low_(range.low),
      buffer_(range.block == InvalidBlockNumber ? InvalidBuffer
                                                : ReadBuffer(tree.index, range.block)) {}

Page LevelWriter::begin() {
    CHECK_FOR_INTERRUPTS();
    init_page(page_, tree_.number, level_, level_ == 0 ? kPageLeaf : 0);
    // low_ was the high fence of the page before, so both agree.
    set_page_low(page_, low_);
    return page_;
}

void LevelWriter::end(const Entry* next_low) {
    // A level of one page is the tree's root, whose block is fixed. That is known only now, so the
    // first page of a tree's level gets its block here. All others got theirs when the page before
    // them was written.
    bool is_root = next_low == nullptr && range_.is_last && buffer_ == InvalidBuffer;
    if (buffer_ == InvalidBuffer)
        buffer_ =
            is_root ? ReadBuffer(tree_.index, root_block(tree_.number)) : pages_->take_pinned();
    if (!is_root)
        // A page's low is that of its first child, so it is the page's pivot, too.
        pivots_.add({low_, BufferGetBlockNumber(buffer_)});

    Buffer next = InvalidBuffer;
    if (next_low != nullptr) {
        // We take the next page now, because this one must link to it.
        low_ = *next_low;
        next = pages_->take_pinned();
        page_opaque(page_)->right = BufferGetBlockNumber(next);
        set_page_high(page_, low_);
    } else if (!range_.is_last) {
        // The page of the next range's first leaf exists already, even if it is not written yet.
        page_opaque(page_)->right = range_.next_block;
        set_page_high(page_, range_.high);
    }
    write_page(tree_.index, buffer_, page_);
    buffer_ = next;
}

Pivots LevelWriter::finish() {
    pfree(page_);
    return pivots_;
}

LeafWriter::LeafWriter(const TreeContext& tree, int fillfactor, const LeafRange& range,
                       NewPages* pages)
    : tree_(tree), range_(range), leaves_(tree, 0, range, pages),
      target_(kBodyCapacity * fillfactor / 100),
      // To end between two ranges a leaf may be so much smaller or, if the page has room, larger.
      slack_(std::min(target_ * 9 / 100, kBodyCapacity - target_)),
      window_(static_cast<Entry*>(palloc(kWindow * sizeof(Entry)))) {}

// Writes leaves and makes room in the window. Stops when the entries left could all fit into one
// leaf: entries to come decide where that leaf ends.
void LeafWriter::write_full_leaves() {
    while (end_ - begin_ > kMaxPacked)
        write_leaf(entries_of_leaf(window_ + begin_, end_ - begin_));
    std::copy(window_ + begin_, window_ + end_, window_);
    end_ -= begin_;
    begin_ = 0;
}

Pivots LeafWriter::finish() {
    while (begin_ < end_)
        write_leaf(entries_of_leaf(window_ + begin_, end_ - begin_));
    bool is_whole_tree = range_.is_last && range_.block == InvalidBlockNumber;
    // A range without entries still writes an empty leaf: every key needs a leaf, and the range
    // before this one links to its first page. An empty tree is done: write_first_pages() has
    // written its root.
    if (last_count_ == 0 && !is_whole_tree)
        write_leaf(0);
    pfree(window_);
    return leaves_.finish();
}

// Returns how many of these entries go to the next leaf. The entries are all that are left, or more
// than fit. The leaf should end where a range of a probe ends, so that one leaf holds the range. It
// ends at the range's end nearest to its target size if one is within the slack, else at the
// target.
int LeafWriter::entries_of_leaf(const Entry* entries, int count) {
    // The size of a leaf is that of its packed part, which depends on the entries' values. So the
    // number that fits is searched for.
    PackedSizes sizes(tree_.kind, entries);
    int most = std::min(count, kMaxPacked);
    auto most_within = [&](size_t bytes, int guess) {
        return sizes.most_within(bytes, most, guess);
    };
    // Neighbouring leaves have about as many entries: the search begins with the last one's number.
    int fitting = most_within(target_, last_count_);
    // All that is left fits, so this is the last leaf.
    if (fitting == count)
        return count;
    size_t limit = target_ + slack_;
    // First an end of a range before the target, then one behind it, if that is nearer.
    int range_end = 0; // entries up to the end of a range near the target; 0: there is none
    for (int i = fitting, least = most_within(target_ - slack_ - 1, fitting); i > least; i--)
        if (begins_range(tree_, entries[i - 1], entries[i])) {
            range_end = i;
            limit = target_ + (target_ - sizes.bytes(i)); // no end beyond this is nearer
            break;
        }
    int longest = most_within(limit, fitting);
    // The first end behind the target is the nearest there, no farther than the one before.
    for (int i = fitting + 1; i <= longest && i < count; i++)
        if (begins_range(tree_, entries[i - 1], entries[i]))
            return i;
    // All entries left fit within the slack: rather a full leaf than one more with a few entries.
    if (longest == count)
        return count;
    return range_end > 0 ? range_end : fitting;
}

// Writes a leaf of the window's first `count` entries.
void LeafWriter::write_leaf(int count) {
    const Entry* entries = window_ + begin_;
    begin_ += count;
    last_count_ = count;
    Page page = leaves_.begin();
    size_t bytes = encode_packed(tree_.kind, entries, count, page_body(page), kBodyCapacity);
    if (bytes == 0)
        elog(ERROR, "entries of a leaf do not fit"); // cannot be: entries_of_leaf() counted them
    page_set_body_size(page, bytes);
    if (begin_ == end_) {
        leaves_.end(nullptr);
    } else {
        Entry next_low = low_key_between(tree_, entries[count - 1], entries[count]);
        leaves_.end(&next_low);
    }
}

void write_upper_levels(const TreeContext& tree, Pivots below, NewPages* pages) {
    // A tenth stays free for the pivots of splits to come, whatever the fillfactor.
    size_t bytes = pivot_bytes(tree.kind), pivots_of_page = kBodyCapacity * 9 / 10 / bytes;
    // The last level fits into one page, the root, which has no pivot: then the loop ends.
    for (int level = 1; !below.all().empty(); level++) {
        std::span<const Pivot> pivots = below.all();
        LevelWriter writer(tree, level, LeafRange{}, pages);
        for (size_t begin = 0; begin < pivots.size(); begin += pivots_of_page) {
            size_t end = std::min(begin + pivots_of_page, pivots.size());
            Page page = writer.begin();
            for (size_t i = begin; i < end; i++)
                write_pivot(tree.kind, page_body(page) + (i - begin) * bytes, pivots[i]);
            page_set_body_size(page, (end - begin) * bytes);
            writer.end(end < pivots.size() ? &pivots[end].key : nullptr);
        }
        below.release();
        below = writer.finish();
    }
}

} // namespace simhash
