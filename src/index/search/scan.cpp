// Index scans as the server calls them: has the callbacks, and puts rows into the form that the
// executor wants. conditions.hpp reads the scan keys. within.hpp and nearest.hpp find the rows with
// a fingerprint, wide.hpp those whose value has several lanes, or any. The others come last.
#include "index/access_method.hpp"
#include "index/search/conditions.hpp"
#include "index/search/wide.hpp"

#include <algorithm>
#include <new>

namespace simhash {
namespace {

struct Scan {
    // kStart lasts until the executor asks for the first row. By then it has set xs_snapshot,
    // xs_want_itup and heapRelation; at the rescan it may not have.
    enum class Stage { kStart, kFingerprints, kNulls, kDone };

    Scan(Relation relation, int key_count, int order_by_count)
        : conditions(relation, key_count, order_by_count), is_rechecked(needs_recheck(relation)),
          is_exact(!computes_lanes(relation)), memory(CurrentMemoryContext), lane(relation),
          lanes(all_lanes()) {
        // A value of one lane needs none of what adds up or remembers.
        if (conditions.lanes_vary())
            hashes = new (palloc(sizeof(HashScan))) HashScan(&lane, memory);
        if (lanes.size() > 1)
            wide = new (palloc(sizeof(WideScan))) WideScan(lanes, memory);
    }

    std::span<LaneScan*> all_lanes() {
        auto count = size_t(conditions.lane_count());
        // The trees are those of the build. A support function may have been replaced since.
        if (conditions.lane_count() != lane.index.layout().lane_count ||
            conditions.lanes_vary() != lane.index.layout().lanes_vary)
            report_corruption(lane.index.relation(), kMetaBlock,
                              "The metapage's values have another number of lanes.");
        if (count == 1)
            return {&only_lane, 1};
        auto** scans = static_cast<LaneScan**>(palloc(count * sizeof(LaneScan*)));
        scans[0] = &lane;
        for (size_t i = 1; i < count; i++)
            scans[i] = new (palloc(sizeof(LaneScan))) LaneScan(lane.index, int(i));
        return {scans, count};
    }
    void stop() {
        for (LaneScan* scan : lanes)
            scan->postings.stop();
    }

