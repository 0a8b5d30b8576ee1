// Entries added to leaves, and the splits and downlinks that make room for them. The index's
// README.md states the protocol; here "rule n" is a rule of its section on locks.
#include "index/change/split.hpp"

#include "index/store/wal.hpp"
#include "index/testing.hpp"

#include <algorithm>

namespace simhash {

// ---- Splits and downlinks ----

namespace {

void finish_split(const TreeContext& tree, Buffer left);

// Moves the content of a full root down into a new page and makes the root its parent: one record.
// Expects the root locked exclusively; leaves it so.
void push_down_root(const TreeContext& tree, Buffer root) {
    // Locked last (rule 3); nobody else knows of it before the root leads to it.
    Buffer child = allocate_page(tree.index, tree.heap);
    BlockNumber child_block = BufferGetBlockNumber(child);
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page root_page = GenericXLogRegisterBuffer(state, root, 0);
    Page child_page = GenericXLogRegisterBuffer(state, child, GENERIC_XLOG_FULL_IMAGE);
    int level = page_opaque(root_page)->level;
    if (level >= UINT8_MAX)
        report_corruption(tree.index, BufferGetBlockNumber(root), "The tree is too high.");

    init_page(child_page, tree.number, level, page_opaque(root_page)->flags);
    memcpy(page_body(child_page), page_body(root_page), page_body_size(root_page));
    page_set_body_size(child_page, page_body_size(root_page));

    // The root has no fences, so its only pivot begins with the least key.
    init_page(root_page, tree.number, level + 1, 0);
    write_pivot(tree.kind, page_body(root_page), Pivot{{0, 0}, child_block});
    page_set_body_size(root_page, pivot_bytes(tree.kind));
    GenericXLogFinish(state);
    UnlockReleaseBuffer(child);
}

// Fences, links and flag of the two halves of a split at `cut`.
void link_halves(Page left, Page right, BlockNumber right_block, Entry cut) {
    // The right page takes over the end of the range, and the way on from there ...
    page_opaque(right)->right = page_opaque(left)->right;
    page_opaque(right)->high_key = page_opaque(left)->high_key;
    memcpy(page_opaque(right)->high_tid, page_opaque(left)->high_tid, sizeof(uint16[3]));
    set_page_low(right, cut);
    // ... and is reached by the left page's link until it has a downlink, which the flag asks for.
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

// Splits a full internal page, not a root, while adding `pivot`, and clears the flag of
// `child_left`: one record. Expects parent and child_left locked exclusively; leaves the parent
// locked and incompletely split, the child too.
void split_internal(const TreeContext& tree, Buffer parent, const Pivot& pivot, Buffer child_left) {
    Buffer right = allocate_page(tree.index, tree.heap);
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page left_page = GenericXLogRegisterBuffer(state, parent, 0);
    Page right_page = GenericXLogRegisterBuffer(state, right, GENERIC_XLOG_FULL_IMAGE);
    size_t bytes = pivot_bytes(tree.kind);
    int count = pivot_count(tree.kind, left_page);
    int position = find_pivot(tree.kind, left_page, pivot.key) + 1;
    // Ascending insertion leaves full pages behind; otherwise the page is halved.
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
    // The child's split ends here: its pivot is in place, whichever half has it.
    clear_incomplete_split(state, child_left);
    GenericXLogFinish(state);
    UnlockReleaseBuffer(right);
}

// Gives the right half of a split its downlink, and clears the left half's flag. Expects `left`
// locked exclusively and flagged; leaves it locked.
void insert_downlink(const TreeContext& tree, Buffer left, Entry cut, BlockNumber right) {
    int level = page_opaque(BufferGetPage(left))->level + 1;
    for (;;) {
        // The child stays locked meanwhile, so that nobody else gives its neighbour a downlink. A
        // parent comes after its child in the order of locks (rule 3).
        Buffer parent = descend(tree, cut, level, BUFFER_LOCK_EXCLUSIVE);
        check_internal(tree.index, parent, tree.kind);
        Page page = BufferGetPage(parent);
        if (page_opaque(page)->flags & kPageIncompleteSplit) {
            // A crash or an error left it so: whoever changes the page completes it first.
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
            // Then the parent is a page below the root, with room or to be split.
            push_down_root(tree, parent);
        } else {
            split_internal(tree, parent, Pivot{cut, right}, left);
            finish_split(tree, parent);
            UnlockReleaseBuffer(parent);
            return;
        }
        UnlockReleaseBuffer(parent);
    }
}

// Completes the split of a page locked exclusively and flagged; leaves it locked.
void finish_split(const TreeContext& tree, Buffer left) {
    Page page = BufferGetPage(left);
    if (page_is_rightmost(page))
        report_corruption(tree.index, BufferGetBlockNumber(left),
                          "An incompletely split page has no sibling.");
    // The page itself says where it was cut, and which page has no downlink.
    insert_downlink(tree, left, page_high(page), page_opaque(page)->right);
}

} // namespace

Buffer descend_for_write(const TreeContext& tree, Entry key) {
    for (;;) {
        Buffer buffer = descend(tree, key, 0, BUFFER_LOCK_EXCLUSIVE);
        if (!(page_opaque(BufferGetPage(buffer))->flags & kPageIncompleteSplit))
            return buffer;
        // Before anything else: if the page were split again, its flag would stand for two pages.
        finish_split(tree, buffer);
        UnlockReleaseBuffer(buffer);
    }
}

// ---- Leaves ----

namespace {

constexpr int kSpareEntries = 32; // room that a merge must leave to be worth it

// Everything of one full leaf, and the new entry.
struct LeafContent {
    Entry packed[kMaxLeafEntries];
    Entry tail[kMaxTailEntries + 1]; // sorted; with the new entry
    Entry all[kMaxLeafEntries + 1];  // packed part and tail, sorted
    int packed_count, tail_count, count;

