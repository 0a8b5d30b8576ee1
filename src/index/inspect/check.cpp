// simhash_index_check: proves an index's invariants, as amcheck does for B-trees.
//
// It checks the structure first, tree by tree and level by level from the root: the header, fences,
// links and entries of each page. The downlinks of a level must lead to exactly the pages of the
// level below; only the right sibling of an incompletely split page has none.
//
// Then it checks the content. No TID may occur twice in the trees of postings. Each block table
// must agree with the posting table: the check compares two streams in the table's order. With
// heapallindexed, every row of the table must have its posting. The check sorts streams that are in
// another order within maintenance_work_mem.
//
// It locks both relations against writers, so that any deviation is damage. During recovery nobody
// can take that lock, so there replay must be paused.
//
// The structure comes first because the content is read by way of it. Once the pages of each level
// are known to have all keys among them, each key on one page, a walk along the leaves meets every
// entry once.
#include "index/inspect/inspect.hpp"
#include "index/scope.hpp"
#include "server/sorter.hpp"

#include <new>
#include <optional>

namespace simhash {
namespace {

// What the steps of one check share, and the figures that it returns.
struct Check {
    // Both are locked in the mode of check_lock() until the end. So no writer lets a file grow.
    Relation heap, index;
    // This is a copy, because an invalidation may free the cache while the check runs.
    Layout layout = comparable_layout(index);
    BlockNumber blocks = RelationGetNumberOfBlocks(index);
    // TIDs of another table access method need not be blocks and offsets.
    BlockNumber heap_blocks = heap->rd_rel->relam == HEAP_TABLE_AM_OID
                                  ? RelationGetNumberOfBlocks(heap)
                                  : InvalidBlockNumber;
    // [blocks / 8 + 1] one bit for each page that a link leads to
    uint8* reached = static_cast<uint8*>(palloc0(blocks / 8 + 1));
    Entry* entries = static_cast<Entry*>(palloc(kMaxLeafEntries * sizeof(Entry))); // of one leaf

