#include "index/recent_leaves.hpp"

#include "core/bits/prefetch.hpp"

#include <algorithm>

namespace simhash {

struct LeafNote {
    uint32 owner; // index and tree
    BlockNumber block;
    Buffer buffer; // shared
    LeafShape shape;
    // Leading bits of its least key, and the greatest that no key behind it has.
    uint32 low, high;

    friend bool operator==(const LeafNote&, const LeafNote&) = default;
};

namespace {

using Note = LeafNote;

// The leading bits of a key are its slot; there is a note for each slot of a tree, on the leaf on
// which the slot begins. A note takes the place of another of the same address. The system gives
// memory to as much of them as is used: 3 MB to a backend that has searched all over an index of
// 10 million rows, 6 MB at most.
constexpr int kNoteBits = 18;
Note notes[1 << kNoteBits];

constexpr int kMinSlotBits = 11;    // as leaves beside many rows of one fingerprint are narrow
constexpr int kMaxSlotsNoted = 256; // at once

// Where buffers are given to other pages all the time, what was noted must not keep leaves from
// being fetched from disk: so many times the server is asked instead.
constexpr int kDistrust = 256;
int distrust = 0;

uint32 leading_bits(uint64_t key) {
    return uint32(key >> 32);
}

// Pins the leaf if it still is in the buffer; else InvalidBuffer.
Buffer pin_hinted(Relation index, const LeafHint& hint) {
    if (hint.buffer == InvalidBuffer)
        return InvalidBuffer;
    // A visit by this way does not count as use of the buffer, which would be evicted as if nobody
    // used it. So it is taken only where one use more makes no difference.
    uint32 state = pg_atomic_read_u32(&GetBufferDescriptor(hint.buffer - 1)->state);
    bool counts = BUF_STATE_GET_USAGECOUNT(state) < BM_MAX_USAGE_COUNT;
    return !counts && read_recent_buffer(index, hint.block, hint.buffer) ? hint.buffer
                                                                         : InvalidBuffer;
}

} // namespace

bool may_fetch_ahead(Relation relation) {
    return get_tablespace_io_concurrency(relation->rd_rel->reltablespace) > 0;
}

Buffer fetch_page_ahead(Relation relation, BlockNumber block) {
    if (!block_exists(relation, block))
        return InvalidBuffer;
    Buffer buffer = PrefetchBuffer(relation, MAIN_FORKNUM, block).recent_buffer;
    return BufferIsLocal(buffer) ? InvalidBuffer : buffer;
}

void RecentLeaves::init(Relation index, const Layout& layout, BlockNumber index_blocks) {
    index_hash_ = RelationGetRelid(index) * 40503u;
    // A temporary index might have another's name: a shared page may have the same but for the
    // session.
    keeps_notes_ = !RelationUsesLocalBuffers(index);
    fetches_pages_ = may_fetch_ahead(index);
    uint32 leaves = index_blocks / layout.table_count; // of a tree
    int room = kNoteBits - int(std::bit_width(uint32(layout.table_count - 1)));
    // Two to four a leaf, so that on nearly every leaf a slot begins.
    slot_bits_ = std::min(std::max(int(std::bit_width(leaves)) + 1, kMinSlotBits), room);
}

Note* RecentLeaves::note_of_slot(int tree, uint64_t slot) const {
    uint32 base = index_hash_ + (uint32(tree) << slot_bits_);
    return &notes[(base + slot) % (1 << kNoteBits)];
}

// The note on the leaf of a key, or nullptr. A leaf that begins within the key's slot is noted
// under the next.
Note* RecentLeaves::find_note(int tree, uint64_t key) const {
    uint32 bits = leading_bits(key);
    for (int i = 0; i < 2; i++) {
        Note* note = note_of_slot(tree, slot_of(key) + i);
        if (note->owner == owner_of(tree) && note->low <= bits && bits <= note->high &&
            note->buffer != InvalidBuffer)
            return note;
    }
    return nullptr;
}

// The same, to go by it. Expects no lock.
const Note* RecentLeaves::usable_note(const TreeContext& tree, uint64_t key) const {
    Note* note = keeps_notes_ ? find_note(tree.tree, key) : nullptr;
    // An index that was built anew may be smaller than the one of the note.
    if (note != nullptr && !block_exists(tree.index, note->block)) {
        *note = {};
        return nullptr;
    }
    return note;
}

void RecentLeaves::fetch_note_ahead(const TreeContext& tree, uint64_t key) const {
    const Note* note = note_of_slot(tree.tree, slot_of(key));
    prefetch(note);
    prefetch(note + 1); // which find_note() may look at, too
}

LeafHint RecentLeaves::fetch_leaf_ahead(const TreeContext& tree, uint64_t key) const {
    Assert(InterruptHoldoffCount == 0); // as it is under a page lock
    const Note* note = usable_note(tree, key);
    LeafHint hint;
    if (note != nullptr && distrust == 0) {
        hint = {note->block, note->buffer, note};
    } else {
        distrust = std::max(distrust - 1, 0);
        hint.block = note != nullptr ? note->block : expected_leaf(tree, {key, 0});
        if (hint.block != InvalidBlockNumber && fetches_pages_)
            hint.buffer = fetch_page_ahead(tree.index, hint.block);
    }
    if (hint.buffer != InvalidBuffer) {
        // Addresses only: the page is not pinned, and may be another one by now.
        Page page = BufferGetPage(hint.buffer);
        prefetch(page);
        prefetch(page + BLCKSZ - sizeof(PageOpaque));
        prefetch(GetBufferDescriptor(hint.buffer - 1));
    }
    return hint;
}

uint64_t RecentLeaves::end_of_leaf(const LeafHint& hint) {
    return hint.note == nullptr ? 0 : uint64_t(hint.note->high + 1) << 32;
}

void RecentLeaves::fetch_keys_ahead(const LeafHint& hint, uint64_t first, uint64_t last) {
    if (hint.note == nullptr)
        return;
    const Note& note = *hint.note;
    double share = 1 / (double(note.high) - double(note.low) + 1);
    auto fraction = [&](uint64_t key) {
        return std::clamp((double(leading_bits(key)) - note.low) * share, 0.0, 1.0);
    };
    note.shape.prefetch(page_body(BufferGetPage(hint.buffer)), kBodyCapacity, fraction(first),
                        fraction(last));
}

Buffer RecentLeaves::find_leaf(const TreeContext& tree, const LeafHint& known, TreeKey key) const {
    LeafHint hint = known;
    if (hint.buffer == InvalidBuffer) {
        const Note* note = usable_note(tree, key.key);
        if (note != nullptr && (hint.block == InvalidBlockNumber || hint.block == note->block))
            hint = {note->block, note->buffer};
    }
    Buffer buffer = pin_hinted(tree.index, hint);
    if (buffer != InvalidBuffer) {
        LockBuffer(buffer, BUFFER_LOCK_SHARE);
        if (leaf_holds(tree, buffer, key))
            return buffer;
        UnlockReleaseBuffer(buffer);
    }
    return find_page(tree, hint.block, key, 0);
}

void RecentLeaves::note_leaf(const TreeContext& tree, uint64_t key, const LeafHint& hint,
                             Buffer buffer, const LeafReader& reader) const {
    // Nulls are all in one place.
    if (!keeps_notes_ || tree.tree == null_tree(*tree.layout))
        return;
    Page page = BufferGetPage(buffer);
    uint64_t first = leading_bits(page_low(page).key);
    uint64_t end = page_is_rightmost(page) ? uint64_t{1} << 32 : leading_bits(page_high(page).key);
    Note found{
        owner_of(tree.tree), BufferGetBlockNumber(buffer), buffer, reader.shape(), uint32(first),
        uint32(end - 1)};
    if (hint.note != nullptr && *hint.note == found)
        return;
    if (Note* note = find_note(tree.tree, key)) {
        if (*note == found)
            return;
        if (note->block == found.block && note->buffer != found.buffer)
            distrust = kDistrust;
        // It led astray, or is written again below. Of the first leading bits of another leaf, this
        // one may have keys, too.
        if (note->block == found.block || note->low != leading_bits(key))
            *note = {};
    }
    if (first >= end)
        return;
    // Under each slot that begins on it; if none does, under the next, as the leaf whose place it
    // takes mostly has more.
    int width_bits = 32 - slot_bits_;
    uint64_t slot = (first + (uint64_t{1} << width_bits) - 1) >> width_bits;
    uint64_t last = std::max((end - 1) >> width_bits, slot);
    for (int i = 0; i < kMaxSlotsNoted && slot <= last; i++, slot++)
        *note_of_slot(tree.tree, slot) = found;
}

} // namespace simhash
