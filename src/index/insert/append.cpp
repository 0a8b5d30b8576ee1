// Appends to leaf tails, and logs them as generic WAL records built by hand.
//
// The generic WAL API compares whole pages to find what changed, which costs several times what
// the append itself does. We know the change: the entry at pd_lower, and pd_lower. The record has
// the form that the generic resource manager replays (access/transam/generic_xlog.c): for each page
// a list of fragments (uint16 offset, uint16 length, bytes). test/t replays such records under
// wal_consistency_checking for each PostgreSQL version.
#include "index/insert/append.hpp"

namespace simhash {
namespace {

// Two fragments: an entry and pd_lower.
constexpr int kMaxDelta = 2 * 4 + int(tail_entry_bytes(LeafKind::kPosting)) + 2;

int write_fragment(uint8_t* out, uint16 offset, uint16 length, const void* bytes) {
    memcpy(out, &offset, 2);
    memcpy(out + 2, &length, 2);
    memcpy(out + 4, bytes, length);
    return 4 + length;
}

// Applies one append to its page and writes the page's fragments to `delta`. Returns their bytes.
int apply_append(const LeafAppend& append, uint8_t* delta) {
    Page page = BufferGetPage(append.buffer);
    auto* header = reinterpret_cast<PageHeader>(page);
    uint16 offset = header->pd_lower;
    auto* at = reinterpret_cast<uint8_t*>(page) + offset;
    auto bytes = uint16(encode_tail_entry(append.kind, append.entry, at));
    header->pd_lower = uint16(offset + bytes);
    int size = write_fragment(delta, offset, bytes, at);
    // Mostly one byte of pd_lower changes. Without the other four appends take 144 bytes in the
    // WAL, not 152, as a record is padded to a multiple of 8.
    uint8_t before[2], after[2];
    memcpy(before, &offset, 2);
    memcpy(after, &header->pd_lower, 2);
    int first = before[0] == after[0] ? 1 : 0, end = before[1] == after[1] ? 1 : 2;
    return size + write_fragment(delta + size,
                                 uint16(offsetof(PageHeaderData, pd_lower) + size_t(first)),
                                 uint16(end - first), after + first);
}

} // namespace

void append_to_tails(Relation index, const LeafAppend* appends, int count) {
    uint8_t deltas[kMaxAppends][kMaxDelta];
    Assert(count <= kMaxAppends);
    bool logged = RelationNeedsWAL(index);

    // From the first changed byte to the record in WAL nothing may fail: an error between them
    // would leave changed pages that replay does not know of. Nothing below allocates memory.
    START_CRIT_SECTION();
    int sizes[kMaxAppends];
    for (int i = 0; i < count; i++) {
        sizes[i] = apply_append(appends[i], deltas[i]);
        // The buffer becomes dirty before XLogInsert(): a checkpoint that starts in between must
        // write the page, as its redo point lies behind our record.
        MarkBufferDirty(appends[i].buffer);
    }
    if (logged) {
        XLogBeginInsert();
        for (int i = 0; i < count; i++) {
            // REGBUF_STANDARD: the hole lies between pd_lower and pd_upper, so a full-page image
            // may leave it out.
            XLogRegisterBuffer(uint8(i), appends[i].buffer, REGBUF_STANDARD);
            XLogRegisterBufData(uint8(i), reinterpret_cast<char*>(deltas[i]), sizes[i]);
        }
        XLogRecPtr lsn = XLogInsert(RM_GENERIC_ID, 0);
        // The LSN orders the page after its WAL. Besides, VACUUM takes an unchanged LSN as proof
        // that a leaf of the posting table is as it was (answers.hpp).
        for (int i = 0; i < count; i++)
            PageSetLSN(BufferGetPage(appends[i].buffer), lsn);
    }
    END_CRIT_SECTION();
}

} // namespace simhash
