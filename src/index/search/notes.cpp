// The backend's notes on leaves; see the header.
#include "index/search/notes.hpp"

#include "core/bits/prefetch.hpp"

#include <algorithm>

namespace simhash {

struct LeafNote {
    uint32 owner; // index and tree
    BlockNumber block;
    Buffer buffer; // shared
    LeafShape shape;
    // Leading bits of its least key, and the greatest that no key after it has.
    uint32 low, high;

    friend bool operator==(const LeafNote&, const LeafNote&) = default;
};

namespace {

// The leading bits of a key are its slot; there is a note for each slot of a tree, on the leaf on
// which the slot begins. A note takes the place of another of the same address. The system gives
// memory to as much of them as is used: 4 MB to a backend that has searched all over an index of
// 10 million rows, 29 MB to one of 100 million, which is the most.
constexpr int kNoteBits = 20;
// Zeroed by the loader, not by code that runs at load: such code would write, and so make resident,
// all 29 MB in every session and parallel worker that loads the library.
constinit LeafNote notes[1 << kNoteBits] = {};

constexpr int kMinSlotBits = 11;    // as leaves beside many rows of one fingerprint are narrow
constexpr int kMaxSlotsNoted = 256; // at once

// Where buffers are given to other pages all the time, what was noted must not keep leaves from
// being fetched from disk: so many times the server is asked instead.
constexpr int kDistrust = 256;

uint32 leading_bits(uint64_t key) {
    return uint32(key >> 32);
}

} // namespace

int LeafNotes::distrust_ = 0;

LeafNotes::LeafNotes(const TreeContext& tree, BlockNumber index_blocks) : index_(tree.index) {
    int table_count = tree.layout->table_count;
    uint32 index_hash = RelationGetRelid(tree.index) * 40503u;
    owner_ = index_hash + uint32(tree.number);
    uint32 leaves = index_blocks / table_count; // of a tree
    int room = kNoteBits - int(std::bit_width(uint32(table_count - 1)));
    // Two to four a leaf, so that on nearly every leaf a slot begins. Not more than there is room
    // for, or the tree's notes would take the places of one another.
    slot_bits_ = std::min(std::max(int(std::bit_width(leaves)) + 1, kMinSlotBits), room);
    base_ = index_hash + (uint32(tree.number) << slot_bits_);
    // A temporary index might have another's name: a shared page may have the same but for the
    // session. Nulls are all in one place.
    kept_ = !RelationUsesLocalBuffers(tree.index) && tree.number != null_tree(*tree.layout);
}

LeafNote* LeafNotes::note_of_slot(uint64_t slot) {
    return &notes[(base_ + slot) % (1 << kNoteBits)];
}

// The note on the leaf of a key, or nullptr. A leaf that begins within the key's slot is noted
// under the next.
LeafNote* LeafNotes::find(uint64_t key) {
    uint32 bits = leading_bits(key);
    for (int i = 0; i < 2; i++) {
        LeafNote* note = note_of_slot(slot_of(key) + i);
        if (note->owner == owner_ && note->low <= bits && bits <= note->high &&
            note->buffer != InvalidBuffer)
            return note;
    }
    return nullptr;
}

void LeafNotes::prefetch_note(uint64_t key) {
    const LeafNote* note = note_of_slot(slot_of(key));
    prefetch(note);
    prefetch(note + 1); // which find() may look at, too
}

LeafHint LeafNotes::look_up(uint64_t key) {
    LeafNote* note = kept_ ? find(key) : nullptr;
    if (note == nullptr)
        return {};
    // An index that was built anew may be smaller than the one of the note.
    if (!block_exists(index_, note->block)) {
        *note = {};
        return {};
    }
    return {note->block, note->buffer, note};
}

void LeafNotes::prefetch_tail(const LeafHint& hint) {
    if (hint.note != nullptr)
        hint.note->shape.prefetch_tail(page_body(BufferGetPage(hint.buffer)));
}

uint64_t LeafNotes::prefetch_keys(const LeafHint& hint, uint64_t first, uint64_t last) {
    if (hint.note == nullptr)
        return 0;
    const LeafNote& note = *hint.note;
    double share = 1 / (double(note.high) - double(note.low) + 1);
    auto fraction = [&](uint64_t key) {
        return std::clamp((double(leading_bits(key)) - note.low) * share, 0.0, 1.0);
    };
    if (leading_bits(first) <= note.high && leading_bits(last) >= note.low)
        note.shape.prefetch_packed(page_body(BufferGetPage(hint.buffer)), kBodyCapacity,
                                   fraction(first), fraction(last));
    return uint64_t(note.high + 1) << 32;
}

void LeafNotes::put(uint64_t key, const LeafHint& hint, Buffer buffer, const LeafReader& reader) {
    if (!kept_)
        return;
    Page page = BufferGetPage(buffer);
    uint64_t first = leading_bits(page_low(page).key);
    uint64_t end = page_is_rightmost(page) ? uint64_t{1} << 32 : leading_bits(page_high(page).key);
    LeafNote found{owner_,         block_in_buffer(buffer), buffer,
                   reader.shape(), uint32(first),           uint32(end - 1)};
    // Mostly the note led here and is still true. To compare it is cheaper than to write all slots.
    if (hint.note != nullptr && *hint.note == found)
        return;
    if (LeafNote* note = find(key)) {
        if (*note == found)
            return;
        // The page is where it was, in another buffer: pages are being evicted, and other notes
        // will name buffers that have lost theirs.
        if (note->block == found.block && note->buffer != found.buffer)
            distrust_ = kDistrust;
        // A note on this leaf is out of date, and is written again below. A note on another leaf
        // led astray, and is dropped; but not where that leaf begins with the key's leading bits:
        // keys with these bits may stand on both leaves, and of its other keys the note is true.
        if (note->block == found.block || note->low != leading_bits(key))
            *note = {};
    }
    if (first >= end) // all its keys share their leading bits: no slot can tell it from others
        return;
    // The leaf is noted under each slot that begins on it. If none does, it takes the place of the
    // leaf on which the next slot begins: that one mostly has other slots, too.
    int width_bits = 32 - slot_bits_;
    uint64_t slot = (first + (uint64_t{1} << width_bits) - 1) >> width_bits;
    uint64_t last = std::max((end - 1) >> width_bits, slot);
    for (int i = 0; i < kMaxSlotsNoted && slot <= last; i++, slot++)
        *note_of_slot(slot) = found;
}

} // namespace simhash