    int lane = 0;           // whose trees are being checked
    int64 rows = 0;         // postings of the first lane, and those of the null table
    int64 fingerprints = 0; // distinct ones of the first lane
    int64 orphans = 0;      // entries of block tables without a posting
    int64 pages = 0;        // in use
    int64 free_pages = 0;
};
static_assert(MaxBlockNumber / 8 + 1 <= MaxAllocSize);

// The result is in bytes; the server has the setting in kB.
size_t sort_memory() { return size_t(maintenance_work_mem) * 1024; }

TreeContext checked_tree(const Check* check, int number) {
    return tree_context(check->index, nullptr, &check->layout, number);
}

// A tree of the lane that is being checked.
TreeContext checked_table(const Check* check, int table) {
    return checked_tree(check, tree_of_table(check->layout, check->lane, table));
}

// ---- Structure ----

// A page that two links lead to would be read twice, or for ever where the links form a circle.
// This ends the check instead.
void mark_reached(Check* check, BlockNumber block) {
    if (block >= check->blocks)
        report_corruption(check->index, block, "A link leads beyond the index's end.");
    uint8 bit = uint8(1 << (block & 7));
    if (check->reached[block >> 3] & bit)
        report_corruption(check->index, block, "Two links lead to the page.");
    check->reached[block >> 3] |= bit;
    check->pages++;
}

void check_flags(const LevelReader& pages, int level) {
    PageOpaque* opaque = page_opaque(pages.page());
    uint16 expected = level == 0 ? kPageLeaf : 0;
    // A split that has not ended is no damage: a crash leaves one, and the next insertion ends it.
    if ((opaque->flags & ~kPageIncompleteSplit) != expected)
        pages.report(psprintf("The page's flags are 0x%x; expected 0x%x on level %d.",
                              opaque->flags, expected, level));
    if (opaque->tree != pages.tree().number || opaque->level != level)
        pages.report(psprintf("The page is of tree %d, level %d; expected tree %d, level %d.",
                              opaque->tree, opaque->level, pages.tree().number, level));
    // The first step of a split sets the flag together with the right link.
    if (page_is_rightmost(pages.page()) && (opaque->flags & kPageIncompleteSplit))
        pages.report("The page is incompletely split, but has no right sibling.");
}

// `low` and `expected` are the left neighbour's high key and right link.
void check_fences(const LevelReader& pages, Entry low, BlockNumber expected) {
    Page page = pages.page();
    // The reader follows the right link. If that is stale it descends from the root, and so arrives
    // at another page.
    if (expected != InvalidBlockNumber && pages.block() != expected)
        report_corruption(pages.tree().index, expected,
                          psprintf("The right link to this page was expected to lead to block %u.",
                                   pages.block()));
    // So the pages of a level have all keys among them, each key on one page.
    if (page_low(page) != low)
        pages.report("The page's low key differs from its left neighbour's high key.");
    if (!page_is_rightmost(page) && page_high(page) <= low)
        pages.report("The page's high key is not greater than its low key.");
    // Roots never split (README.md, "Fixed roots").
    if (pages.block() == root_block(pages.tree().number) && !page_is_rightmost(page))
        pages.report("The root has a right sibling.");
}

void check_pivots(const LevelReader& pages) {
    Page page = pages.page();
    LeafKind kind = pages.tree().kind;
    int count = pivot_count(kind, page);
    if (count < 1 || page_body_size(page) != count * pivot_bytes(kind))
        pages.report("The page holds no whole number of pivots.");
    Entry previous = read_pivot(kind, page, 0).key;
    // Otherwise keys between the page's low and the first pivot would lead nowhere.
    if (previous != page_low(page))
        pages.report("The first pivot's key differs from the page's low key.");
    for (int i = 1; i < count; i++) {
        Entry key = read_pivot(kind, page, i).key;
        if (key <= previous)
            pages.report(psprintf("Pivot %d is not greater than the one before.", i));
        previous = key;
    }
    // The pivots ascend, so the last one stands for all.
    if (page_precedes(page, previous))
        pages.report("A pivot is not less than the page's high key.");
}

void check_posting(Check* check, const LevelReader& pages, Entry entry) {
    ItemPointerData tid = integer_to_tid(entry.tid);
    // The table cannot have shrunk meanwhile: the lock keeps VACUUM away.
    if (ItemPointerGetBlockNumberNoCheck(&tid) >= check->heap_blocks ||
        ItemPointerGetOffsetNumberNoCheck(&tid) == InvalidOffsetNumber)
        pages.report(psprintf("A posting points to (%u,%u); the table has %u blocks.",
                              ItemPointerGetBlockNumberNoCheck(&tid),
                              ItemPointerGetOffsetNumberNoCheck(&tid), check->heap_blocks));
    if (pages.tree().number == null_tree(check->layout) && entry.key != 0)
        pages.report("An entry of the null table has a fingerprint.");
}

void check_leaf(Check* check, const LevelReader& pages) {
    LeafReader reader = pages.leaf();
    Page page = pages.page();
    // On a damaged page the unary words may have fewer set bits than the header has entries.
    int packed = reader.decode_packed(check->entries);
    if (packed != reader.packed_count())
        pages.report(psprintf("The packed part holds %d entries; its header says %d.", packed,
                              reader.packed_count()));
    // Searches begin by the ranks. Wrong ones hide entries that decoding finds.
    if (!reader.ranks_agree())
        pages.report("The ranks in the packed part's header are not those of its entries.");
    for (int i = 1; i < packed; i++)
        if (check->entries[i - 1] >= check->entries[i])
            pages.report(
                psprintf("Entry %d of the packed part is not greater than the one before.", i));
    // From here on the entries are those of packed part and tail together.
    int count = reader.decode_sorted(check->entries);
    bool postings = pages.tree().kind == LeafKind::kPosting;
    for (int i = 0; i < count; i++) {
        Entry entry = check->entries[i];
        // The packed part ascends, so one of the two is in the tail.
        if (i > 0 && check->entries[i - 1] == entry)
            pages.report("An entry occurs twice.");
        if (entry < page_low(page) || page_precedes(page, entry))
            pages.report("An entry is outside of the page's range.");
        if (postings)
            check_posting(check, pages, entry);
    }
    // Each row with a fingerprint has a posting for each lane; it counts once.
    int number = pages.tree().number;
    if (number == 0 || number == null_tree(check->layout))
        check->rows += count;
}

// The downlinks of one level, in order.
struct Downlinks {
    LevelReader parents;
    int position, count;

