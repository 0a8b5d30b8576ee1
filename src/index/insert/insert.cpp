// Inserts a row, the callback aminsert: adds for each lane of its value one posting, and the
// fingerprint to every block table of the lane that lacks it. README.md, "Insertion", states the
// protocol.
#include "index/access_method.hpp"
#include "index/insert/append.hpp"
#include "index/insert/split.hpp"
#include "index/scope.hpp"
#include "index/search/cursor.hpp"
#include "index/store/page.hpp"
#include "index/testing.hpp"

#include <algorithm>
#include <new>

namespace simhash {
namespace {

// Returns the noted leaf of an entry, pinned and locked exclusively, or InvalidBuffer if the note
// is stale, or the leaf locked or incompletely split. Waits for no lock, so the caller may hold
// any (rule 2).
Buffer lock_noted_leaf(const TreeContext& tree, const LeafHint& hint, Entry entry) {
    Buffer buffer = pin_recent_page(tree.index, hint.block, hint.buffer);
    if (buffer == InvalidBuffer)
        return InvalidBuffer;
    // The page may have become one that rule 3 places before those that we hold, or one of these.
    if (ConditionalLockBuffer(buffer)) {
        if (leaf_holds(tree, hint.block, buffer, entry) &&
            !(page_opaque(BufferGetPage(buffer))->flags & kPageIncompleteSplit))
            return buffer;
        LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
    }
    ReleaseBuffer(buffer);
    return InvalidBuffer;
}

// Pins the leaf of an entry, by a note or from the root, locks it exclusively, opens it and notes
// it. The caller may hold the locks of leaves that rule 3 places before it.
Buffer lock_leaf(SearchedTree* searched, Entry entry, LeafReader* reader) {
    const TreeContext& tree = searched->context;
    LeafHint hint = searched->notes.look_up(entry.key);
    Buffer buffer = lock_noted_leaf(tree, hint, entry);
    // May complete a split that another backend left incomplete: its parent comes after the leaf
    // and before all later tables, so this keeps to rule 3, too.
    if (buffer == InvalidBuffer)
        buffer = descend_for_write(tree, entry);
    *reader = open_leaf(tree.index, buffer, tree.kind);
    // We write the note before the leaf changes, while `reader` is valid. If a split moves the key
    // away, the fences show the next reader that the note is stale.
    searched->notes.put(entry.key, hint, buffer, *reader);
    return buffer;
}

// True when the leaf's tail takes one more entry.
bool has_room(const TreeContext& tree, Buffer buffer, const LeafReader& leaf) {
    return leaf.tail_count() < kMaxTailEntries && leaf.count() < kMaxLeafEntries &&
           page_free_bytes(BufferGetPage(buffer)) >= tail_entry_bytes(tree.kind);
}

// Returns a posting's entry in a tree of its lane.
Entry entry_of(const TreeContext& tree, Entry posting) {
    if (tree.kind == LeafKind::kPosting)
        return posting;
    int table = table_of_tree(*tree.layout, tree.number);
    return Entry(tree.layout->permutation(table).apply(posting.key));
}

// Adds a posting's entry to one tree. Expects no page lock, leaves none.
void insert_entry(SearchedTree* searched, Entry posting) {
    const TreeContext& tree = searched->context;
    Entry entry = entry_of(tree, posting);
    for (bool done = false; !done;) {
        LeafReader leaf;
        Buffer buffer = lock_leaf(searched, entry, &leaf);
        // A block table has each fingerprint once: with a second entry a scan would return its rows
        // twice. The exclusive lock keeps others from adding it between this look and the append.
        done = tree.kind == LeafKind::kBlock && leaf.contains_key(entry.key);
        if (!done && has_room(tree, buffer, leaf)) {
            LeafAppend append{buffer, tree.kind, entry};
            append_to_tails(tree.index, &append, 1);
            done = true;
        } else if (!done) {
            done = insert_into_full_leaf(tree, buffer, leaf, entry);
        }
        UnlockReleaseBuffer(buffer);
    }
}

// The state that a statement keeps from row to row.
struct Insertion {
    Layout layout;         // a copy, as an invalidation of the relation frees the cached one
    LaneList fingerprints; // of the row that is being inserted
    SearchedTree* trees;   // [tree_count(layout)]
    int rows_left = 0;     // rows until we ask for the index's size again

