// Adds entries to full leaves: merges packed part and tail, or splits the leaf and adds a downlink
// for its right half. The index's README.md states the protocol ("Splits"); here "rule n" is a rule
// of its section on locks.
#include "index/insert/split.hpp"

#include "index/testing.hpp"

#include "core/bits/sort.hpp"

#include <algorithm>

namespace simhash {

// ---- Splits and downlinks ----

namespace {

void finish_split(const TreeContext& tree, Buffer left);

// Moves the content of a full root down into a new page and makes the root its parent: one record.
// Expects the root locked exclusively; leaves it so.
void push_down_root(const TreeContext& tree, Buffer root) {
    // The new page is locked last (rule 3). Nobody else knows of it before the root leads to it. If
    // an error comes before the record, the page stays all zeros or deleted, and VACUUM finds it.
    Buffer child = allocate_page(tree.index, tree.heap);
    BlockNumber child_block = BufferGetBlockNumber(child);
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page root_page = GenericXLogRegisterBuffer(state, root, 0);
    Page child_page = GenericXLogRegisterBuffer(state, child, GENERIC_XLOG_FULL_IMAGE);
    int level = page_opaque(root_page)->level;
    if (level >= UINT8_MAX)
        report_corruption(tree.index, BufferGetBlockNumber(root), "The tree is too high.");

    // The child is the only page of its level: it has no right link, and its `low` is the least
    // key, which is what init_page() leaves.
    init_page(child_page, tree.number, level, page_opaque(root_page)->flags);
    memcpy(page_body(child_page), page_body(root_page), page_body_size(root_page));
    page_set_body_size(child_page, page_body_size(root_page));

    // The root holds all keys, so its only pivot begins with the least key.
    init_page(root_page, tree.number, level + 1, 0);
    write_pivot(tree.kind, page_body(root_page), Pivot{{0, 0}, child_block});
    page_set_body_size(root_page, pivot_bytes(tree.kind));
    // One record for both pages: a reader finds either the old root, or the new one with its child.
    GenericXLogFinish(state);
    UnlockReleaseBuffer(child);
}

// Sets fences, links and flag of the two halves of a split at `cut`.
void link_halves(Page left, Page right, BlockNumber right_block, Entry cut) {
    // The right page takes over the end of the range and the right link. Readers that hold an old
    // link come to the left page, find their key beyond its new `high`, and go right.
    page_opaque(right)->right = page_opaque(left)->right;
    page_opaque(right)->high_key = page_opaque(left)->high_key;
    memcpy(page_opaque(right)->high_tid, page_opaque(left)->high_tid, sizeof(uint16[3]));
    set_page_low(right, cut);
    // Until the parent has a downlink, the left page's link is the only way to the right page. The
    // flag says that the downlink is missing.
    page_opaque(left)->right = right_block;
    set_page_high(left, cut);
    page_opaque(left)->flags |= kPageIncompleteSplit;
}

void insert_pivot_at(LeafKind kind, Page page, int position, const Pivot& pivot) {
    size_t bytes = pivot_bytes(kind), size = page_body_size(page);
    uint8_t* at = page_body(page) + position * bytes;
    memmove(at + bytes, at, size - position * bytes);
    write_pivot(kind, at, pivot);
    page_set_body_size(page, size + bytes);
}

void clear_incomplete_split(GenericXLogState* state, Buffer left) {
    Page page = GenericXLogRegisterBuffer(state, left, 0);
    page_opaque(page)->flags &= ~kPageIncompleteSplit;
}

// Splits a full internal page that is no root, adds `pivot` to one of the halves, and clears the
// flag of `child_left`, all in one record. Expects parent and child_left locked exclusively, and
// leaves them locked. The parent is incompletely split then.
void split_internal(const TreeContext& tree, Buffer parent, const Pivot& pivot, Buffer child_left) {
    Buffer right = allocate_page(tree.index, tree.heap);
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page left_page = GenericXLogRegisterBuffer(state, parent, 0);
    Page right_page = GenericXLogRegisterBuffer(state, right, GENERIC_XLOG_FULL_IMAGE);
    size_t bytes = pivot_bytes(tree.kind);
    int count = pivot_count(tree.kind, left_page);
    int position = find_pivot(tree.kind, left_page, pivot.key) + 1;
    // Keys that arrive in order never come back to the left page, so we leave it full. Otherwise we
    // halve the page.
    bool at_end = position == count && page_is_rightmost(left_page);
    int keep = at_end ? count - 1 : count / 2;
    Entry cut = read_pivot(tree.kind, left_page, keep).key;

    init_page(right_page, tree.number, page_opaque(left_page)->level, 0);
    memcpy(page_body(right_page), page_body(left_page) + keep * bytes, (count - keep) * bytes);
    page_set_body_size(right_page, (count - keep) * bytes);
    page_set_body_size(left_page, keep * bytes);
    link_halves(left_page, right_page, BufferGetBlockNumber(right), cut);
    if (position > keep)
        insert_pivot_at(tree.kind, right_page, position - keep, pivot);
    else
        insert_pivot_at(tree.kind, left_page, position, pivot);
    // This completes the child's split: one of the halves has its pivot. The flag must go in the
    // same record. Otherwise, after a crash, an inserter would add the pivot a second time.
    clear_incomplete_split(state, child_left);
    GenericXLogFinish(state);
    UnlockReleaseBuffer(right);
}

// Adds the downlink of the right half of a split to the parent, and clears the left half's flag.
// Expects `left` locked exclusively and flagged; leaves it locked.
void insert_downlink(const TreeContext& tree, Buffer left, Entry cut, BlockNumber right) {
    int level = page_opaque(BufferGetPage(left))->level + 1;
    for (;;) {
        // We look for the parent by a descent, as pages store no link upwards and the root may have
        // been pushed down. The child stays locked, so nobody else adds this downlink meanwhile.
        // The order of locks allows that: a parent comes after its child (rule 3).
        Buffer parent = descend(tree, cut, level, BUFFER_LOCK_EXCLUSIVE);
        check_internal(tree.index, parent, tree.kind);
        Page page = BufferGetPage(parent);
        if (page_opaque(page)->flags & kPageIncompleteSplit) {
            // A crash or an error left the parent's own split incomplete. A second split of it
            // would lose the right half that the flag stands for, so we complete the first one now.
            // The pivot may belong to that half, so we descend again.
            finish_split(tree, parent);
        } else if (page_free_bytes(page) >= pivot_bytes(tree.kind)) {
            GenericXLogState* state = GenericXLogStart(tree.index);
            Page image = GenericXLogRegisterBuffer(state, parent, 0);
            insert_pivot_at(tree.kind, image, find_pivot(tree.kind, image, cut) + 1,
                            Pivot{cut, right});
            clear_incomplete_split(state, left);
            GenericXLogFinish(state);
            UnlockReleaseBuffer(parent);
            return;
        } else if (BufferGetBlockNumber(parent) == root_block(tree.number)) {
            // A root never splits: it is pushed down. The next round finds its content in a page
            // below, as full as before, and splits that one.
            push_down_root(tree, parent);
        } else {
            // The pivot is in place after the first call. The second one completes the parent's own
            // split; an error in between leaves only the parent's flag.
            split_internal(tree, parent, Pivot{cut, right}, left);
            finish_split(tree, parent);
            UnlockReleaseBuffer(parent);
            return;
        }
        UnlockReleaseBuffer(parent);
    }
}

// Completes the split of a page. Expects the page locked exclusively and flagged; leaves it locked.
void finish_split(const TreeContext& tree, Buffer left) {
    Page page = BufferGetPage(left);
    if (page_is_rightmost(page))
        report_corruption(tree.index, BufferGetBlockNumber(left),
                          "An incompletely split page has no sibling.");
    // The flagged page itself tells all that is needed: its `high` is where it was cut, and its
    // right link leads to the page without a downlink.
    insert_downlink(tree, left, page_high(page), page_opaque(page)->right);
}

} // namespace

Buffer descend_for_write(const TreeContext& tree, Entry key) {
    for (;;) {
        Buffer buffer = descend(tree, key, 0, BUFFER_LOCK_EXCLUSIVE);
        if (!(page_opaque(BufferGetPage(buffer))->flags & kPageIncompleteSplit))
            return buffer;
        // A crash or an error left the split incomplete. We complete it before anything else: after
        // another split the flag would stand for two pages without a downlink.
        finish_split(tree, buffer);
        UnlockReleaseBuffer(buffer);
    }
}

// ---- Leaves ----

namespace {

// What a merge must leave free to be worth its WAL: it logs most of the leaf.
constexpr size_t kSpareBytes = kBodyCapacity / 10;
constexpr int kSpareEntries = 32;

// All entries of one full leaf, and the new entry, in order; or those of a half of it.
struct LeafContent {
    std::span<const Entry> packed, tail; // of the leaf; the new entry is with the tail
    std::span<const Entry> all;          // both together
};

// We must not allocate under a leaf's lock, so the backend has room for one content. No call leaves
// anything in it, so an error does no harm.
Entry packed_room[kMaxLeafEntries], tail_room[kMaxTailEntries + 1], all_room[kMaxLeafEntries + 1];

// Returns how many of these sorted entries are less than `key`.
int entries_before(std::span<const Entry> entries, Entry key) {
    return int(std::lower_bound(entries.begin(), entries.end(), key) - entries.begin());
}

// Gathers a leaf's entries and the new one. Raises an error if they are not in order. The next call
// overwrites the result.
LeafContent gather(const TreeContext& tree, Buffer buffer, const LeafReader& reader, Entry entry) {
    std::span packed(packed_room, size_t(reader.decode_packed(packed_room)));
    std::span tail(tail_room, size_t(reader.decode_tail(tail_room)) + 1);
    tail.back() = entry;
    sort_ascending(tail.begin(), tail.end());
    std::span all(all_room, packed.size() + tail.size());
    std::merge(packed.begin(), packed.end(), tail.begin(), tail.end(), all.begin());
    // We check here so that damage of one page is not copied to others by a split.
    for (size_t i = 1; i < all.size(); i++)
        if (all[i - 1] >= all[i])
            report_corruption(tree.index, BufferGetBlockNumber(buffer),
                              "Entries of a leaf are out of order or repeated.");
    Page page = BufferGetPage(buffer);
    if (all.front() < page_low(page) || page_precedes(page, all.back()))
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "An entry is outside of its page's range.");
    return {packed, tail, all};
}

// Writes a leaf body: all entries as one packed part if that fits, else packed part and tail as
// they were. Returns false if neither fits.
bool write_body(LeafKind kind, Page page, const LeafContent& half) {
    size_t bytes = encode_body(kind, half.all, {}, page_body(page), kBodyCapacity);
    // Entries that are spread wide may take more room packed than raw. Left as it was, a half takes
    // no more room than the whole leaf did.
    if (bytes == 0)
        bytes = encode_body(kind, half.packed, half.tail, page_body(page), kBodyCapacity);
    if (bytes == 0)
        return false;
    page_set_body_size(page, bytes);
    return true;
}

// Replaces packed part and tail by one packed part if that leaves room for more entries. Otherwise
// returns false. Expects the leaf locked exclusively.
bool merge_leaf(const TreeContext& tree, Buffer buffer, std::span<const Entry> all) {
    int count = int(all.size());
    if (count > kMaxLeafEntries - kSpareEntries)
        return false;
    size_t bytes = bytes_when_packed(tree.kind, all.data(), count);
    if (bytes + kSpareBytes > kBodyCapacity)
        return false;
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page page = GenericXLogRegisterBuffer(state, buffer, 0);
    encode_packed(tree.kind, all.data(), count, page_body(page), kBodyCapacity);
    page_set_body_size(page, bytes);
    GenericXLogFinish(state);
    return true;
}

// Returns the cut nearest to `cut` at which a range begins, or `cut` if none is near.
int cut_between_ranges(const TreeContext& tree, std::span<const Entry> all, int cut) {
    int count = int(all.size());
    for (int distance = 0; distance <= count / 8; distance++)
        for (int at : {cut - distance, cut + distance})
            if (0 < at && at < count && begins_range(tree, all[at - 1], all[at]))
                return at;
    return cut;
}

// Returns the index in content.all where the right half begins, 1 .. count - 1.
int choose_cut(const TreeContext& tree, Page page, const LeafContent& content, Entry entry) {
    std::span<const Entry> all = content.all;
    int count = int(all.size()), position = entries_before(all, entry);
    bool last = position == count - 1;
    // If entries arrive in order, halving would leave every page half full. TIDs of one fingerprint
    // do arrive in order, and keys at the right edge may. There we leave a full page behind.
    if (last && page_is_rightmost(page))
        return position;
    if (position > 0 && all[position - 1].key == entry.key &&
        (last || all[position + 1].key != entry.key)) {
        // Only if they fill half of the leaf: otherwise the page on the right would start too full.
        int first = entries_before(all, {entry.key, 0});
        if (position - first >= count / 2)
            return position;
    }
    // Otherwise we halve the bytes. A packed entry counts with its share of the packed part, a tail
    // entry with its raw size.
    double raw = double(tail_entry_bytes(tree.kind)), packed_share = 0, left = 0;
    if (!content.packed.empty())
        packed_share = double(bytes_when_packed(tree.kind, content.packed.data(),
                                                int(content.packed.size()))) /
                       double(content.packed.size());
    double total = packed_share * double(content.packed.size()) + raw * double(content.tail.size());
    size_t tail = 0;
    int cut = 0;
    for (; left < total / 2 && cut < count - 1; cut++) {
        bool is_raw = tail < content.tail.size() && all[cut] == content.tail[tail];
        tail += is_raw;
        left += is_raw ? raw : packed_share;
    }
    return cut_between_ranges(tree, all, cut);
}

// Moves the cut so that it separates a full tail. Full tail and new entry are one entry more than a
// tail holds. If all of them fell to one half and did not fit there packed, they could not stay raw
// either. So at least one of them goes to the other half.
int cut_within_tail(const LeafContent& content, int cut) {
    if (content.tail.size() <= kMaxTailEntries)
        return cut;
    return std::clamp(cut, entries_before(content.all, content.tail.front()) + 1,
                      entries_before(content.all, content.tail.back()));
}

// Splits a full leaf that is no root, with the new entry among its entries: step 1 of the protocol.
// Expects the leaf locked exclusively; leaves it locked and incompletely split.
void split_leaf(const TreeContext& tree, Buffer left, const LeafContent& content, Entry entry) {
    Buffer right = allocate_page(tree.index, tree.heap);
    // An error here leaves the page as it is: all zeros or deleted.
    fail_for_test("split-before-record");
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page left_page = GenericXLogRegisterBuffer(state, left, 0);
    Page right_page = GenericXLogRegisterBuffer(state, right, GENERIC_XLOG_FULL_IMAGE);

    auto [packed, tail, all] = content;
    int cut = cut_within_tail(content, choose_cut(tree, left_page, content, entry));
    // If a range begins at the cut, the fence is the least key of the range, not its first entry.
    // Then a probe of that range reads the right page alone.
    Entry cut_key = low_key_between(tree, all[cut - 1], all[cut]);
    int packed_cut = entries_before(packed, cut_key), tail_cut = entries_before(tail, cut_key);

    init_leaf(right_page, tree.number, tree.kind);
    link_halves(left_page, right_page, BufferGetBlockNumber(right), cut_key);
    if (!write_body(tree.kind, left_page,
                    {packed.first(packed_cut), tail.first(tail_cut), all.first(cut)}) ||
        !write_body(tree.kind, right_page,
                    {packed.subspan(packed_cut), tail.subspan(tail_cut), all.subspan(cut)}))
        elog(ERROR, "halves of a split leaf do not fit"); // cannot be: a part never encodes larger
    // The new entry goes in with the split, in one record. So a crash between this and the downlink
    // loses no entry: readers reach the right half by the left page's link.
    GenericXLogFinish(state);
    UnlockReleaseBuffer(right);
}

} // namespace

bool insert_into_full_leaf(const TreeContext& tree, Buffer buffer, const LeafReader& reader,
                           Entry entry) {
    LeafContent content = gather(tree, buffer, reader, entry);
    // We try the cheapest change first: a merge writes one page, a push-down two, and a split two
    // pages and then their parent.
    if (merge_leaf(tree, buffer, content.all))
        return true;
    if (BufferGetBlockNumber(buffer) == root_block(tree.number)) {
        push_down_root(tree, buffer);
        return false;
    }
    split_leaf(tree, buffer, content, entry);
    // A crash or an error here leaves the entry in the tree and the flag on the page. The next
    // inserter that comes to the page adds the downlink.
    fail_for_test("split-before-downlink");
    finish_split(tree, buffer);
    return true;
}

} // namespace simhash
