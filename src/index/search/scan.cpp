// Index scans as the server calls them: reads the conditions, puts rows into the form that the
// executor wants, and has the callbacks. within.hpp and nearest.hpp find the rows with a
// fingerprint. Rows without one come last.
#include "index/access_method.hpp"
#include "index/call_memory.hpp"
#include "index/scope.hpp"
#include "index/search/nearest.hpp"
#include "index/search/within.hpp"
#include "index/store/fetch_ahead.hpp"
#include "operators/ball.hpp"

#include <algorithm>
#include <new>

namespace simhash {

namespace {

// ---- Conditions ----

// Search conditions.
struct Conditions {
    // Row fingerprints must lie in all balls; the first is the smallest.
    Ball* balls; // [ball_count]
    size_t ball_count = 0;
    bool want_fingerprints = true, want_nulls = true;

    std::span<const Ball> all_balls() const { return {balls, ball_count}; }
};

// Rows are ordered by the distance from the first target, then from the next. A scan without
// targets is not ordered.
struct Order {
    uint64_t* targets; // [count]
    size_t count = 0;
};

uint64_t fingerprint_of(Datum datum) {
    return uint64_t(DatumGetInt64(datum));
}

Ball ball_of_key(const ScanKeyData& key) {
    int radius = radius_of_strategy(key.sk_strategy);
    switch (key.sk_strategy) {
    case kWithinBall: {
        auto* ball = reinterpret_cast<HammingBall*>(DatumGetPointer(key.sk_argument));
        return {uint64_t(ball->center), saturate_radius(ball->radius)};
    }
    case kEqual:
        if (key.sk_subtype == INT2OID)
            return {uint64_t(int64(DatumGetInt16(key.sk_argument))), radius};
        if (key.sk_subtype == INT4OID)
            return {uint64_t(int64(DatumGetInt32(key.sk_argument))), radius};
        break;
    default:
        if (radius == kNoRadius)
            elog(ERROR, "unexpected strategy number %d of a simhash index scan", key.sk_strategy);
    }
    return {fingerprint_of(key.sk_argument), radius};
}

// Reads a condition `value = value` or `value =~~ value` of a class that computes words. Values that
// meet it have words within the radius of its strategy.
void read_value_condition(Relation index, const ScanKeyData& key, Conditions* conditions) {
    bool is_equality = key.sk_strategy == kEqual;
    // Values that such a collation calls equal may have different words, and of a value of another
    // type, which somebody has added to the family, we know none: every row is looked at.
    if (is_equality && OidIsValid(key.sk_collation) &&
        !get_collation_isdeterministic(key.sk_collation))
        return;
    if (OidIsValid(key.sk_subtype) && key.sk_subtype != index->rd_opcintype[0])
        return;
    CallMemory memory;
    uint64_t word;
    if (word_of_value(index, key.sk_argument, &word)) {
        conditions->want_nulls = false;
        conditions->balls[conditions->ball_count++] = {word, radius_of_strategy(key.sk_strategy)};
    } else {
        // A value without a word is equal only to others without one, and resembles none.
        conditions->want_fingerprints = false;
        conditions->want_nulls &= is_equality;
    }
}

void read_conditions(Relation index, bool has_words, const ScanKeyData* keys, int count,
                     Conditions* conditions) {
    // A rescan keeps the array: the number of keys stays the same.
    *conditions = {conditions->balls};
    for (int i = 0; i < count; i++) {
        if (keys[i].sk_attno > 1)
            continue; // ScopeReader reads the keys of the scope
        if (keys[i].sk_flags & SK_SEARCHNULL) {
            conditions->want_fingerprints = false;
            continue;
        }
        if (has_words) {
            // Values without a word are in the null table, too.
            if (keys[i].sk_flags & SK_SEARCHNOTNULL)
                continue;
            if (!(keys[i].sk_flags & SK_ISNULL) && is_value_strategy(keys[i].sk_strategy)) {
                read_value_condition(index, keys[i], conditions);
                continue;
            }
        }
        conditions->want_nulls = false;
        if (keys[i].sk_flags & SK_SEARCHNOTNULL)
            continue;
        // All operators are strict: a comparison with NULL finds no row.
        if (keys[i].sk_flags & SK_ISNULL)
            conditions->want_fingerprints = false;
        else
            conditions->balls[conditions->ball_count++] = ball_of_key(keys[i]);
    }
    // The smallest ball comes first, because the scan searches that one. The others only filter.
    std::sort(conditions->balls, conditions->balls + conditions->ball_count,
              [](const Ball& a, const Ball& b) { return a.radius < b.radius; });
}

// Reads ORDER BY fp <~> a, fp <~> b ... A distance from NULL is NULL for all rows and orders
// nothing.
void read_order(const ScanKeyData* order_bys, int count, Order* order) {
    order->count = 0;
    for (int i = 0; i < count; i++)
        if (!(order_bys[i].sk_flags & SK_ISNULL))
            order->targets[order->count++] = fingerprint_of(order_bys[i].sk_argument);
}

// Moves conditions and order into the scope: XORs their centers with the scope's hash, as the index
// stores fingerprints. If the keys leave the scope open, any stored fingerprint may match, so the
// balls go; the planner asks for no order then (cost.cpp).
void apply_scope(const KnownScope& scope, Conditions* conditions, Order* order) {
    if (scope.is_empty) {
        conditions->want_fingerprints = conditions->want_nulls = false;
        return;
    }
    if (!scope.is_known && order->count > 0)
        elog(ERROR, "simhash indexes order rows within one scope only");
    if (!scope.is_known)
        conditions->ball_count = 0;
    for (size_t i = 0; i < conditions->ball_count; i++)
        conditions->balls[i].center ^= scope.hash;
    for (size_t i = 0; i < order->count; i++)
        order->targets[i] ^= scope.hash;
}

// ---- Rows ----

struct Scan {
    // kStart lasts until the executor asks for the first row. By then it has set xs_snapshot,
    // xs_want_itup and heapRelation; at the rescan it may not have.
    enum class Stage { kStart, kFingerprints, kNulls, kDone };

