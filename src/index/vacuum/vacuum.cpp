// VACUUM: removes dead postings, then the block tables' entries of fingerprints that have no
// posting left, unlinks empty leaves, and records free pages. README.md, "Vacuum", says why that is
// safe beside readers and inserters.
#include "index/access_method.hpp"
#include "index/vacuum/answers.hpp"
#include "index/vacuum/unlink.hpp"
#include "index/testing.hpp"
#include "server/sorter.hpp"

#include <algorithm>

namespace simhash {
namespace {

constexpr size_t kSearchesUnderLock = 128; // searches while one block-table leaf is locked, at most

struct Vacuum {
    IndexVacuumInfo* info;
    IndexBulkDeleteResult* result;
    IndexBulkDeleteCallback callback;
    void* callback_state;
    Relation index;
    Layout layout; // a copy, as an invalidation of the relation frees the cached one
    bool pending;  // removal_pending is set

    int lane;                     // whose trees are being worked on
    SortBuffer<uint64_t> removed; // fingerprints that lost a posting, ascending within a leaf
    Answers answers;              // of the lane's posting table, about these fingerprints

    Entry packed[kMaxLeafEntries];
    Entry tail[kMaxTailEntries];
};

TreeContext vacuum_tree(const Vacuum* vacuum, int tree) {
    return tree_context(vacuum->index, vacuum_heap(vacuum->info), &vacuum->layout, tree);
}

// A tree of the lane that is being worked on.
TreeContext vacuum_table(const Vacuum* vacuum, int table) {
    return vacuum_tree(vacuum, tree_of_table(vacuum->layout, vacuum->lane, table));
}

// True when the fingerprints of this tree are in block tables, too: not those of the null table,
// and some indexes have no block table.
bool has_block_tables(const Vacuum* vacuum, const TreeContext& tree) {
    return tree.number != null_tree(vacuum->layout) && vacuum->layout.table_count > 1;
}

// Removes the entries for which unwanted(entry) is true from a leaf, in one WAL record. Asks once
// for each entry, and returns how many are left. Expects the leaf locked exclusively; leaves it
// locked.
int remove_entries(Vacuum* vacuum, const TreeContext& tree, Buffer buffer, const auto& unwanted) {
    LeafReader reader = open_leaf(vacuum->index, buffer, tree.kind);
    Entry* packed_end = vacuum->packed + reader.decode_packed(vacuum->packed);
    Entry* tail_end = vacuum->tail + reader.decode_tail(vacuum->tail);
    Entry* packed_kept = std::remove_if(vacuum->packed, packed_end, unwanted);
    Entry* tail_kept = std::remove_if(vacuum->tail, tail_end, unwanted);
    auto left = int((packed_kept - vacuum->packed) + (tail_kept - vacuum->tail));
    // All rows may live, or all keys of a block table have postings again: nothing to log then.
    if (packed_kept == packed_end && tail_kept == tail_end)
        return left;
    // We set the flag before the first fingerprint goes, and its record precedes the removal's in
    // WAL. So after a crash at any point the next VACUUM knows that block tables may have orphans.
    // The metapage is last in the order of locks, so we may lock it beside the leaf (rule 5).
    if (has_block_tables(vacuum, tree) && !vacuum->pending) {
        set_meta_flag(vacuum->index, &MetaPage::removal_pending, true);
        vacuum->pending = true;
    }
    // All is written to generic WAL's copy of the page: an error below leaves the page as it is.
    GenericXLogState* state = GenericXLogStart(tree.index);
    Page page = GenericXLogRegisterBuffer(state, buffer, 0);
    size_t bytes = encode_body(tree.kind, {vacuum->packed, packed_kept}, {vacuum->tail, tail_kept},
                               page_body(page), kBodyCapacity);
    // A part of a leaf never encodes larger than the leaf: it fits unless it is out of order.
    if (bytes == 0)
        report_corruption(tree.index, BufferGetBlockNumber(buffer),
                          "Entries of a leaf are out of order.");
    page_set_body_size(page, bytes);
    GenericXLogFinish(state);
    return left;
}

// ---- Block tables ----

// Finds out which of the keys have a fingerprint that still has no posting, and moves these `*gone`
// keys to the front. Stops after kSearchesUnderLock searches, because inserters and scans wait for
// the leaf meanwhile. Returns how many keys it dealt with. Expects their leaf locked exclusively.
size_t find_gone(Vacuum* vacuum, Permutation permutation, std::span<uint64_t> keys, size_t* gone) {
    Answers& answers = vacuum->answers;
    size_t most_searches = answers.searches() + kSearchesUnderLock, done = 0;
    for (*gone = 0; done < keys.size() && answers.searches() < most_searches; done++)
        if (answers.still_absent(permutation.invert(keys[done])))
            keys[(*gone)++] = keys[done];
    return done;
}

// Removes those of `keys` (ascending, permuted for this table) that have no posting from a block
// table. Overwrites the keys. Expects no lock, leaves none.
void remove_from_table(Vacuum* vacuum, int table, std::span<uint64_t> keys) {
    TreeContext tree = vacuum_table(vacuum, table);
    Permutation permutation = vacuum->layout.permutation(table);
    while (!keys.empty()) {
        vacuum_delay();
        // We leave an incomplete split as it is: the next inserter completes it, and to take
        // entries out needs no room. A plain descend() finds the right leaf all the same.
        Buffer buffer = descend(tree, {keys[0], 0}, 0, BUFFER_LOCK_EXCLUSIVE);
        Page page = BufferGetPage(buffer);
        BlockNumber block = BufferGetBlockNumber(buffer);
        open_leaf(vacuum->index, buffer, tree.kind); // a damaged one is an error before any search
        auto on_leaf = std::partition_point(keys.begin(), keys.end(), [&](uint64_t key) {
            return !page_precedes(page, {key, 0});
        });
        // We ask under the leaf's lock. An inserter puts its posting in place before it locks this
        // leaf to look for the entry, or holds the leaf until the posting is in place. So if we
        // find no posting, the inserter looks after we have removed the entry, misses it, and puts
        // it back.
        size_t gone;
        size_t done = find_gone(vacuum, permutation, {keys.begin(), on_leaf}, &gone);
        // A leaf that a descent returns holds the first key, unless it is a root with a right link.
        if (done == 0)
            report_corruption(vacuum->index, block, "The root has a right sibling.");
        int left = remove_entries(vacuum, tree, buffer, [&](const Entry& entry) {
            return std::binary_search(keys.begin(), keys.begin() + gone, entry.key);
        });
        // Unlinking has to lock the left neighbour before the leaf (rule 3), so we release the leaf
        // first. unlink_leaf() looks again whether it is empty.
        UnlockReleaseBuffer(buffer);
        if (left == 0 && unlink_leaf(tree, block))
            vacuum->result->pages_newly_deleted++;
        keys = keys.subspan(done);
    }
}

// Removes the remembered fingerprints without a posting from the block tables, and forgets them.
void remove_from_tables(Vacuum* vacuum) {
    if (vacuum->removed.count() == 0)
        return;
    // First in the posting table's order, so that one leaf answers for many of them.
    vacuum->removed.drop_repeated();
    size_t count = vacuum->removed.count();
    uint64_t* removed = vacuum->removed.data();
    // The same fingerprints, permuted for a table and in its order.
    uint64_t* keys = vacuum->removed.scratch().data();
    vacuum->answers.set_posting_table(vacuum_table(vacuum, 0));
    vacuum->answers.begin(count);
    for (int table = 1; table < vacuum->layout.table_count; table++) {
        // Other rows may have these fingerprints still, or again. keep_absent() finds most of them
        // here, without a lock on the block table. Later changes show in the LSNs.
        count = vacuum->answers.keep_absent(removed, count);
        pause_for_test(table == 1 ? "vacuum-after-answers" : "vacuum-after-later-answers");
        Permutation permutation = vacuum->layout.permutation(table);
        bucket_sort(
            {removed, count}, keys,
            [&](uint64_t fingerprint) { return permutation.apply(fingerprint); }, vacuum_delay);
        remove_from_table(vacuum, table, {keys, count});
    }
    vacuum->removed.clear();
    // The walk goes on and may unlink leaves that gave an answer. An unlinked page may become one
    // of another tree, and to lock that one for holds() would break rule 3.
    vacuum->answers.forget();
}

// Removes every entry without a posting from the lane's block tables, after a VACUUM that did not
// end: what that one remembered is lost, so we ask about every entry.
void sweep_tables_of_lane(Vacuum* vacuum) {
    TreeContext postings = vacuum_table(vacuum, 0);
    // Answers are about remembered fingerprints only, so none may be used here.
    vacuum->answers.set_posting_table(postings);
    auto* keys = static_cast<uint64_t*>(palloc(kMaxLeafEntries * sizeof(uint64_t)));
    for (int table = 1; table < vacuum->layout.table_count; table++) {
        TreeContext tree = vacuum_table(vacuum, table);
        Permutation permutation = vacuum->layout.permutation(table);
        Entry position{0, 0};
        for (bool more = true; more;) {
            vacuum_delay();
            Buffer buffer = descend(tree, position, 0, BUFFER_LOCK_SHARE);
            int count = open_leaf(vacuum->index, buffer, tree.kind).decode_sorted(vacuum->packed);
            more = go_right(vacuum->index, buffer, &position);
            UnlockReleaseBuffer(buffer);
            // This is a first guess without a lock on the leaf: the leaf may have been split, and a
            // fingerprint may get a posting. remove_from_table() asks again under the lock.
            int orphans = 0;
            for (int i = 0; i < count; i++)
                if (!has_posting(postings, permutation.invert(vacuum->packed[i].key)))
                    keys[orphans++] = vacuum->packed[i].key;
            remove_from_table(vacuum, table, {keys, size_t(orphans)});
        }
    }
    pfree(keys);
}

void sweep_tables(Vacuum* vacuum) {
    for (vacuum->lane = 0; vacuum->lane < vacuum->layout.lane_count; vacuum->lane++)
        sweep_tables_of_lane(vacuum);
}

// ---- Postings ----

void remember_removed(Vacuum* vacuum, uint64_t fingerprint) {
    // Postings of a fingerprint are adjacent in the packed part: this drops most repeats.
    if (vacuum->removed.count() > 0 && vacuum->removed.entries().back() == fingerprint)
        return;
    Assert(vacuum->removed.room() > 0); // add() would allocate
    vacuum->removed.add(fingerprint);
}

// Removes the dead entries from one leaf, and returns how many are left. Expects the leaf under a
// cleanup lock, and room for its fingerprints (SortBuffer::make_room()), as it must not allocate
// under the lock.
int vacuum_leaf(Vacuum* vacuum, const TreeContext& tree, Buffer buffer) {
    BlockNumber block = BufferGetBlockNumber(buffer);
    bool remember = has_block_tables(vacuum, tree);
    int removed = 0;
    int left = remove_entries(vacuum, tree, buffer, [&](const Entry& entry) {
        if (!tid_is_possible(entry.tid))
            report_corruption(vacuum->index, block, "A posting has no valid TID.");
        ItemPointerData tid = integer_to_tid(entry.tid);
        bool is_dead = vacuum->callback(&tid, vacuum->callback_state);
        if (is_dead && remember)
            remember_removed(vacuum, entry.key);
        removed += is_dead;
        return is_dead;
    });
    // A row with a fingerprint has a posting for each lane, and counts once. Where lanes vary in
    // number these are postings: the server is told the table's rows.
    if (vacuum->lane == 0 || tree.number == null_tree(vacuum->layout)) {
        vacuum->result->num_index_tuples += left;
        vacuum->result->tuples_removed += removed;
    }
    return left;
}

// Pins a page and waits until nobody else has a pin on it. Expects no page lock: a scan may keep
// its pin for long, and others would wait for us as long.
Buffer lock_for_cleanup(Vacuum* vacuum, BlockNumber block) {
    Buffer buffer = pin_page(vacuum->index, block, vacuum->info->strategy);
    LockBufferForCleanup(buffer);
    check_page(vacuum->index, block, buffer);
    return buffer;
}

// Walks the leaves of a posting table or the null table and removes dead entries.
void vacuum_postings(Vacuum* vacuum, int number) {
    TreeContext tree = vacuum_tree(vacuum, number);
    vacuum->removed.make_room(kMaxLeafEntries); // nothing is remembered yet, so there is some
    // The root gets a cleanup lock even if it is no leaf any more: a scan may have pinned it as a
    // leaf before it was pushed down, and may still return TIDs from then.
    Buffer buffer = lock_for_cleanup(vacuum, root_block(number));
    if (!page_is_leaf(BufferGetPage(buffer))) {
        UnlockReleaseBuffer(buffer);
        buffer = descend(tree, {0, 0}, 0, BUFFER_LOCK_SHARE);
        BlockNumber first = BufferGetBlockNumber(buffer);
        UnlockReleaseBuffer(buffer);
        buffer = lock_for_cleanup(vacuum, first);
    }
    Entry position{0, 0}; // the last leaf's high key
    for (;;) {
        Page page = BufferGetPage(buffer);
        BlockNumber block = BufferGetBlockNumber(buffer), next = page_opaque(page)->right;
        // We follow right links, not block numbers. Splits move entries to the right only, so no
        // entry gets past the walk. A TID that we missed would outlive its row.
        // The link stays true while we hold no lock, as nobody else unlinks pages. If we have just
        // unlinked the leaf before, this leaf has taken over its range, and `low` <= position.
        if (!page_is_leaf(page) || page_is_deleted(page) || page_opaque(page)->tree != number ||
            page_low(page) > position)
            report_corruption(vacuum->index, block, "A right link leads out of its tree.");
        go_right(vacuum->index, buffer, &position);
        // Even a leaf without dead entries needs the cleanup lock. A scan that has it pinned may
        // return TIDs that a split has moved to a later leaf, where we are about to remove them.
        // The scan must be done with them before we return and the server recycles them (rule 4).
        int left = vacuum_leaf(vacuum, tree, buffer);
        UnlockReleaseBuffer(buffer);
        // We unlink before we go on. `next` stays the right way: that leaf takes over the range, or
        // the leaf was split meanwhile, and its new right half holds nothing to remove.
        if (left == 0 && next != InvalidBlockNumber && unlink_leaf(tree, block))
            vacuum->result->pages_newly_deleted++;
        if (next == InvalidBlockNumber)
            return;
        // If the limit of memory allows no room for another leaf's fingerprints, those remembered
        // go first. They are forgotten then, and leave room: the limit is that of two leaves at
        // least. This allocates, so no page is locked.
        if (!vacuum->removed.make_room(kMaxLeafEntries))
            remove_from_tables(vacuum);
        pause_for_test("vacuum-between-leaves");
        vacuum_delay();
        buffer = lock_for_cleanup(vacuum, next);
    }
}

// Records all pages that may be used again in the free space map. Also finds pages that a crash
// left all zeros between extension and linking. No WAL is needed: allocate_page() checks them.
void record_free_pages(IndexVacuumInfo* info, IndexBulkDeleteResult* result) {
    BlockNumber blocks = RelationGetNumberOfBlocks(info->index);
    result->pages_deleted = result->pages_free = 0;
    for (BlockNumber block = kMetaBlock + 1; block < blocks; block++) {
        vacuum_delay();
        Buffer buffer =
            ReadBufferExtended(info->index, MAIN_FORKNUM, block, RBM_NORMAL, info->strategy);
        LockBuffer(buffer, BUFFER_LOCK_SHARE);
        Page page = BufferGetPage(buffer);
        if (page_is_recyclable(page, vacuum_heap(info))) {
            RecordFreeIndexPage(info->index, block);
            result->pages_free++;
            result->pages_deleted++;
        } else if (page_is_well_formed(page) && page_is_deleted(page)) {
            result->pages_deleted++;
        }
        UnlockReleaseBuffer(buffer);
    }
    IndexFreeSpaceMapVacuum(info->index);
    result->num_pages = blocks;
    // Pages that we have just unlinked must wait until no snapshot is older. The flag tells a later
    // VACUUM to record them, even one with nothing to remove, which would not look at the index.
    bool pending = result->pages_deleted > result->pages_free;
    if (pending != meta_flag(info->index, &MetaPage::free_pending))
        set_meta_flag(info->index, &MetaPage::free_pending, pending);
}

// Returns how many fingerprints that lost a posting may be remembered at once. This is a limit
// only: a SortBuffer allocates as needed, since maintenance_work_mem may be far more than needed.
size_t removed_limit() {
    constexpr size_t kBytes = 2 * sizeof(uint64_t) + Answers::kBytesEach;
    int kilobytes = in_autovacuum_worker() && autovacuum_work_mem != -1 ? autovacuum_work_mem
                                                                        : maintenance_work_mem;
    return std::max<size_t>(size_t(kilobytes) * 1024 / kBytes, 2 * kMaxLeafEntries);
}

Vacuum* begin_vacuum(IndexVacuumInfo* info, IndexBulkDeleteResult* result) {
    auto* vacuum = static_cast<Vacuum*>(palloc0(sizeof(Vacuum)));
    vacuum->info = info;
    vacuum->result = result;
    vacuum->index = info->index;
    vacuum->layout = cached_layout(info->index);
    vacuum->pending = meta_flag(info->index, &MetaPage::removal_pending);
    size_t limit = removed_limit();
    vacuum->removed = SortBuffer<uint64_t>(limit * 2 * sizeof(uint64_t)); // half of it scratch
    vacuum->answers = Answers(limit / Answers::kSharingLeaf);
    return vacuum;
}

void end_vacuum(Vacuum* vacuum) {
    // Last: after a crash before this point the flag is still set, and the next VACUUM sweeps.
    if (vacuum->pending)
        set_meta_flag(vacuum->index, &MetaPage::removal_pending, false);
    vacuum->answers.free();
    vacuum->removed.release();
    pfree(vacuum);
}

// Takes the number of the table's rows for that of the index, where the walk counted postings.
void count_rows_of_table(const IndexVacuumInfo* info, IndexBulkDeleteResult* result) {
    result->num_index_tuples = info->num_heap_tuples;
    // A partial index has fewer.
    result->estimated_count =
        info->estimated_count ||
        !heap_attisnull(info->index->rd_indextuple, Anum_pg_index_indpred, nullptr);
}

// Does what an earlier VACUUM left undone, when this one has nothing to remove.
IndexBulkDeleteResult* catch_up(IndexVacuumInfo* info) {
    auto* result = static_cast<IndexBulkDeleteResult*>(palloc0(sizeof(IndexBulkDeleteResult)));
    result->num_pages = RelationGetNumberOfBlocks(info->index);
    result->num_index_tuples = info->num_heap_tuples;
    result->estimated_count = true;
    bool sweep = meta_flag(info->index, &MetaPage::removal_pending);
    if (sweep) {
        Vacuum* vacuum = begin_vacuum(info, result);
        sweep_tables(vacuum);
        end_vacuum(vacuum);
    }
    if (sweep || meta_flag(info->index, &MetaPage::free_pending))
        record_free_pages(info, result);
    return result;
}

} // namespace

IndexBulkDeleteResult* index_bulk_delete(IndexVacuumInfo* info, IndexBulkDeleteResult* result,
                                         IndexBulkDeleteCallback callback, void* state) {
    if (result == nullptr)
        result = static_cast<IndexBulkDeleteResult*>(palloc0(sizeof(IndexBulkDeleteResult)));
    result->num_index_tuples = 0;
    result->estimated_count = false;

    Vacuum* vacuum = begin_vacuum(info, result);
    vacuum->callback = callback;
    vacuum->callback_state = state;
    // The walk below sets `pending`, too, so we read now whether an earlier VACUUM left it set.
    bool sweep = vacuum->pending;
    for (vacuum->lane = 0; vacuum->lane < vacuum->layout.lane_count; vacuum->lane++) {
        // Postings go before block tables: the entry of a block table may go only when its
        // fingerprint has no posting left.
        vacuum_postings(vacuum, tree_of_table(vacuum->layout, vacuum->lane, 0));
        pause_for_test("vacuum-before-tables");
        remove_from_tables(vacuum);
    }
    vacuum_postings(vacuum, null_tree(vacuum->layout));
    // An earlier VACUUM did not end, and nobody knows what it removed.
    if (sweep)
        sweep_tables(vacuum);
    end_vacuum(vacuum);
    return result;
}

IndexBulkDeleteResult* index_vacuum_cleanup(IndexVacuumInfo* info, IndexBulkDeleteResult* result) {
    if (info->analyze_only)
        return result;
    if (result == nullptr)
        return catch_up(info);
    if (cached_layout(info->index).lanes_vary)
        count_rows_of_table(info, result);
    record_free_pages(info, result);
    return result;
}

} // namespace simhash
