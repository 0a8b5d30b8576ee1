// The backend's notes on leaves. See the header.
#include "index/search/notes.hpp"

#include "core/bits/memory.hpp"

#include <algorithm>

namespace simhash {

struct LeafNote {
    uint32 owner; // index and tree
    BlockNumber block;
    Buffer buffer; // shared
    LeafShape shape;
    // All keys whose leading bits are greater than `low` and at most `high` belong on the leaf; of
    // those with `low`, perhaps only a part.
    uint32 low, high;

    friend bool operator==(const LeafNote&, const LeafNote&) = default;
};

namespace {

// The leading bits of a key are its slot. Each slot of a tree has one note, about the leaf on which
// the slot begins. A new note overwrites the one at its address. Pages of the array become resident
// only when touched: 4 MB in a backend that has searched all over an index of 10 million rows,
// 29 MB, the whole array, for 100 million.
constexpr int kNoteBits = 20;
// constinit leaves the zeros to the loader. Initialisation by code would write the array, and so
// make all 29 MB resident in every session and parallel worker that loads the library.
constinit LeafNote notes[1 << kNoteBits] = {};

constexpr int kMinSlotBits = 11;    // leaves beside many rows of one fingerprint are narrow
constexpr int kMaxSlotsNoted = 256; // by one put()

} // namespace

LeafNotes::LeafNotes(const TreeContext& tree, BlockNumber index_blocks)
    : index_(tree.index), zero_bits_(kFingerprintBits - tree.layout->key_bits) {
    int table_count = null_tree(*tree.layout); // of all lanes
    uint32 index_hash = RelationGetRelid(tree.index) * 40503u;
    owner_ = index_hash + uint32(tree.number);
    uint32 leaves = index_blocks / table_count; // of one tree, about
    // These are the bits of a slot's address that the trees of the index do not need.
    int room = kNoteBits - int(std::bit_width(uint32(table_count - 1)));
    // Two to four slots a leaf, so that a slot begins on nearly every leaf. The array has to hold
    // the notes of all trees, or they would overwrite one another.
    slot_bits_ = std::min(std::max(int(std::bit_width(leaves)) + 1, kMinSlotBits), room);
    // The trees of an index stand side by side; indexes may overlap, and overwrite each other's.
    base_ = index_hash + (uint32(tree.number) << slot_bits_);
    // A temporary index has no notes: its pages are in local buffers, and a shared buffer may hold
    // a page that differs in the session only. The null table has none: all its keys are 0.
    kept_ = !RelationUsesLocalBuffers(tree.index) && tree.number != null_tree(*tree.layout);
}

LeafNote* LeafNotes::note_of_slot(uint64_t slot) {
    return &notes[(base_ + slot) % (1 << kNoteBits)];
}

// Returns the note on the leaf of a key, or nullptr. Looks at two slots, because a leaf that begins
// within the key's slot is noted under the next one.
LeafNote* LeafNotes::find(uint64_t key) {
    uint32 bits = leading_bits(key);
    for (int i = 0; i < 2; i++) {
        LeafNote* note = note_of_slot(slot_of(key) + i);
        // Two indexes may have the same owner number. Then pin_recent_page() and the fences of the
        // leaf tell that the note is of no use.
        if (note->owner == owner_ && note->low <= bits && bits <= note->high &&
            note->buffer != InvalidBuffer)
            return note;
    }
    return nullptr;
}

LeafHint LeafNotes::look_up(uint64_t key) {
    LeafNote* note = kept_ ? find(key) : nullptr;
    if (note == nullptr)
        return {};
    // After REINDEX the index may be smaller than the noted one, and pin_page() would take a link
    // beyond its end for damage.
    if (!block_exists(index_, note->block)) {
        *note = {};
        return {};
    }
    return {note->block, note->buffer, note};
}

// This computes addresses from the note and reads nothing: we have no pin, and the buffer may hold
// another page by now.
void LeafNotes::prefetch_keys(const LeafHint& hint, uint64_t first, uint64_t last) const {
    if (hint.note == nullptr)
        return;
    const LeafNote& note = *hint.note;
    double share = 1 / (double(note.high) - double(note.low) + 1);
    auto fraction = [&](uint64_t key) {
        return std::clamp((double(leading_bits(key)) - note.low) * share, 0.0, 1.0);
    };
    if (leading_bits(first) <= note.high && leading_bits(last) >= note.low)
        note.shape.prefetch(page_body(BufferGetPage(hint.buffer)), kBodyCapacity, fraction(first),
                            fraction(last));
}

void LeafNotes::put(uint64_t key, const LeafHint& hint, Buffer buffer, const LeafReader& reader) {
    if (!kept_)
        return;
    Page page = BufferGetPage(buffer);
    uint64_t first = leading_bits(page_low(page).key);
    uint64_t end = page_is_rightmost(page) ? uint64_t{1} << 32 : leading_bits(page_high(page).key);
    LeafNote found{owner_,         block_in_buffer(buffer), buffer,
                   reader.shape(), uint32(first),           uint32(end - 1)};
    // Mostly the note led here and is still true. A comparison is cheaper than to write all slots.
    if (hint.note != nullptr && *hint.note == found)
        return;
    if (LeafNote* note = find(key)) {
        if (*note == found)
            return;
        // If the note is on this leaf, it is out of date; we write it again below. If it is on
        // another leaf, it led us astray, and we drop it. We keep it if that leaf begins with the
        // key's leading bits: keys with these bits may be on both leaves, and for the other keys of
        // its leaf the note is true.
        if (note->block == found.block || note->low != leading_bits(key))
            *note = {};
    }
    // All keys of the leaf share their leading bits: no slot can tell it from its neighbours.
    if (first >= end)
        return;
    // We note the leaf under each slot that begins on it. If none does, it takes the next slot from
    // the leaf on which that slot begins: that leaf mostly has other slots, too.
    // Of the 32 leading bits that a note has, the slot is the first slot_bits_.
    int width_bits = 32 - slot_bits_;
    uint64_t slot = (first + (uint64_t{1} << width_bits) - 1) >> width_bits;
    uint64_t last = std::max((end - 1) >> width_bits, slot);
    for (int i = 0; i < kMaxSlotsNoted && slot <= last; i++, slot++)
        *note_of_slot(slot) = found;
}

} // namespace simhash