    explicit Scan(Relation relation, int key_count, int order_by_count)
        : index(relation), scopes(relation, index.memory()), has_words(computes_words(relation)),
          has_later_columns(later_columns(relation) > 0), is_rechecked(needs_recheck(relation)),
          matches(&index), probes(&index, &matches), postings(&index),
          within(&index, &matches, &probes, &postings),
          nearest(&index, &matches, &probes, &postings) {
        conditions.balls = static_cast<Ball*>(palloc(std::max(key_count, 1) * sizeof(Ball)));
        order.targets =
            static_cast<uint64_t*>(palloc(std::max(order_by_count, 1) * sizeof(uint64_t)));
    }

    SearchedIndex index;
    ScopeReader scopes;
    const bool has_words; // the class of the first column computes them
    const bool has_later_columns;
    const bool is_rechecked;
    uint64_t scope_hash = 0;
    Conditions conditions;
    Order order;
    Stage stage = Stage::kDone;
    Matches matches;
    Probes probes;
    PostingReader postings;
    WithinScan within; // within and nearest use the three members above; one of them runs at a time
    NearestScan nearest;
    Relation heap = nullptr;    // the table, if its pages are to be fetched ahead
    IndexTuple tuple = nullptr; // of the last row, in an index-only scan
};

Scan* scan_state(IndexScanDesc desc) {
    return static_cast<Scan*>(desc->opaque);
}

void start_fingerprints(Scan* scan) {
    std::span<const Ball> balls = scan->conditions.all_balls();
    scan->stage = Scan::Stage::kFingerprints;
    if (scan->order.count > 0) {
        scan->nearest.start({scan->order.targets, scan->order.count}, balls);
    } else {
        Ball ball = balls.empty() ? kEverything.ball : balls[0];
        scan->within.start(ball, balls.empty() ? balls : balls.subspan(1), scan->heap);
    }
}

void start_nulls(Scan* scan) {
    scan->stage = Scan::Stage::kNulls;
    SearchedTree* nulls = scan->index.tree(null_tree(scan->index.layout()));
    scan->postings.start(LeafCursor(nulls, kAllKeys), kEverything);
}

// Loads the postings of the next leaf. Returns false at the scan's end.
bool next_leaf(Scan* scan) {
    if (scan->stage == Scan::Stage::kStart && scan->conditions.want_fingerprints)
        start_fingerprints(scan);
    if (scan->stage == Scan::Stage::kFingerprints &&
        (scan->order.count > 0 ? scan->nearest.next_leaf() : scan->within.next_leaf()))
        return true;
    if (scan->stage != Scan::Stage::kNulls && scan->stage != Scan::Stage::kDone &&
        scan->conditions.want_nulls)
        start_nulls(scan);
    if (scan->stage == Scan::Stage::kNulls && scan->postings.next_leaf())
        return true;
    scan->stage = Scan::Stage::kDone;
    scan->postings.stop();
    return false;
}

void put_distances(IndexScanDesc desc, uint64_t fingerprint, bool is_null) {
    for (int i = 0; i < desc->numberOfOrderBys; i++) {
        const ScanKeyData& key = desc->orderByData[i];
        bool no_distance = is_null || (key.sk_flags & SK_ISNULL);
        desc->xs_orderbynulls[i] = no_distance;
        desc->xs_orderbyvals[i] =
            no_distance
                ? Datum(0)
                : Int32GetDatum(hamming_distance(fingerprint, fingerprint_of(key.sk_argument)));
    }
    desc->xs_recheckorderby = false;
}

void put_tuple(IndexScanDesc desc, Scan* scan, uint64_t fingerprint, bool is_null) {
    // The planner never asks for this, as can_return() forbids it. Another library's plan might.
    if (scan->is_rechecked)
        elog(ERROR, "an index whose rows are rechecked cannot return its columns");
    if (scan->tuple != nullptr)
        pfree(scan->tuple);
    MemoryContext caller = MemoryContextSwitchTo(scan->index.memory());
    Datum value = Int64GetDatum(int64(fingerprint));
    scan->tuple = index_form_tuple(RelationGetDescr(desc->indexRelation), &value, &is_null);
    MemoryContextSwitchTo(caller);
    desc->xs_itup = scan->tuple;
#ifndef USE_FLOAT8_BYVAL
    pfree(DatumGetPointer(value));
#endif
}

void put_row(IndexScanDesc desc, Scan* scan, const Entry& posting) {
    bool is_null = scan->stage == Scan::Stage::kNulls;
    desc->xs_heaptid = integer_to_tid(posting.tid);
    // A row of another scope may match by chance, and a word does not tell its value. Under a
    // snapshot that is not MVCC, the TID may belong to another row by now. Otherwise the index is
    // exact.
    desc->xs_recheck =
        scan->is_rechecked || (desc->xs_snapshot != nullptr && !IsMVCCSnapshot(desc->xs_snapshot));
    put_distances(desc, posting.key ^ scan->scope_hash, is_null);
    if (desc->xs_want_itup)
        put_tuple(desc, scan, posting.key, is_null);
}

// True when the scan must pin the leaf whose TIDs it returns (README.md, "TIDs and the pin"). Under
// an MVCC snapshot a row that takes the place of a removed one is not visible, so no pin is needed.
// An index-only scan needs one, because it does not look at the row.
bool needs_pin(IndexScanDesc desc) {
    return desc->xs_want_itup || desc->xs_snapshot == nullptr || !IsMVCCSnapshot(desc->xs_snapshot);
}

// Reads the fields that the executor has set by the time of the first row.
void read_snapshot_and_heap(IndexScanDesc desc, Scan* scan) {
    scan->index.snapshot = desc->xs_snapshot;
    scan->postings.keeps_pin = needs_pin(desc);
    Relation heap = scan->postings.keeps_pin ? nullptr : desc->heapRelation;
    bool fetched = heap != nullptr && heap->rd_rel->relam == HEAP_TABLE_AM_OID;
    if (heap != scan->heap)
        scan->heap = fetched && may_fetch_ahead(heap) ? heap : nullptr;
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
    // The pin goes now: nobody uses the last TIDs any more, and the next row may never be asked
    // for.
    scan->postings.stop();
    if (keys != nullptr && key_count > 0)
        memmove(desc->keyData, keys, key_count * sizeof(ScanKeyData));
    if (order_bys != nullptr && order_by_count > 0)
        memmove(desc->orderByData, order_bys, order_by_count * sizeof(ScanKeyData));
    read_conditions(desc->indexRelation, scan->has_words, desc->keyData, desc->numberOfKeys,
                    &scan->conditions);
    read_order(desc->orderByData, desc->numberOfOrderBys, &scan->order);
    if (scan->has_later_columns) {
        KnownScope scope = scan->scopes.read(desc->keyData, desc->numberOfKeys);
        apply_scope(scope, &scan->conditions, &scan->order);
        scan->scope_hash = scope.hash;
    }
    scan->stage = Scan::Stage::kStart;
    count_index_search(desc);
}

bool index_get_tuple(IndexScanDesc desc, ScanDirection direction) {
    Scan* scan = scan_state(desc);
    if (direction != ForwardScanDirection)
        elog(ERROR, "simhash indexes do not support backward scans");
    if (scan->stage == Scan::Stage::kStart)
        read_snapshot_and_heap(desc, scan);
    while (scan->postings.is_empty())
        if (!next_leaf(scan))
            return false;
    put_row(desc, scan, scan->postings.take());
    return true;
}

int64 index_get_bitmap(IndexScanDesc desc, TIDBitmap* bitmap) {
    Scan* scan = scan_state(desc);
    scan->index.snapshot = desc->xs_snapshot;
    // The server uses bitmaps under MVCC snapshots only, so their TIDs need no pin.
    scan->postings.keeps_pin = false;
    int64 rows = 0;
    while (next_leaf(scan)) {
        constexpr size_t kChunk = 128;
        ItemPointerData tids[kChunk];
        for (std::span<const Entry> rest = scan->postings.postings(); !rest.empty();) {
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
    scan->postings.stop();
    if (scan->tuple != nullptr)
        pfree(scan->tuple);
    MemoryContextDelete(scan->index.memory());
}

} // namespace simhash
