// Index scans as the server calls them: has the callbacks, and puts rows into the form that the
// executor wants. conditions.hpp reads the scan keys, and search.hpp finds the rows.
#include "index/access_method.hpp"
#include "index/search/search.hpp"

#include <algorithm>
#include <new>

namespace simhash {
namespace {

struct Scan {
    explicit Scan(Relation relation)
        : conditions(relation), memory(CurrentMemoryContext),
          lanes(make_lanes(relation, conditions)), search(&conditions, lanes) {}

    static std::span<LaneScan> make_lanes(Relation relation, const Conditions& conditions) {
        auto count = size_t(conditions.lane_count());
        auto* lanes = static_cast<LaneScan*>(palloc(count * sizeof(LaneScan)));
        SearchedIndex index(relation);
        const Layout& layout = index.layout();
        // The trees are those of the build. A support function may have been replaced since.
        if (conditions.lane_count() != layout.lane_count ||
            conditions.lanes_vary() != layout.lanes_vary)
            report_corruption(relation, kMetaBlock,
                              "The metapage's values have another number of lanes.");
        for (size_t i = 0; i < count; i++)
            new (&lanes[i]) LaneScan(index.at_lane(int(i)));
        return {lanes, count};
    }

    Conditions conditions;
    MemoryContext memory;
    std::span<LaneScan> lanes;
    Search search;
    // The search begins when the executor asks for the first row. By then it has set xs_snapshot,
    // xs_want_itup and heapRelation; at the rescan it may not have.
    bool is_begun = false;
    IndexTuple tuple = nullptr; // of the last row, in an index-only scan
};

Scan* scan_state(IndexScanDesc desc) { return static_cast<Scan*>(desc->opaque); }

// Puts lower bounds of a row's distances. Where they are not the distances themselves, the server
// computes these from the row, and holds it back until no row before it in the order can come.
void put_distances(IndexScanDesc desc, Scan* scan, bool is_null) {
    int distances = 0;
    for (int i = 0; i < desc->numberOfOrderBys; i++) {
        bool no_distance = is_null || (desc->orderByData[i].sk_flags & SK_ISNULL);
        // The first distance orders the rows. Of the others 0 is a bound.
        int bound = !no_distance && distances++ == 0 ? scan->search.bound() : 0;
        desc->xs_orderbynulls[i] = no_distance;
        desc->xs_orderbyvals[i] = Int32GetDatum(bound);
    }
    desc->xs_recheckorderby =
        distances > 0 && (computes_lanes(desc->indexRelation) || distances > 1);
}

void put_tuple(IndexScanDesc desc, Scan* scan, uint64_t fingerprint, bool is_null) {
    // The planner never asks for this, as can_return() forbids it. Another library's plan might.
    if (needs_recheck(desc->indexRelation))
        elog(ERROR, "an index whose rows are rechecked cannot return its columns");
    if (scan->tuple != nullptr)
        pfree(scan->tuple);
    MemoryContext caller = MemoryContextSwitchTo(scan->memory);
    Datum value = Int64GetDatum(int64(fingerprint));
    // It lasts until the next row, as the executor expects.
    scan->tuple = index_form_tuple(RelationGetDescr(desc->indexRelation), &value, &is_null);
    MemoryContextSwitchTo(caller);
    desc->xs_itup = scan->tuple;
}

void put_row(IndexScanDesc desc, Scan* scan, const Entry& posting) {
    bool is_null = scan->search.is_among_nulls();
    desc->xs_heaptid = integer_to_tid(posting.tid);
    // Without an MVCC snapshot the TID may belong to another row by now.
    desc->xs_recheck = scan->conditions.need_recheck() ||
                       (desc->xs_snapshot != nullptr && !IsMVCCSnapshot(desc->xs_snapshot));
    put_distances(desc, scan, is_null);
    if (desc->xs_want_itup)
        put_tuple(desc, scan, posting.key, is_null);
}

// True when the scan must pin the leaf whose TIDs it returns (README.md, "TIDs and the pin"). Under
// an MVCC snapshot a row that takes the place of a removed one is not visible, so no pin is needed.
// An index-only scan needs one, because it does not look at the row.
bool needs_pin(IndexScanDesc desc) {
    return desc->xs_want_itup || desc->xs_snapshot == nullptr || !IsMVCCSnapshot(desc->xs_snapshot);
}

// Begins the search, for the rows of a bitmap or one by one.
void begin_search(IndexScanDesc desc, Scan* scan, bool is_bitmap) {
    scan->is_begun = true;
    Relation heap = desc->heapRelation;
    // TIDs of another table access method need not be blocks and offsets.
    if (heap != nullptr && heap->rd_rel->relam != HEAP_TABLE_AM_OID)
        heap = nullptr;
    for (LaneScan& lane : scan->lanes) {
        lane.index.snapshot = desc->xs_snapshot;
        lane.index.heap = heap;
        lane.postings.keeps_pin = needs_pin(desc);
    }
    // Bitmaps take a row once. The check of an exclusion constraint is an error where the new row
    // itself comes twice.
    scan->search.start(is_bitmap);
}

} // namespace

// ---- Callbacks ----

IndexScanDesc index_begin_scan(Relation index, int key_count, int order_by_count) {
    IndexScanDesc desc = RelationGetIndexScan(index, key_count, order_by_count);
    // The scan has a memory context of its own. An exclusion constraint begins a scan for each row,
    // all in the memory of one statement.
    MemoryContext memory =
        AllocSetContextCreate(CurrentMemoryContext, "simhash scan", ALLOCSET_DEFAULT_SIZES);
    MemoryContext caller = MemoryContextSwitchTo(memory);
    desc->opaque = new (palloc(sizeof(Scan))) Scan(index);
    if (order_by_count > 0) {
        desc->xs_orderbyvals = static_cast<Datum*>(palloc0(order_by_count * sizeof(Datum)));
        desc->xs_orderbynulls = static_cast<bool*>(palloc0(order_by_count * sizeof(bool)));
    }
    MemoryContextSwitchTo(caller);
    desc->xs_itupdesc = RelationGetDescr(index);
    return desc;
}

void index_rescan(IndexScanDesc desc, ScanKey keys, int key_count, ScanKey order_bys,
                  int order_by_count) {
    Scan* scan = scan_state(desc);
    // Nobody uses the last TIDs any more, and the next row may never be asked for.
    scan->search.stop();
    if (keys != nullptr && key_count > 0)
        memmove(desc->keyData, keys, key_count * sizeof(ScanKeyData));
    if (order_bys != nullptr && order_by_count > 0)
        memmove(desc->orderByData, order_bys, order_by_count * sizeof(ScanKeyData));
    // The search itself begins with the first row, which may never be asked for.
    scan->conditions.read({desc->keyData, size_t(desc->numberOfKeys)},
                          {desc->orderByData, size_t(desc->numberOfOrderBys)});
    scan->is_begun = false;
    count_index_search(desc);
}

bool index_get_tuple(IndexScanDesc desc, ScanDirection direction) {
    Scan* scan = scan_state(desc);
    // amcanbackward is false, so only another library's plan would ask.
    if (direction != ForwardScanDirection)
        elog(ERROR, "simhash indexes do not support backward scans");
    if (!scan->is_begun)
        begin_search(desc, scan, false);
    while (scan->search.postings()->is_empty())
        if (!scan->search.next_leaf())
            return false;
    put_row(desc, scan, scan->search.postings()->take());
    return true;
}

int64 index_get_bitmap(IndexScanDesc desc, TIDBitmap* bitmap) {
    Scan* scan = scan_state(desc);
    begin_search(desc, scan, true);
    int64 rows = 0;
    while (scan->search.next_leaf()) {
        // The server takes an array of TIDs; this one is on the stack.
        constexpr size_t kChunk = 128;
        ItemPointerData tids[kChunk];
        for (std::span<const Entry> rest = scan->search.postings()->postings(); !rest.empty();) {
            size_t count = std::min(kChunk, rest.size());
            for (size_t i = 0; i < count; i++)
                tids[i] = integer_to_tid(rest[i].tid);
            tbm_add_tuples(bitmap, tids, int(count), scan->conditions.need_recheck());
            rest = rest.subspan(count);
            rows += int64(count);
        }
    }
    return rows;
}

void index_end_scan(IndexScanDesc desc) {
    Scan* scan = scan_state(desc);
    scan->search.stop();
    MemoryContextDelete(scan->memory);
}

} // namespace simhash
