// VACUUM: removes dead postings, then the block tables' entries of fingerprints that have none
// left, unlinks empty leaves, and records free pages. README.md, "Vacuum", says why that is safe
// beside readers and inserters.
#include "core/bits/bucket_sort.hpp"
#include "core/bits/permutation.hpp"
#include "index/access_method.hpp"
#include "index/change/answers.hpp"
#include "index/change/unlink.hpp"
#include "index/store/index_cache.hpp"
#include "index/testing.hpp"

#include <algorithm>

namespace simhash {

namespace {

constexpr size_t kSearchesUnderLock = 128; // of a block-table leaf at most
constexpr size_t kAnswersAhead = 16;       // looked up before they are used

struct Vacuum {
    IndexVacuumInfo* info;
    IndexBulkDeleteResult* result;
    IndexBulkDeleteCallback callback;
    void* callback_state;
    Relation index;
    Layout copied_layout; // the cached one goes when the relation is invalidated
    const Layout* layout;
    bool pending; // removal_pending is set

    uint64_t* removed; // [removed_room] fingerprints that lost a posting, ascending within a leaf
    size_t removed_count, removed_room, removed_limit;
    Answers answers; // of the posting table, to the same

    Entry packed[kMaxLeafEntries];
    Entry tail[kMaxTailEntries];
};

TreeContext vacuum_tree(const Vacuum* vacuum, int tree) {
    return tree_context(vacuum->index, vacuum_heap(vacuum->info), vacuum->layout, tree);
}

// ---- Block tables ----

// Takes the entries with these keys out of a packed part; both ascend. Returns the packed part's
// new end.
Entry* without(Entry* packed, const Entry* packed_end, const uint64_t* keys,
               const uint64_t* keys_end) {
    Entry* kept = packed;
    for (const Entry* entry = packed; entry < packed_end; entry++) {
        while (keys < keys_end && *keys < entry->key)
            keys++;
        *kept = *entry;
        kept += keys == keys_end || *keys != entry->key;
    }
    return kept;
}

// Finds out whether the fingerprints of keys have no posting still: moves such keys to the front,
// `gone` of them. Returns how many it dealt with, before they took more than kSearchesUnderLock
// searches.
size_t find_gone(Vacuum* vacuum, const Permutation& permutation, std::span<uint64_t> keys,
                 size_t* gone) {
    Answers& answers = vacuum->answers;
    size_t most_searches = answers.searches() + kSearchesUnderLock, done = 0;
    auto look_up = [&](size_t i) { return answers.look_up(permutation.invert(keys[i])); };
    // Answers are looked up some keys ahead, so that their leaves come nearer meanwhile.
    const Answer* ahead[kAnswersAhead];
    for (size_t i = 0; i < std::min(keys.size(), kAnswersAhead); i++)
        ahead[i] = look_up(i);
    for (*gone = 0; done < keys.size() && answers.searches() < most_searches; done++) {
        const Answer*& answer = ahead[done % kAnswersAhead];
        if (answers.still_absent(permutation.invert(keys[done]), answer))
            keys[(*gone)++] = keys[done];
        if (done + kAnswersAhead < keys.size())
            answer = look_up(done + kAnswersAhead);
    }
    return done;
}

// Removes from one block-table leaf those of `keys` (ascending) that have no posting. Expects the
// leaf locked exclusively. Returns how many of the keys it dealt with; overwrites these.
size_t remove_from_leaf(Vacuum* vacuum, const TreeContext& tree, const Permutation& permutation,
                        Buffer buffer, std::span<uint64_t> keys) {
    LeafReader reader = open_leaf(vacuum->index, buffer, tree.kind);
    // Asked under the leaf's lock: whoever inserts one of these fingerprints has its posting first,
    // and must lock this leaf then to see whether the entry is there.
    size_t gone;
    size_t done = find_gone(vacuum, permutation, keys, &gone);
    const uint64_t* gone_end = keys.data() + gone;
    // The packed part ascends as the keys do; the tail is in order of arrival.
    auto is_gone = [&](const Entry& entry) {
        return std::binary_search<const uint64_t*>(keys.data(), gone_end, entry.key);
    };
    Entry* packed_end = vacuum->packed + reader.decode_packed(vacuum->packed);
    Entry* tail_end = vacuum->tail + reader.decode_tail(vacuum->tail);
    Entry* packed_kept = without(vacuum->packed, packed_end, keys.data(), gone_end);
    Entry* tail_kept = std::remove_if(vacuum->tail, tail_end, is_gone);
    // Nothing to remove, nothing logged: all of them may have postings again.
    if (packed_kept < packed_end || tail_kept < tail_end)
        rewrite_leaf(tree, buffer, {vacuum->packed, packed_kept}, {vacuum->tail, tail_kept});
    return done;
}

bool leaf_is_empty(Relation index, Buffer buffer, LeafKind kind) {
    return open_leaf(index, buffer, kind).count() == 0;
}

// Removes those of `keys` (ascending, permuted for this table) that have no posting; overwrites the
// keys.
void remove_from_table(Vacuum* vacuum, int table, std::span<uint64_t> keys) {
    TreeContext tree = vacuum_tree(vacuum, table);
    Permutation permutation = vacuum->layout->permutation(table);
    while (!keys.empty()) {
        vacuum_delay();
        // An incomplete split is left as it is: entries are only taken out.
        Buffer buffer = descend(tree, {keys[0], 0}, 0, BUFFER_LOCK_EXCLUSIVE);
        Page page = BufferGetPage(buffer);
        BlockNumber block = BufferGetBlockNumber(buffer);
        auto on_leaf = std::partition_point(keys.begin(), keys.end(), [&](uint64_t key) {
            return !page_precedes(page, {key, 0});
        });
        size_t done = remove_from_leaf(vacuum, tree, permutation, buffer, {keys.begin(), on_leaf});
        // A leaf that was found by a descent holds the first key, unless its fences are damaged.
        if (done == 0)
            report_corruption(vacuum->index, block, "The root has a right sibling.");
        bool empty = leaf_is_empty(vacuum->index, buffer, tree.kind);
        // Unlinking locks the left neighbour before the leaf (rule 3), so the leaf goes first.
        UnlockReleaseBuffer(buffer);
        if (empty && unlink_leaf(tree, block))
            vacuum->result->pages_newly_deleted++;
        keys = keys.subspan(done);
    }
}

// Deals with the remembered fingerprints, and forgets them.
void remove_from_tables(Vacuum* vacuum) {
    if (vacuum->removed_count == 0)
        return;
    // In the order of the posting table, which is asked leaf by leaf.
    uint64_t* removed = vacuum->removed;
    std::sort(removed, removed + vacuum->removed_count);
    size_t count = std::unique(removed, removed + vacuum->removed_count) - removed;
    vacuum->answers.begin(count);
    // The same, permuted and sorted.
    auto* keys = static_cast<uint64_t*>(
        MemoryContextAllocHuge(CurrentMemoryContext, count * sizeof(uint64_t)));
    for (int table = 1; table < vacuum->layout->table_count; table++) {
        // Other rows may have them still, or have them again: most are sorted out here, before any
        // leaf of the block table is locked.
        count = vacuum->answers.keep_absent(removed, count);
        pause_for_test(table == 1 ? "vacuum-after-answers" : "vacuum-after-later-answers");
        Permutation permutation = vacuum->layout->permutation(table);
        bucket_sort(
            {removed, count}, keys,
            [&](uint64_t fingerprint) { return permutation.apply(fingerprint); }, vacuum_delay);
        remove_from_table(vacuum, table, {keys, count});
    }
    vacuum->removed_count = 0;
    // The walk goes on, and may unlink leaves that gave an answer.
    vacuum->answers.forget();
    pfree(keys);
}

// Makes room for what one leaf may have: more memory, up to the limit, and then by dealing with
// what is remembered. Expects no lock.
void make_room(Vacuum* vacuum) {
    if (vacuum->removed_count + kMaxLeafEntries <= vacuum->removed_room)
        return;
    // The limit may be nearer than one leaf has entries: then to grow up to it would not do.
    if (vacuum->removed_count + kMaxLeafEntries > vacuum->removed_limit) {
        remove_from_tables(vacuum);
        return;
    }
    constexpr size_t kLeast = 2 * kMaxLeafEntries;
    vacuum->removed_room =
        std::min(std::max(2 * vacuum->removed_room, kLeast), vacuum->removed_limit);
    size_t bytes = vacuum->removed_room * sizeof(uint64_t);
    vacuum->removed = static_cast<uint64_t*>(
        vacuum->removed == nullptr ? MemoryContextAllocHuge(CurrentMemoryContext, bytes)
                                   : repalloc_huge(vacuum->removed, bytes));
}

// Removes every entry of every block table that has no posting: after a removal that did not end.
void sweep_tables(Vacuum* vacuum) {
    Assert(vacuum->answers.is_empty()); // they are about remembered fingerprints only
    for (int table = 1; table < vacuum->layout->table_count; table++) {
        TreeContext tree = vacuum_tree(vacuum, table);
        Permutation permutation = vacuum->layout->permutation(table);
        auto* keys = static_cast<uint64_t*>(palloc(kMaxLeafEntries * sizeof(uint64_t)));
        Entry position{0, 0};
        for (bool more = true; more;) {
            vacuum_delay();
            Buffer buffer = descend(tree, position, 0, BUFFER_LOCK_SHARE);
            int count = open_leaf(vacuum->index, buffer, tree.kind).decode_sorted(vacuum->packed);
            more = go_right(vacuum->index, buffer, &position);
            UnlockReleaseBuffer(buffer);
            // A first guess, without a lock. remove_from_table() asks again under one.
            int orphans = 0;
            for (int i = 0; i < count; i++)
                if (!has_posting(vacuum->index, vacuum->layout,
                                 permutation.invert(vacuum->packed[i].key)))
                    keys[orphans++] = vacuum->packed[i].key;
            remove_from_table(vacuum, table, {keys, size_t(orphans)});
        }
        pfree(keys);
    }
}

// ---- Postings ----

void remember_removed(Vacuum* vacuum, uint64_t fingerprint) {
    // Postings of one fingerprint follow one another in the packed part.
    if (vacuum->removed_count > 0 && vacuum->removed[vacuum->removed_count - 1] == fingerprint)
        return;
    Assert(vacuum->removed_count < vacuum->removed_room);
    vacuum->removed[vacuum->removed_count++] = fingerprint;
}

// Keeps those entries whose rows live; returns their number.
int keep_live(Vacuum* vacuum, BlockNumber block, Entry* entries, int count, bool remember) {
    int kept = 0;
    for (int i = 0; i < count; i++) {
        if (!tid_is_possible(entries[i].tid))
            report_corruption(vacuum->index, block, "A posting has no valid TID.");
        ItemPointerData tid = integer_to_tid(entries[i].tid);
        if (!vacuum->callback(&tid, vacuum->callback_state))
            entries[kept++] = entries[i];
        else if (remember)
            remember_removed(vacuum, entries[i].key);
    }
    return kept;
}

// Removes the dead from one leaf. Expects it under a cleanup lock, after make_room().
void vacuum_leaf(Vacuum* vacuum, const TreeContext& tree, Buffer buffer) {
    LeafReader reader = open_leaf(vacuum->index, buffer, tree.kind);
    int packed_count = reader.decode_packed(vacuum->packed),
        tail_count = reader.decode_tail(vacuum->tail);
    bool remember = tree.number == 0;
    BlockNumber block = BufferGetBlockNumber(buffer);
    int packed_kept = keep_live(vacuum, block, vacuum->packed, packed_count, remember);
    int tail_kept = keep_live(vacuum, block, vacuum->tail, tail_count, remember);
    int removed = packed_count - packed_kept + tail_count - tail_kept;
    vacuum->result->num_index_tuples += packed_kept + tail_kept;
    vacuum->result->tuples_removed += removed;
    if (removed == 0)
        return;
    // Before the first entry goes: if this vacuum does not end, block tables may keep orphans, and
    // the next one has to sweep them.
    if (!vacuum->pending) {
        set_meta_flag(vacuum->index, &MetaPage::removal_pending, true);
        vacuum->pending = true;
    }
    rewrite_leaf(tree, buffer, {vacuum->packed, size_t(packed_kept)},
                 {vacuum->tail, size_t(tail_kept)});
}

Buffer lock_for_cleanup(Vacuum* vacuum, BlockNumber block) {
    Buffer buffer = pin_page(vacuum->index, block, vacuum->info->strategy);
    LockBufferForCleanup(buffer);
    check_page(vacuum->index, block, buffer);
    return buffer;
}

// Walks the leaves of the posting or the null table.
void vacuum_postings(Vacuum* vacuum, int number) {
    TreeContext tree = vacuum_tree(vacuum, number);
    make_room(vacuum);
    // The root too, whatever it is: a scan may hold its pin from when it was a leaf.
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
        // By right links and not by block number: splits move entries to the right only, so none
        // passes the walk by. A TID that was missed would outlive its row.
        // Nobody else unlinks pages; a leaf that was unlinked just now has given its range to this.
        if (!page_is_leaf(page) || page_is_deleted(page) || page_opaque(page)->tree != number ||
            page_low(page) > position)
            report_corruption(vacuum->index, block, "A right link leads out of its tree.");
        go_right(vacuum->index, buffer, &position);
        // Under the cleanup lock even if nothing is removed: it waits for scans that have TIDs of
        // this leaf in hand and a pin on it (rule 4).
        vacuum_leaf(vacuum, tree, buffer);
        bool empty = leaf_is_empty(vacuum->index, buffer, tree.kind);
        UnlockReleaseBuffer(buffer);
        // Before the walk goes on, while `next` is known. The next leaf takes over its range.
        if (empty && next != InvalidBlockNumber && unlink_leaf(tree, block))
            vacuum->result->pages_newly_deleted++;
        if (next == InvalidBlockNumber)
            return;
        make_room(vacuum);
        pause_for_test("vacuum-between-leaves");
        vacuum_delay();
        buffer = lock_for_cleanup(vacuum, next);
    }
}

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
    // Pages that were unlinked just now must wait; a later vacuum that finds nothing to remove, and
    // so would not look at the index, still has to record them.
    bool pending = result->pages_deleted > result->pages_free;
    if (pending != meta_flag(info->index, &MetaPage::free_pending))
        set_meta_flag(info->index, &MetaPage::free_pending, pending);
}