    // Takes memory from the current context, which must live as long.
    explicit Insertion(const Layout& of)
        : layout(of), fingerprints(of),
          trees(static_cast<SearchedTree*>(palloc(tree_count(of) * sizeof(SearchedTree)))) {}
};

constexpr int kRowsBetweenSizes = 4096;

Insertion* insertion_of(Relation index, Relation heap, IndexInfo* info) {
    auto* insertion = static_cast<Insertion*>(info->ii_AmCache);
    if (insertion == nullptr) {
        Layout layout = comparable_layout(index);
        MemoryContext caller = MemoryContextSwitchTo(info->ii_Context);
        insertion = new (palloc(sizeof(Insertion))) Insertion(layout);
        MemoryContextSwitchTo(caller);
        info->ii_AmCache = insertion;
    }
    // The number of notes a leaf gets depends on the size of the index. To ask for the size is a
    // system call, so we do not ask at every row.
    if (insertion->rows_left-- == 0) {
        BlockNumber blocks = RelationGetNumberOfBlocks(index);
        for (int i = 0; i < tree_count(insertion->layout); i++)
            new (&insertion->trees[i])
                SearchedTree(tree_context(index, heap, &insertion->layout, i), blocks);
        insertion->rows_left = kRowsBetweenSizes;
    }
    return insertion;
}

constexpr int kMostAhead = 16; // leaves that are fetched together

// Fetches the leaves of the first `count` keys, kMostAhead at most, before any of them is locked:
// fetching locks pages above the leaves, in an order that rule 3 does not allow beside a locked
// leaf. table_and_key(i) is the table of a key, and the key.
void fetch_leaves_ahead(SearchedTree* tables, int count, const auto& table_and_key) {
    if (RelationUsesLocalBuffers(tables[0].context.index))
        return; // without notes, each leaf would cost a second descent
    LeafCursor leaves[kMostAhead];
    count = std::min(count, kMostAhead);
    for (int i = 0; i < count; i++) {
        auto [table, key] = table_and_key(i);
        leaves[i] = LeafCursor(&tables[table], {key, key});
    }
    LeafCursor::fetch_ahead(leaves, count);
}

// Inserts into all tables of a lane by one WAL record if every leaf has room. Returns false, with
// nothing done, if one has none. Locks the leaves of the block tables in order of number and that
// of the posting table last (rule 3), and holds all of them until the record is written.
bool append_everywhere(Relation index, SearchedTree* tables, Entry posting) {
    LeafAppend appends[kMaxAppends];
    Buffer locked[kMaxAppends];
    int locked_count = 0, append_count = 0, table_count = tables[0].context.layout->table_count;
    bool room = true;

    for (int i = 1; i <= table_count && room; i++) {
        // Tables 1, 2, ... and last 0, the posting table: VACUUM asks that one while it holds a
        // leaf of a block table, so any other order could deadlock with it.
        int table = i % table_count;
        const TreeContext& tree = tables[table].context;
        Entry entry = entry_of(tree, posting);
        if (i == table_count)
            pause_for_test("insert-before-last-leaf");
        LeafReader leaf;
        Buffer buffer = lock_leaf(&tables[table], entry, &leaf);
        locked[locked_count++] = buffer;
        // The fingerprint is there already. We keep the leaf locked until the posting is in place:
        // otherwise VACUUM could find no posting and remove the entry that we rely on.
        if (table != 0 && leaf.contains_key(entry.key))
            continue;
        room = has_room(tree, buffer, leaf);
        appends[append_count++] = LeafAppend{buffer, tree.kind, entry};
    }
    // No page has changed yet, so if a leaf is full we can simply unlock all and go table by table.
    if (room)
        append_to_tails(index, appends, append_count);
    while (locked_count > 0)
        UnlockReleaseBuffer(locked[--locked_count]);
    return room;
}

// Adds the posting of one lane, and its fingerprint to the lane's block tables. `tables` are the
// lane's trees, the posting table first. Expects no page lock, leaves none.
void insert_lane(Relation index, SearchedTree* tables, Entry posting) {
    int table_count = tables[0].context.layout->table_count;
    // An insertion mostly waits for the leaves' memory. The waits overlap if all are fetched first.
    fetch_leaves_ahead(tables, table_count, [&](int table) {
        return std::pair(table, entry_of(tables[table].context, posting).key);
    });
    if (table_count <= kMaxAppends && append_everywhere(index, tables, posting))
        return;
    // The posting goes in first. Otherwise this insertion could find its fingerprint in a block
    // table, and VACUUM could remove that entry before the posting is there, as it removes entries
    // without a posting (README.md, "Why (2) is safe"). An error between the posting and the block
    // tables is harmless: the row is aborted with the statement.
    insert_entry(&tables[0], posting);
    pause_for_test("insert-after-posting");
    // We look at every block table even if other rows have the fingerprint: their inserter may not
    // have come to the block tables yet, and may abort before it does.
    for (int table = 1; table < table_count; table++)
        insert_entry(&tables[table], posting);
}

// Adds the postings of a row with any number of fingerprints. Expects no page lock, leaves none.
void insert_postings(SearchedTree* postings, std::span<const uint64_t> fingerprints, uint64_t tid) {
    for (size_t i = 0; i < fingerprints.size(); i++) {
        CHECK_FOR_INTERRUPTS();
        if (i % kMostAhead == 0)
            fetch_leaves_ahead(postings, int(std::min<size_t>(fingerprints.size() - i, kMostAhead)),
                               [&](int j) { return std::pair(0, fingerprints[i + size_t(j)]); });
        insert_entry(postings, {fingerprints[i], tid});
        // What an error leaves here is dead with its row (README.md, "Rows with many hashes").
        pause_for_test("insert-between-postings");
    }
}

} // namespace

bool index_insert(Relation index, Datum* values, bool* isnull, ItemPointer heap_tid, Relation heap,
                  IndexUniqueCheck, bool, IndexInfo* info) {
    Insertion& insertion = *insertion_of(index, heap, info);
    const Layout& layout = insertion.layout;
    uint64_t tid = tid_to_integer(*heap_tid);
    // The entry of a row without one is in one tree alone, so no order has to be kept.
    if (!stored_fingerprints(index, layout, values, isnull, &insertion.fingerprints)) {
        insert_entry(&insertion.trees[null_tree(layout)], {0, tid});
        return false;
    }
    std::span<const uint64_t> fingerprints = insertion.fingerprints.all();
    if (layout.lanes_vary) {
        insert_postings(insertion.trees, fingerprints, tid);
        return false;
    }
    // Each lane's trees are an index of their own: no lock is held from one lane to the next.
    for (int lane = 0; lane < layout.lane_count; lane++)
        insert_lane(index, &insertion.trees[tree_of_table(layout, lane, 0)],
                    {fingerprints[size_t(lane)], tid});
    return false;
}

} // namespace simhash