    std::span<const Entry> packed_entries() const { return {packed, size_t(packed_count)}; }
    std::span<const Entry> tail_entries() const { return {tail, size_t(tail_count)}; }
    std::span<const Entry> all_entries() const { return {all, size_t(count)}; }
};

// How many of these sorted entries are less than `key`.
int entries_before(std::span<const Entry> entries, Entry key) {
    return int(std::lower_bound(entries.begin(), entries.end(), key) - entries.begin());
}

// Gathers a leaf's entries and the new one. Raises an error where they are not in order.
void gather(const TreeContext& tree, Buffer buffer, const LeafReader& reader, Entry entry,
            LeafContent* content) {
    content->packed_count = reader.decode_packed(content->packed);
    content->tail_count = reader.decode_tail(content->tail);
    content->tail[content->tail_count++] = entry;
    std::sort(content->tail, content->tail + content->tail_count);
    std::merge(content->packed, content->packed + content->packed_count, content->tail,
               content->tail + content->tail_count, content->all);
    content->count = content->packed_count + content->tail_count;
    // What comes from a damaged page is not written to others.
    for (int i = 1; i < content->count; i++)
        if (content->all[i - 1] >= content->all[i])
            report_corruption(tree.index, BufferGetBlockNumber(buffer),
                              "Entries of a leaf are out of order or repeated.");
    Page page = BufferGetPage(buffer);
    if (content->all[0] < page_low(page) || page_precedes(page, content->all[content->count - 1]))
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "An entry is outside of its page's range.");
}

// The entries of one half of a leaf.
struct LeafHalf {
    std::span<const Entry> all, packed, tail;
};

// Writes a leaf body: all entries as one packed part where that fits, else packed part and tail as
// they were. False where neither fits.
bool write_body(LeafKind kind, Page page, const LeafHalf& half) {
    size_t bytes = encode_body(kind, half.all, {}, page_body(page), kBodyCapacity);
    // Raw entries that are spread wide may take more when they are packed. As it was, a half takes
    // no more than the whole leaf did.
    if (bytes == 0)
        bytes = encode_body(kind, half.packed, half.tail, page_body(page), kBodyCapacity);
    if (bytes == 0)
        return false;
    page_set_body_size(page, bytes);
    return true;
}

// Replaces packed part and tail by one packed part, where that leaves room for more. Expects the
// leaf locked exclusively.
bool merge_leaf(const TreeContext& tree, Buffer buffer, const LeafContent* content) {
    // With less room the next insertions would have to merge again.
    if (content->count > kMaxLeafEntries - kSpareEntries)
        return false;
    size_t bytes = bytes_when_packed(tree.kind, content->all, content->count);
    if (bytes + kSpareEntries * tail_entry_bytes(tree.kind) > kBodyCapacity)
        return false;
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page page = GenericXLogRegisterBuffer(state, buffer, 0);
    encode_packed(tree.kind, content->all, content->count, page_body(page), kBodyCapacity);
    page_set_body_size(page, bytes);
    GenericXLogFinish(state);
    return true;
}

// The cut next to this one at which a range begins, if there is one near.
int cut_between_ranges(const TreeContext& tree, const LeafContent* content, int cut) {
    const Entry* all = content->all;
    for (int distance = 0; distance <= content->count / 8; distance++)
        for (int at : {cut - distance, cut + distance})
            if (0 < at && at < content->count && begins_range(tree, all[at - 1], all[at]))
                return at;
    return cut;
}

// The index in content->all where the right half begins, 1 .. count - 1.
int choose_cut(const TreeContext& tree, Page page, const LeafContent* content, Entry entry) {
    const Entry* all = content->all;
    int count = content->count;
    int position = entries_before(content->all_entries(), entry);
    bool last = position == count - 1;
    // What comes in order would leave every page half full if each split halved its leaf.
    // TIDs of one fingerprint arrive in order, and so may keys at the right edge: leave a full page
    // behind.
    if (last && page_is_rightmost(page))
        return position;
    if (position > 0 && all[position - 1].key == entry.key &&
        (last || all[position + 1].key != entry.key)) {
        // Only where they fill half of the leaf: otherwise the page on the right would start full.
        int first = entries_before(content->all_entries(), {entry.key, 0});
        if (position - first >= count / 2)
            return position;
    }
    // Otherwise halve the bytes: a packed entry's share of the packed part, a tail entry raw.
    double packed_share =
        content->packed_count > 0
            ? double(bytes_when_packed(tree.kind, content->packed, content->packed_count)) /
                  content->packed_count
            : 0;
    double raw = double(tail_entry_bytes(tree.kind));
    double total = packed_share * content->packed_count + raw * content->tail_count, left = 0;
    int tail = 0, cut = 1;
    for (int i = 0; i < count - 1; i++) {
        bool is_raw = tail < content->tail_count && all[i] == content->tail[tail];
        tail += is_raw;
        left += is_raw ? raw : packed_share;
        cut = i + 1;
        if (left >= total / 2)
            break;
    }
    return cut_between_ranges(tree, content, cut);
}

// Where a full tail and the new entry all fall to one half, and do not fit encoded with its packed
// part, they are one more than a tail holds: one of them goes to the other half.
int cut_within_tail(const TreeContext& tree, const LeafContent* content, int cut) {
    if (content->tail_count <= max_tail_entries(*tree.layout))
        return cut;
    const Entry* end = content->all + content->count;
    const Entry &first = content->tail[0], &last = content->tail[content->tail_count - 1];
    int after_first = int(std::upper_bound(content->all, end, first) - content->all);
    int before_last = entries_before(content->all_entries(), last);
    return std::clamp(cut, after_first, before_last);
}

// Splits a full leaf, not a root, while adding the new entry: step (1) of the protocol. Expects the
// leaf locked exclusively; leaves it so, incompletely split.
void split_leaf(const TreeContext& tree, Buffer left, const LeafContent* content, Entry entry) {
    Buffer right = allocate_page(tree.index, tree.heap);
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page left_page = GenericXLogRegisterBuffer(state, left, 0);
    Page right_page = GenericXLogRegisterBuffer(state, right, GENERIC_XLOG_FULL_IMAGE);

    int cut = cut_within_tail(tree, content, choose_cut(tree, left_page, content, entry));
    // The low key of a range, not of its first entry, so that a probe of the range needs one leaf.
    Entry cut_key = low_key_between(tree, content->all[cut - 1], content->all[cut]);
    std::span<const Entry> all = content->all_entries(), packed = content->packed_entries(),
                           tail = content->tail_entries();
    int packed_cut = entries_before(packed, cut_key), tail_cut = entries_before(tail, cut_key);

    init_leaf(right_page, tree.number, tree.kind);
    link_halves(left_page, right_page, BufferGetBlockNumber(right), cut_key);
    if (!write_body(tree.kind, left_page,
                    {all.first(cut), packed.first(packed_cut), tail.first(tail_cut)}) ||
        !write_body(tree.kind, right_page,
                    {all.subspan(cut), packed.subspan(packed_cut), tail.subspan(tail_cut)}))
        elog(ERROR, "halves of a split leaf do not fit"); // cannot be: a part never encodes larger
    GenericXLogFinish(state);
    UnlockReleaseBuffer(right);
}

// Of the leaf that is locked: nothing shall be allocated then, so there is one for the backend. No
// call leaves anything in it.
LeafContent leaf_content;

// Adds an entry to a leaf whose tail has no room for it. Expects the leaf locked exclusively.
// Returns false where the entry must be tried again after a descent (the root was pushed down).
bool insert_into_full_leaf(const TreeContext& tree, Buffer buffer, const LeafReader& reader,
                           Entry entry) {
    gather(tree, buffer, reader, entry, &leaf_content);
    // From the least change to the greatest: one page, two pages, two pages and their parent.
    if (merge_leaf(tree, buffer, &leaf_content))
        return true;
    if (BufferGetBlockNumber(buffer) == root_block(tree.number)) {
        push_down_root(tree, buffer);
        return false;
    }
    split_leaf(tree, buffer, &leaf_content, entry);
    // A crash or an error here leaves the entry in the tree and the flag on the page.
    fail_for_test("split-before-downlink");
    finish_split(tree, buffer);
    return true;
}

} // namespace

bool leaf_has_room(const TreeContext& tree, Page page, const LeafReader& reader) {
    return reader.tail_count() < max_tail_entries(*tree.layout) &&
           reader.count() < kMaxLeafEntries && page_free_bytes(page) >= tail_entry_bytes(tree.kind);
}

bool insert_into_leaf(const TreeContext& tree, Buffer buffer, const LeafReader& reader,
                      Entry entry) {
    // A block table has each fingerprint once: a second one would give its rows twice.
    if (tree.kind == LeafKind::kBlock && reader.contains_key(entry.key))
        return true;
    if (!leaf_has_room(tree, BufferGetPage(buffer), reader))
        return insert_into_full_leaf(tree, buffer, reader, entry);
    LeafAppend append{buffer, tree.kind, entry};
    append_to_tails(tree.index, &append, 1);
    return true;
}

} // namespace simhash