// How many fingerprints that lost a posting may be remembered at once. The memory for them grows
// with their number: maintenance_work_mem may be far more than this index can need.
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
    vacuum->copied_layout = index_cache(info->index)->layout;
    vacuum->layout = &vacuum->copied_layout;
    vacuum->pending = meta_flag(info->index, &MetaPage::removal_pending);
    vacuum->removed_limit = removed_limit();
    vacuum->answers =
        Answers(vacuum->index, vacuum->layout, vacuum->removed_limit / Answers::kSharingLeaf);
    return vacuum;
}

void end_vacuum(Vacuum* vacuum) {
    // Last of all: up to here a crash leaves the flag set.
    if (vacuum->pending)
        set_meta_flag(vacuum->index, &MetaPage::removal_pending, false);
    vacuum->answers.free();
    if (vacuum->removed != nullptr)
        pfree(vacuum->removed);
    pfree(vacuum);
}

// A vacuum with nothing to remove: what an earlier one left undone.
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
    bool sweep = vacuum->pending;
    // Postings before block tables: an entry of a block table goes only when its fingerprint has no
    // posting any more.
    vacuum_postings(vacuum, 0);
    pause_for_test("vacuum-before-tables");
    remove_from_tables(vacuum);
    vacuum_postings(vacuum, null_tree(*vacuum->layout));
    // An earlier vacuum did not end, and nobody knows what it removed.
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
    record_free_pages(info, result);
    return result;
}

} // namespace simhash