    Conditions conditions;
    const bool is_rechecked;
    const bool is_exact; // distances of stored fingerprints are those of the values
    MemoryContext memory;
    Stage stage = Stage::kDone;
    LaneScan lane; // the first, and mostly the only one
    LaneScan* only_lane = &lane;
    std::span<LaneScan*> lanes;               // all; the first one is `lane`
    WideScan* wide = nullptr;                 // if values have several lanes
    HashScan* hashes = nullptr;               // if they have any number of lanes
    PostingReader* postings = &lane.postings; // what has the rows that are loaded
    IndexTuple tuple = nullptr;               // of the last row, in an index-only scan
};

Scan* scan_state(IndexScanDesc desc) { return static_cast<Scan*>(desc->opaque); }

// ---- Finding rows ----

// Begins a scan of values of several lanes.
void start_wide(Scan* scan) {
    const Conditions& conditions = scan->conditions;
    // If both are the same value, the rows within the radius are the first ones of the order.
    bool is_same = std::equal(conditions.center().begin(), conditions.center().end(),
                              conditions.target().begin(), conditions.target().end());
    if (!conditions.is_ordered())
        scan->wide->start_within(conditions.center(), conditions.radius());
    else if (conditions.has_radius() && !is_same)
        // The rows within the radius of another value: in no order, and the server sorts them.
        scan->wide->start_within(conditions.center(), conditions.radius());
    else
        scan->wide->start_nearest(conditions.target(), conditions.radius());
}

void start_fingerprints(Scan* scan) {
    scan->stage = Scan::Stage::kFingerprints;
    std::span<const Ball> balls = scan->conditions.balls();
    if (scan->hashes != nullptr) {
        if (scan->conditions.has_common_lanes())
            scan->hashes->start(scan->conditions.common_lanes());
        else
            scan->hashes->start_everything();
    } else if (scan->wide != nullptr) {
        start_wide(scan);
    } else if (scan->conditions.is_ordered()) {
        scan->lane.nearest.start(scan->conditions.target()[0], balls);
    } else {
        // The smallest ball is searched, and the others filter what that finds.
        Ball ball = balls.empty() ? kEverything.ball : balls[0];
        scan->lane.within.start(ball, balls.empty() ? balls : balls.subspan(1));
    }
}

bool next_leaf_of_fingerprints(Scan* scan) {
    if (scan->hashes != nullptr)
        return scan->hashes->next_leaf();
    if (scan->wide == nullptr)
        return scan->conditions.is_ordered() ? scan->lane.nearest.next_leaf()
                                             : scan->lane.within.next_leaf();
    bool found = scan->wide->next_leaf();
    scan->postings = scan->wide->postings();
    return found;
}

void start_nulls(Scan* scan) {
    scan->stage = Scan::Stage::kNulls;
    scan->postings = &scan->lane.postings;
    // All keys of the null table are 0, so one range has them all.
    scan->postings->start(LeafCursor(scan->lane.index.null_table(), kAllKeys), kEverything);
}

// Loads the postings of the next leaf. Returns false at the scan's end.
// Rows without a fingerprint come last: an order by distance has NULLs last.
bool next_leaf(Scan* scan) {
    if (scan->stage == Scan::Stage::kStart && scan->conditions.want_fingerprints())
        start_fingerprints(scan);
    if (scan->stage == Scan::Stage::kFingerprints && next_leaf_of_fingerprints(scan))
        return true;
    if (scan->stage != Scan::Stage::kNulls && scan->stage != Scan::Stage::kDone &&
        scan->conditions.want_nulls())
        start_nulls(scan);
    if (scan->stage == Scan::Stage::kNulls && scan->postings->next_leaf())
        return true;
    scan->stage = Scan::Stage::kDone;
    scan->stop();
    return false;
}

// ---- Rows ----

// Returns the distance of a row's value from the target, or where lanes do not tell it a lower
// bound, which never falls from row to row.
int least_distance(const Scan& scan, uint64_t lane) {
    if (scan.wide != nullptr)
        return scan.wide->bound();
    return scan.conditions.is_ordered() ? hamming_distance(lane, scan.conditions.target()[0]) : 0;
}

// Puts lower bounds of a row's distances. Where they are not the distances themselves, the server
// computes these from the row, and holds it back until no row before it in the order can come.
void put_distances(IndexScanDesc desc, Scan* scan, uint64_t lane, bool is_null) {
    int distances = 0;
    for (int i = 0; i < desc->numberOfOrderBys; i++) {
        bool no_distance = is_null || (desc->orderByData[i].sk_flags & SK_ISNULL);
        // The first distance orders the rows. Of the others 0 is a bound.
        int bound = !no_distance && distances++ == 0 ? least_distance(*scan, lane) : 0;
        desc->xs_orderbynulls[i] = no_distance;
        desc->xs_orderbyvals[i] = Int32GetDatum(bound);
    }
    desc->xs_recheckorderby = distances > 0 && (!scan->is_exact || distances > 1);
}

void put_tuple(IndexScanDesc desc, Scan* scan, uint64_t fingerprint, bool is_null) {
    // The planner never asks for this, as can_return() forbids it. Another library's plan might.
    if (scan->is_rechecked)
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
    bool is_null = scan->stage == Scan::Stage::kNulls;
    desc->xs_heaptid = integer_to_tid(posting.tid);
    // A row of another scope may match by chance, and a lane does not tell its value. Without an
    // MVCC snapshot the TID may belong to another row by now. Otherwise the index is exact.
    desc->xs_recheck =
        scan->is_rechecked || (desc->xs_snapshot != nullptr && !IsMVCCSnapshot(desc->xs_snapshot));
    put_distances(desc, scan, posting.key, is_null);
    if (desc->xs_want_itup)
        put_tuple(desc, scan, posting.key, is_null);
}

// True when the scan must pin the leaf whose TIDs it returns (README.md, "TIDs and the pin"). Under
// an MVCC snapshot a row that takes the place of a removed one is not visible, so no pin is needed.
// An index-only scan needs one, because it does not look at the row.
bool needs_pin(IndexScanDesc desc) {
    return desc->xs_want_itup || desc->xs_snapshot == nullptr || !IsMVCCSnapshot(desc->xs_snapshot);
}

void prepare_lanes(Scan* scan, Snapshot snapshot, Relation heap, bool keeps_pin) {
    for (LaneScan* lane : scan->lanes) {
        lane->index.snapshot = snapshot;
        lane->index.heap = heap;
        lane->postings.keeps_pin = keeps_pin;
    }
}

// Reads the fields that the executor has set by the time of the first row.
void read_snapshot_and_heap(IndexScanDesc desc, Scan* scan) {
    bool keeps_pin = needs_pin(desc);
    Relation heap = desc->heapRelation;
    // TIDs of another table access method need not be blocks and offsets.
    if (heap != nullptr && heap->rd_rel->relam != HEAP_TABLE_AM_OID)
        heap = nullptr;
    prepare_lanes(scan, desc->xs_snapshot, heap, keeps_pin);
    // The check of an exclusion constraint is an error where the new row itself comes twice.
    if (scan->hashes != nullptr)
        scan->hashes->may_repeat = false;
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
    desc->opaque = new (palloc(sizeof(Scan))) Scan(index, key_count, order_by_count);
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
    scan->stop();
    if (keys != nullptr && key_count > 0)
        memmove(desc->keyData, keys, key_count * sizeof(ScanKeyData));
    if (order_bys != nullptr && order_by_count > 0)
        memmove(desc->orderByData, order_bys, order_by_count * sizeof(ScanKeyData));
    // The search itself begins with the first row, which may never be asked for.
    scan->conditions.read({desc->keyData, size_t(desc->numberOfKeys)},
                          {desc->orderByData, size_t(desc->numberOfOrderBys)});
    scan->stage = Scan::Stage::kStart;
    count_index_search(desc);
}

bool index_get_tuple(IndexScanDesc desc, ScanDirection direction) {
    Scan* scan = scan_state(desc);
    // amcanbackward is false, so only another library's plan would ask.
    if (direction != ForwardScanDirection)
        elog(ERROR, "simhash indexes do not support backward scans");
    if (scan->stage == Scan::Stage::kStart)
        read_snapshot_and_heap(desc, scan);
    while (scan->postings->is_empty())
        if (!next_leaf(scan))
            return false;
    put_row(desc, scan, scan->postings->take());
    return true;
}

int64 index_get_bitmap(IndexScanDesc desc, TIDBitmap* bitmap) {
    Scan* scan = scan_state(desc);
    // The server uses bitmaps under MVCC snapshots only, so their TIDs need no pin.
    prepare_lanes(scan, desc->xs_snapshot, nullptr, false);
    if (scan->wide != nullptr)
        scan->wide->may_repeat = true;
    if (scan->hashes != nullptr)
        scan->hashes->may_repeat = true;
    int64 rows = 0;
    while (next_leaf(scan)) {
        // The server takes an array of TIDs; this one is on the stack.
        constexpr size_t kChunk = 128;
        ItemPointerData tids[kChunk];
        for (std::span<const Entry> rest = scan->postings->postings(); !rest.empty();) {
            size_t count = std::min(kChunk, rest.size());
            for (size_t i = 0; i < count; i++)
                tids[i] = integer_to_tid(rest[i].tid);
            tbm_add_tuples(bitmap, tids, int(count), scan->is_rechecked);
            rest = rest.subspan(count);
            rows += int64(count);
        }
    }
    return rows;
}

void index_end_scan(IndexScanDesc desc) {
    Scan* scan = scan_state(desc);
    scan->stop();
    if (scan->tuple != nullptr)
        pfree(scan->tuple);
    MemoryContextDelete(scan->memory);
}

} // namespace simhash