    bool next(Pivot* pivot) {
        LeafKind kind = parents.tree().kind;
        while (position == count) {
            if (!parents.next())
                return false;
            position = 0;
            count = pivot_count(kind, parents.page());
        }
        *pivot = read_pivot(kind, parents.page(), position++);
        return true;
    }
};

void check_downlink(const LevelReader& pages, Downlinks* downlinks) {
    Pivot pivot;
    if (!downlinks->next(&pivot))
        pages.report("No downlink leads to the page.");
    // Both levels are read from left to right, so the downlinks come in the order of the pages. A
    // missing, an extra or a wrong one shows at the first page where they part.
    if (pivot.child != pages.block())
        downlinks->parents.report(psprintf("A downlink leads to block %u; expected block %u.",
                                           pivot.child, pages.block()));
    if (pivot.key != page_low(pages.page()))
        downlinks->parents.report(
            psprintf("The pivot for block %u differs from that page's low key.", pivot.child));
}

void check_level(Check* check, const TreeContext& tree, int level, bool is_root) {
    // This reads the level and, at the same pace, the level above for its pivots. The root has none
    // above, and the second reader is not asked.
    LevelReader pages(tree, level);
    Downlinks downlinks{LevelReader(tree, level + 1), 0, 0};
    Entry low{0, 0};
    // Where the leftmost page of a lower level is, only its downlink says.
    BlockNumber expected = is_root ? root_block(tree.number) : InvalidBlockNumber;
    bool has_downlink = true;
    while (pages.next()) {
        mark_reached(check, pages.block());
        check_flags(pages, level);
        check_fences(pages, low, expected);
        if (!is_root && has_downlink)
            check_downlink(pages, &downlinks);
        if (level > 0)
            check_pivots(pages);
        else
            check_leaf(check, pages);
        PageOpaque* opaque = page_opaque(pages.page());
        // The next page is the right half of the split: the crash came before its downlink.
        has_downlink = !(opaque->flags & kPageIncompleteSplit);
        expected = opaque->right;
        // The last page of a level has no high; then nobody looks at `low` any more.
        low = page_high(pages.page());
    }
    Pivot extra;
    // All pages of the level are done, so the level above must be, too.
    if (!is_root && downlinks.next(&extra))
        downlinks.parents.report(psprintf("A downlink leads to block %u, which is not on level %d.",
                                          extra.child, level));
}

// From the root down: a level is read by the pivots above it, which have been checked then.
void check_tree(Check* check, int number) {
    TreeContext tree = checked_tree(check, number);
    int top = root_level(tree);
    for (int level = top; level >= 0; level--)
        check_level(check, tree, level, level == top);
}

// Pages that no link leads to must be free: all zero, or deleted.
void check_unreached(Check* check) {
    for (BlockNumber block = kMetaBlock + 1; block < check->blocks; block++) {
        if (check->reached[block >> 3] & (1 << (block & 7)))
            continue;
        CHECK_FOR_INTERRUPTS();
        Buffer buffer = ReadBuffer(check->index, block);
        LockBuffer(buffer, BUFFER_LOCK_SHARE);
        // A crash between the extension of the file and the page's first record leaves a page of
        // zeros.
        bool zero = PageIsNew(BufferGetPage(buffer));
        if (!zero) {
            check_page(check->index, block, buffer);
            if (!page_is_deleted(BufferGetPage(buffer)))
                report_corruption(check->index, block, "No link leads to the page.");
        }
        UnlockReleaseBuffer(buffer);
        check->free_pages++;
    }
}

// ---- Content ----

// No TID may occur twice among the postings of a lane and those of the null table. Where rows have
// any number of lanes, a TID may occur with several, but then not in the null table. Counts such
// rows.
void check_tids(Check* check) {
    // The postings come in order of fingerprints, so the TIDs have to be sorted.
    ExternalSorter<uint64_t> tids(sort_memory());
    TreeContext posting_table = checked_table(check, 0);
    for (int number : {posting_table.number, null_tree(check->layout)}) {
        EntryReader postings(checked_tree(check, number));
        std::optional<uint64_t> previous;
        for (Entry entry; postings.next(&entry); previous = entry.key) {
            tids.add(entry.tid << 1 | uint64_t(number != posting_table.number));
            check->fingerprints += number == 0 && entry.key != previous;
        }
    }
    tids.finish();
    bool may_repeat = check->layout.lanes_vary;
    if (may_repeat)
        check->rows = 0;
    uint64_t previous = 0, found; // 0 is no TID: its offset is invalid
    while (tids.next(&found)) {
        uint64_t tid = found >> 1;
        bool is_again = tid == previous >> 1;
        if (is_again && !(may_repeat && found == previous))
            report_corruption(check->index, root_block(posting_table.number),
                              psprintf("Two postings of this tree point to (%u,%u).",
                                       unsigned(tid >> 16), unsigned(tid & 0xffff)));
        if (may_repeat)
            check->rows += !is_again;
        previous = found;
    }
    tids.release();
}

// Raises an error if a row of this fingerprint was committed and may still be visible to someone.
// An aborted insertion may leave a posting and no entry in a block table: the posting goes in
// first. `entries` is near where the entry would stand.
void require_no_row(Check* check, uint64_t fingerprint, const EntryReader& entries, int table) {
    SnapshotData snapshot;
    // It sees all rows but those that VACUUM may remove, and among these are the aborted ones.
    InitNonVacuumableSnapshot(snapshot, GlobalVisTestFor(check->heap));
    // A descent for each call: called only where something is missing.
    EntryReader postings(checked_table(check, 0), {fingerprint, 0});
    Entry entry;
    while (postings.next(&entry) && entry.key == fingerprint) {
        ItemPointerData tid = integer_to_tid(entry.tid);
        // The TID of a posting is the beginning of a HOT chain, and any row of the chain will do.
        if (table_index_fetch_tuple_check(check->heap, &tid, &snapshot, nullptr))
            entries.report(psprintf("Stored fingerprint %lld has rows, but is not in block table "
                                    "%d.",
                                    static_cast<long long>(fingerprint),
                                    tree_of_table(check->layout, check->lane, table)));
    }
}

// Merges the entries of a tree with what is expected among them, both without repetitions. Calls
// missing(item) for each expected item that no entry has, as item_of(entry). Returns the number of
// entries that were not expected.
template <typename Item>
int64 compare_streams(EntryReader* entries, ExternalSorter<Item>* expected, const auto& item_of,
                      const auto& missing) {
    expected->finish();
    int64 extra = 0;
    Entry entry{};
    Item item{};
    bool have_entry = entries->next(&entry);
    while (expected->next(&item)) {
        for (; have_entry && item_of(entry) < item; have_entry = entries->next(&entry))
            extra++;
        if (!have_entry || item_of(entry) != item)
            missing(item);
        else
            have_entry = entries->next(&entry);
    }
    for (; have_entry; have_entry = entries->next(&entry))
        extra++;
    expected->release();
    return extra;
}

// Compares the table with what the posting table says that it holds. An example, with keys in the
// table's order:
//
//     posting table, each fingerprint once    01  04      07  09
//     block table                             01  04  05      09
//
// 05 is an orphan. 07 is missing, which is damage unless no row of its postings was committed.
void check_block_table(Check* check, int table) {
    // Both streams are in the order of this permutation, each key at most once.
    Permutation permutation = check->layout.permutation(table);
    ExternalSorter<uint64_t> sorter(sort_memory());
    EntryReader postings(checked_table(check, 0));
    std::optional<uint64_t> previous;
    for (Entry entry; postings.next(&entry); previous = entry.key)
        if (entry.key != previous)
            sorter.add(permutation.apply(entry.key));

    EntryReader entries(checked_table(check, table));
    // An orphan is no damage: a VACUUM that did not end leaves some.
    check->orphans += compare_streams(
        &entries, &sorter, [](const Entry& entry) { return entry.key; },
        [&](uint64_t key) { require_no_row(check, permutation.invert(key), entries, table); });
}

// ---- Rows ----

// Returns a snapshot for which the index has every row. That must be a new one. Rows that only
// older snapshots see may be missing: CREATE INDEX leaves out rows that broken HOT chains hide, and
// CREATE INDEX CONCURRENTLY leaves out rows that were deleted before its second scan.
Snapshot snapshot_of_rows(Relation index) {
    Snapshot snapshot = RegisterSnapshot(GetTransactionSnapshot());
    TransactionId made = HeapTupleHeaderGetXmin(index->rd_indextuple->t_data);
    if (IsolationUsesXactSnapshot() && index->rd_index->indcheckxmin &&
        !TransactionIdPrecedes(made, snapshot->xmin))
        ereport(ERROR, errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
                errmsg("cannot check the rows of index \"%s\" in this transaction",
                       RelationGetRelationName(index)),
                errdetail("The transaction's snapshot is older than the index."),
                errhint("Check it in another transaction, or with heapallindexed => false."));
    return snapshot;
}

// Reads the rows that the index must have, those that a new snapshot sees, into sorters: of
// (fingerprint, TID) for each lane, and the last one of (0, TID) for rows without lanes.
void read_rows(Check* check, std::span<ExternalSorter<Entry>> sorters) {
    IndexInfo* info = BuildIndexInfo(check->index);
    // The scan uses our MVCC snapshot, as CONCURRENTLY does, and tests no constraint.
    info->ii_Concurrent = true;
    info->ii_Unique = false;
    info->ii_ExclusionOps = nullptr;
    info->ii_ExclusionProcs = nullptr;
    info->ii_ExclusionStrats = nullptr;
    Snapshot snapshot = snapshot_of_rows(check->index);
    TableScanDesc scan = table_beginscan_strat(check->heap, snapshot, 0, nullptr, true, true);
    auto take = [&](std::span<const uint64_t> fingerprints, const ItemPointerData& tid) {
        if (fingerprints.empty())
            sorters.back().add({0, tid_to_integer(tid)});
        for (size_t i = 0; i < fingerprints.size(); i++)
            // Lanes of any number are in one tree.
            sorters[check->layout.lanes_vary ? 0 : i].add({fingerprints[i], tid_to_integer(tid)});
    };
    scan_rows(check->heap, check->index, info, check->layout, scan, true, false, take);
    UnregisterSnapshot(snapshot);
}

void require_rows(Check* check, int number, ExternalSorter<Entry>* rows) {
    // The index may have postings that no row here has, of rows that are dead or not committed.
    EntryReader postings(checked_tree(check, number));
    compare_streams(
        &postings, rows, [](const Entry& posting) { return posting; },
        [&](const Entry& row) {
            postings.report(psprintf("Row (%u,%u), stored fingerprint %s, has no posting.",
                                     unsigned(row.tid >> 16), unsigned(row.tid & 0xffff),
                                     number == null_tree(check->layout)
                                         ? "null"
                                         : psprintf("%lld", static_cast<long long>(row.key))));
        });
}

void check_rows(Check* check) {
    int lanes = check->layout.lane_count;
    auto* sorters = static_cast<ExternalSorter<Entry>*>(
        palloc(size_t(lanes + 1) * sizeof(ExternalSorter<Entry>)));
    // All lanes are collected in one pass over the table, so they share the memory.
    for (int lane = 0; lane <= lanes; lane++)
        new (&sorters[lane])
            ExternalSorter<Entry>(sort_memory() / size_t(lane < lanes ? lanes : 8));
    read_rows(check, {sorters, size_t(lanes + 1)});
    // After the lanes' trees comes the null table.
    for (int lane = 0; lane <= lanes; lane++)
        require_rows(check, tree_of_table(check->layout, lane, 0), &sorters[lane]);
}

// ---- All of it ----

void check_index(Check* check, bool rows) {
    // No link leads to the metapage, whose block is fixed.
    mark_reached(check, kMetaBlock);
    for (int number = 0; number < tree_count(check->layout); number++)
        check_tree(check, number);
    check_unreached(check);
    for (; check->lane < check->layout.lane_count; check->lane++) {
        check_tids(check);
        for (int table = 1; table < check->layout.table_count; table++)
            check_block_table(check, table);
    }
    if (rows)
        check_rows(check);
}

// ShareLock conflicts with writers and VACUUM, not with readers. A standby grants no lock of that
// strength.
LOCKMODE check_lock() {
    if (!RecoveryInProgress())
        return ShareLock;
    if (GetRecoveryPauseState() != RECOVERY_PAUSED)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("cannot check an index while WAL is being replayed"),
                errhint("Call pg_wal_replay_pause() first."));
    return AccessShareLock;
}

Datum check_result(FunctionCallInfo fcinfo, const Check* check) {
    TupleDesc description;
    if (get_call_result_type(fcinfo, nullptr, &description) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    Datum values[] = {Int64GetDatum(check->rows), Int64GetDatum(check->fingerprints),
                      Int64GetDatum(check->orphans), Int64GetDatum(check->pages),
                      Int64GetDatum(check->free_pages)};
    bool nulls[lengthof(values)] = {};
    return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(description), values, nulls));
}

} // namespace
} // namespace simhash

SIMHASH_FUNCTION(simhash_index_check) {
    using namespace simhash;
    Relation heap, index;
    LOCKMODE mode = check_lock();
    open_index(PG_GETARG_OID(0), mode, false, &heap, &index);

    // An index on an expression calls functions that the owner chose. We run them with the owner's
    // rights, as REINDEX does: otherwise the owner could act with the caller's.
    Oid user;
    int security;
    GetUserIdAndSecContext(&user, &security);
    SetUserIdAndSecContext(heap->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
    // Functions of the owner may change settings; AtEOXact_GUC() puts them back. After an error the
    // end of the transaction does both.
    int settings = NewGUCNestLevel();
    restrict_search_path();

    Check check{heap, index};
    check_index(&check, PG_GETARG_BOOL(1));

    AtEOXact_GUC(false, settings);
    SetUserIdAndSecContext(user, security);
    index_close(index, mode);
    table_close(heap, mode);
    PG_RETURN_DATUM(check_result(fcinfo, &check));
}
