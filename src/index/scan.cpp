// Index scans: within a radius, all rows, null rows, and nearest neighbours.
//
// Every scan is a sequence of *walks* over runs of leaves that hold TIDs (the posting table, the
// null table). A query within a radius first walks the runs of its own probes in the posting table,
// then collects the matching fingerprints of the other probes' block tables, and walks to each of
// these in the posting table; or, where they outgrow work_mem, through all of it. The leaf whose
// postings are being returned stays pinned where a snapshot alone does not protect them (README.md,
// "Scans").
#include "index/scan.hpp"

#include "core/bits/prefetch.hpp"
#include "index/testing.hpp"
#include "sql/ball.hpp"

#include <algorithm>

namespace simhash {

namespace {

// What one leaf gives while it is locked. Nothing may be allocated then, and a leaf can give a lot
// more than most scans ever see, so this is the backend's, and no call leaves anything in it.
LeafReader::Hit hits[kMaxLeafEntries + 1];
Posting leaf_postings[kMaxLeafEntries];
uint64_t leaf_matches[kMaxLeafEntries];

Scan* scan_state(IndexScanDesc scan) {
    return static_cast<Scan*>(scan->opaque);
}

// ---- Walks ----

} // namespace

void release_pin(Scan* scan) {
    if (scan->pinned != InvalidBuffer)
        ReleaseBuffer(scan->pinned);
    scan->pinned = InvalidBuffer;
    scan->posting_count = scan->next_posting = 0;
}

void start_walk(Scan* scan, int tree, uint64_t first_key, uint64_t last_key, const LeafHint& leaf) {
    scan->walk = Walk{true, false, &scan->trees[tree], {first_key, 0}, last_key, leaf};
}

namespace {

// Whether the walks of the probes of the posting table have returned the fingerprint's rows.
bool reported_by_walk(const Scan* scan, uint64_t fingerprint) {
    int walked = scan->plan->probe_count > 0 && scan->plan->probes[0].table == 0;
    return reported_earlier(*scan->plan, walked, fingerprint ^ scan->ball.center);
}

// Whether a fingerprint in scan->ball is to be returned.
bool is_wanted(const Scan* scan, uint64_t fingerprint) {
    if (scan->done_radius >= 0 &&
        hamming_distance(fingerprint, scan->ball.center) <= scan->done_radius)
        return false;
    // An unordered scan's first ball is scan->ball.
    for (int i = scan->ordered ? 0 : 1; i < scan->ball_count; i++)
        if (!scan->balls[i].contains(fingerprint))
            return false;
    return scan->phase != Phase::kRest || !reported_by_walk(scan, fingerprint);
}

bool matches(const Scan* scan, uint64_t fingerprint) {
    return scan->ball.contains(fingerprint) && is_wanted(scan, fingerprint);
}

// Copies the matching postings of one leaf to leaf_postings; returns their number. Expects the leaf
// locked.
int read_postings(const Scan* scan, Buffer buffer, bool filtered) {
    const Walk& walk = scan->walk;
    LeafReader reader = open_leaf(scan->index, buffer, walk.tree->kind);
    scan->leaves.note_leaf(*walk.tree, walk.position.key, walk.next, buffer, reader);
    // Unfiltered, as all bits may differ: every entry of the walk.
    int radius = filtered ? scan->ball.radius : kFingerprintBits;
    int hit_count =
        reader.keys_within(walk.position.key, walk.last_key, scan->ball.center, radius, hits);
    int count = 0;
    for (int i = 0; i < hit_count; i++) {
        uint64_t key = hits[i].key, tid = reader.tid_at(hits[i].place);
        if (LeafEntry{key, tid} < walk.position || (filtered && !is_wanted(scan, key)))
            continue;
        if (!tid_is_possible(tid))
            report_corruption(scan->index, BufferGetBlockNumber(buffer),
                              "A posting has no valid TID.");
        leaf_postings[count++] = {key, tid};
    }
    return count;
}

// Hands what read_postings() found over to the scan. Expects the leaf unlocked.
void keep_postings(Scan* scan, int count) {
    if (count > scan->posting_capacity) {
        if (scan->postings != nullptr)
            pfree(scan->postings);
        scan->postings = nullptr;
        scan->posting_capacity = std::max(count, kMinPostingCapacity);
        scan->postings = static_cast<Posting*>(
            MemoryContextAlloc(scan->memory, scan->posting_capacity * sizeof(Posting)));
    }
    std::copy_n(leaf_postings, count, scan->postings);
    scan->posting_count = count;
    scan->next_posting = 0;
}

// Where the walk goes on behind this page. A page that ends among the postings of a fingerprint
// that does not match is, if that one has many rows, followed by more such pages: they are passed
// by a descent to the next fingerprint.
void advance_walk(const Scan* scan, Buffer buffer, Walk* walk, bool filtered) {
    Page page = BufferGetPage(buffer);
    walk->active = !page_is_rightmost(page) && page_high(page).key <= walk->last_key;
    if (!walk->active)
        return;
    TreeKey high = page_high(page);
    if (high <= walk->position)
        report_corruption(scan->index, BufferGetBlockNumber(buffer), "The page's range is empty.");
    walk->position = high;
    walk->next = {page_opaque(page)->right};
    if (filtered && high.tid > 0 && !matches(scan, high.key)) {
        walk->active = high.key < walk->last_key;
        walk->position = {high.key + 1, 0};
        walk->next = {};
    }
}

// The leaf of `key`, which is expected where the hint says.
Buffer leaf_at(Scan* scan, const TreeContext& tree, const LeafHint& hint, TreeKey key) {
    Buffer buffer = scan->leaves.find_leaf(tree, hint, key);
    test_for_old_snapshot(scan->snapshot, tree.index, BufferGetPage(buffer));
    return buffer;
}

} // namespace

bool continue_walk(Scan* scan, bool filtered) {
    Walk& walk = scan->walk;
    release_pin(scan);
    while (walk.active) {
        CHECK_FOR_INTERRUPTS();
        if (walk.begun)
            pause_for_test("scan-between-leaves");
        Buffer buffer = leaf_at(scan, *walk.tree, walk.next, walk.position);
        walk.begun = true;
        int count = read_postings(scan, buffer, filtered);
        advance_walk(scan, buffer, &walk, filtered);
        bool found = count > 0;
        if (found && scan->keep_pin) {
            LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
            scan->pinned = buffer;
        } else {
            UnlockReleaseBuffer(buffer);
        }
        if (found) {
            keep_postings(scan, count);
            return true;
        }
    }
    return false;
}

// ---- Probes ----

namespace {

// The plan of the backend's last query of this index is as good where the index has not much grown
// or shrunk since: any plan is right.
ProbePlan cached_plan(Relation index, const Layout& layout, double entries, int radius) {
    IndexCache* cache = index_cache(index);
    if (cache->has_plan && cache->plan.radius == radius && entries < 1.25 * cache->plan_entries &&
        cache->plan_entries < 1.25 * entries)
        return cache->plan;
    ProbePlan plan = make_probe_plan(layout, radius, entries, kTypicalProbeCosts);
    plan.radius = radius;
    cache->has_plan = true;
    cache->plan_entries = entries;
    cache->plan = plan;
    return plan;
}

} // namespace

const ProbePlan* plan_for(Scan* scan, int radius) {
    ProbePlan*& plan = scan->plans[std::max(radius, 0)];
    if (plan == nullptr)
        plan = static_cast<ProbePlan*>(MemoryContextAlloc(scan->memory, sizeof(ProbePlan)));
    else if (plan->radius == radius)
        return plan;
    *plan = cached_plan(scan->index, *scan->layout, scan->entries, radius);
    return plan;
}

namespace {

// Left-aligned bounds of the run of keys with this prefix.
uint64_t run_first(uint64_t prefix, int prefix_bits) {
    return prefix << (kFingerprintBits - prefix_bits);
}
uint64_t run_last(uint64_t prefix, int prefix_bits) {
    return run_first(prefix, prefix_bits) |
           (prefix_bits == kFingerprintBits ? 0 : ~uint64_t{0} >> prefix_bits);
}

} // namespace

void add_matches(Scan* scan, const uint64_t* found, int count) {
    if (scan->match_count + count > scan->match_capacity) {
        scan->match_capacity = std::max<size_t>(scan->match_capacity * 2, 1024) + count;
        size_t bytes = scan->match_capacity * sizeof(uint64_t);
        scan->matches = static_cast<uint64_t*>(scan->matches == nullptr
                                                   ? MemoryContextAllocHuge(scan->memory, bytes)
                                                   : repalloc_huge(scan->matches, bytes));
    }
    std::copy_n(found, count, scan->matches + scan->match_count);
    scan->match_count += count;
}

namespace {

// Has the leaves of the next matches to look up fetched ahead.
void fetch_lookups_ahead(Scan* scan) {
    const TreeContext& postings = scan->trees[0];
    scan->fetched_match = std::max(scan->fetched_match, scan->next_match);
    size_t end = std::min(scan->match_count, scan->next_match + kLookupsAhead);
    for (; scan->fetched_match < end; scan->fetched_match++) {
        uint64_t fingerprint = scan->matches[scan->fetched_match];
        LeafHint& leaf = scan->lookup_leaves[scan->fetched_match % kLookupsAhead];
        leaf = scan->leaves.fetch_leaf_ahead(postings, fingerprint);
        RecentLeaves::fetch_keys_ahead(leaf, fingerprint, fingerprint);
    }
}

// Where the run goes on behind this leaf, whose hits are given; false at its end. A leaf that ends
// among the postings of a fingerprint is, if that one has many rows, followed by more such leaves:
// they are passed by a descent to the next fingerprint, unless they are the first to show a match.
bool advance_run(const Scan* scan, Buffer buffer, Run* run, int hit_count) {
    Page page = BufferGetPage(buffer);
    if (page_is_rightmost(page) || page_high(page).key > run->last)
        return false;
    TreeKey high = page_high(page);
    if (high <= run->position)
        report_corruption(scan->index, BufferGetBlockNumber(buffer), "The page's range is empty.");
    run->position = high;
    run->leaf = {page_opaque(page)->right};
    auto is_high = [&](const LeafReader::Hit& hit) { return hit.key == high.key; };
    if (high.tid == 0 || (hamming_distance(high.key, run->target) <= scan->ball.radius &&
                          std::none_of(hits, hits + hit_count, is_high)))
        return true;
    run->position = {high.key + 1, 0};
    run->leaf = {};
    return high.key < run->last;
}

// Collects the matching fingerprints of one leaf of the next run that no earlier probe of the plan
// reports; behind its last leaf the run is done.
void collect_leaf(Scan* scan) {
    Run& run = scan->runs[scan->next_run];
    const TreeContext& tree = *run.tree;
    const Permutation& permutation = scan->permutations[tree.tree];
    Buffer buffer = leaf_at(scan, tree, run.leaf, run.position);
    LeafReader reader = open_leaf(scan->index, buffer, tree.kind);
    scan->leaves.note_leaf(tree, run.position.key, run.leaf, buffer, reader);
    int count = 0;
    // Distances are the same under the permutation: only matches are permuted back.
    int hit_count =
        reader.keys_within(run.position.key, run.last, run.target, scan->ball.radius, hits);
    for (int i = 0; i < hit_count; i++) {
        uint64_t fingerprint = permutation.invert(hits[i].key);
        if (count > 0 && leaf_matches[count - 1] == fingerprint) // postings of one fingerprint
            continue;
        if (is_wanted(scan, fingerprint) &&
            !reported_earlier(*scan->plan, run.probe, fingerprint ^ scan->ball.center))
            leaf_matches[count++] = fingerprint;
    }
    if (!advance_run(scan, buffer, &run, hit_count))
        scan->next_run++;
    UnlockReleaseBuffer(buffer);
    scan->too_many_matches = scan->match_count + count > scan->match_limit;
    if (scan->too_many_matches)
        return;
    if (count == 0)
        return;
    add_matches(scan, leaf_matches, count);
    // Ordered scans sort them first.
    if (!scan->ordered)
        fetch_lookups_ahead(scan);
}

void start_probe(Scan* scan, const Probe& probe) {
    scan->probe_target = scan->permutations[probe.table].apply(scan->ball.center);
    scan->neighbours =
        PrefixNeighbours(scan->probe_target >> (kFingerprintBits - probe.prefix_bits),
                         probe.prefix_bits, probe.threshold);
}

// The next run that has not been fetched ahead yet. False where there is none.
bool make_run(Scan* scan, Run* run) {
    uint64_t prefix;
    while (!scan->neighbours.next(&prefix)) {
        if (scan->next_probe == scan->plan->probe_count)
            return false;
        start_probe(scan, scan->plan->probes[scan->next_probe++]);
    }
    int number = scan->next_probe - 1;
    const Probe& probe = scan->plan->probes[number];
    *run = {number,
            &scan->trees[probe.table],
            scan->probe_target,
            {run_first(prefix, probe.prefix_bits), 0},
            run_last(prefix, probe.prefix_bits),
            {}};
    return true;
}

void fetch_runs_ahead(Scan* scan) {
    Run *begin = scan->runs, *end = begin + scan->run_count;
    for (Run* run = begin; run < end; run++)
        scan->leaves.fetch_note_ahead(*run->tree, run->position.key);
    for (Run* run = begin; run < end; run++)
        run->leaf = scan->leaves.fetch_leaf_ahead(*run->tree, run->position.key);
    for (Run* run = begin; run < end; run++) {
        RecentLeaves::fetch_keys_ahead(run->leaf, run->position.key, run->last);
        uint64_t beyond = RecentLeaves::end_of_leaf(run->leaf);
        if (beyond != 0 && beyond <= run->last) {
            LeafHint leaf = scan->leaves.fetch_leaf_ahead(*run->tree, beyond);
            RecentLeaves::fetch_keys_ahead(leaf, beyond, run->last);
        }
    }
}

// Makes the next runs and has their leaves fetched. False where there are none.
bool make_runs(Scan* scan) {
    // A scan that is given up after its first rows shall not pay for many runs.
    int ahead = scan->run_count == 0 ? kFirstRunsAhead : kRunsAhead;
    scan->next_run = scan->run_count = 0;
    while (scan->run_count < ahead && make_run(scan, &scan->runs[scan->run_count]))
        scan->run_count++;
    if (scan->run_count > 1)
        fetch_runs_ahead(scan);
    return scan->run_count > 0;
}

// The next run, or nullptr. It stays the next until next_run is raised.
const Run* next_run(Scan* scan) {
    bool there = scan->next_run < scan->run_count || make_runs(scan);
    return there ? &scan->runs[scan->next_run] : nullptr;
}

} // namespace

void start_lookup(Scan* scan) {
    fetch_lookups_ahead(scan);
    const LeafHint& leaf = scan->lookup_leaves[scan->next_match % kLookupsAhead];
    uint64_t fingerprint = scan->matches[scan->next_match++];
    start_walk(scan, 0, fingerprint, fingerprint, leaf);
}

void start_runs(Scan* scan) {
    scan->run_count = scan->next_run = scan->next_probe = 0;
    scan->neighbours = PrefixNeighbours(0, 1, -1);
    scan->match_count = scan->next_match = scan->fetched_match = 0;
    scan->match_limit = std::max<size_t>(size_t(work_mem) * 1024 / sizeof(uint64_t), 1024);
    scan->too_many_matches = false;
}

bool collect_matches(Scan* scan) {
    while (!scan->too_many_matches && next_run(scan) != nullptr) {
        CHECK_FOR_INTERRUPTS();
        collect_leaf(scan);
    }
    return !scan->too_many_matches;
}

namespace {

// Sets up the probes of scan->ball.
void start_ball(Scan* scan) {
    release_pin(scan);
    scan->walk.active = false;
    scan->phase = Phase::kPostingProbes;
    scan->plan = plan_for(scan, scan->ball.radius);
    start_runs(scan);
    if (scan->plan->read_all)
        start_walk(scan, 0, 0, UINT64_MAX);
}

bool is_walked(const Run& run) {
    return run.tree->tree == 0;
}

// Has the first of the table's rows that were found brought nearer, from disk into memory, or into
// the processor's cache. Where on its page a row stands is guessed, as if all were of one size.
void fetch_rows_ahead(const Scan* scan) {
    for (int i = 0; i < std::min(scan->posting_count, kRowsAhead); i++) {
        ItemPointerData tid = integer_to_tid(scan->postings[i].tid);
        int offset = ItemPointerGetOffsetNumber(&tid);
        Buffer buffer = fetch_page_ahead(scan->heap, ItemPointerGetBlockNumber(&tid));
        if (buffer == InvalidBuffer)
            continue;
        // Addresses only, as the page is not pinned.
        Page page = BufferGetPage(buffer);
        prefetch(GetBufferDescriptor(buffer - 1));
        prefetch(page);
        prefetch(page + SizeOfPageHeaderData + (offset - 1) * sizeof(ItemIdData));
        prefetch(page + std::max(BLCKSZ - offset * scan->row_bytes, 0));
    }
}

// Searches the leaves of other probes that were fetched together with those of the walks, while the
// rows that a walk has found are being fetched.
void collect_meanwhile(Scan* scan) {
    if (scan->heap == nullptr)
        return;
    fetch_rows_ahead(scan);
    int run = scan->next_run;
    while (!scan->too_many_matches && run == scan->next_run && run < scan->run_count &&
           !is_walked(scan->runs[run])) {
        collect_leaf(scan);
        run++; // the same as next_run, unless the run goes on beyond the leaf
    }
}

// Loads the next matching postings of the ball, one leaf's. False where there are no more; the
// phase is then kNulls.
bool next_ball_postings(Scan* scan) {
    for (;;) {
        if (scan->walk.active && continue_walk(scan, scan->phase != Phase::kLookups)) {
            if (scan->phase == Phase::kPostingProbes)
                collect_meanwhile(scan);
            return true;
        }
        release_pin(scan);
        if (scan->phase == Phase::kPostingProbes) {
            const Run* run = scan->too_many_matches ? nullptr : next_run(scan);
            if (run != nullptr && is_walked(*run)) {
                scan->next_run++;
                start_walk(scan, 0, run->position.key, run->last, run->leaf);
                continue;
            }
            scan->phase = Phase::kLookups;
            if (!collect_matches(scan)) {
                scan->match_count = 0;
                scan->phase = Phase::kRest;
                start_walk(scan, 0, 0, UINT64_MAX);
                continue;
            }
        }
        if (scan->next_match == scan->match_count) {
            scan->phase = Phase::kNulls;
            return false;
        }
        start_lookup(scan);
    }
}

// ---- Conditions ----

Ball ball_of_key(const ScanKeyData& key) {
    if (is_near_strategy(key.sk_strategy))
        return {uint64_t(DatumGetInt64(key.sk_argument)), key.sk_strategy - kNear};
    switch (key.sk_strategy) {
    case kWithinBall: {
        auto* ball = reinterpret_cast<HammingBall*>(DatumGetPointer(key.sk_argument));
        return {uint64_t(ball->center), std::clamp(int(ball->radius), kNoRadius, kFingerprintBits)};
    }
    case kNearDuplicate:
        return {uint64_t(DatumGetInt64(key.sk_argument)), kNearDuplicateRadius};
    case kEqual:
        switch (key.sk_subtype) {
        case INT2OID:
            return {uint64_t(int64(DatumGetInt16(key.sk_argument))), 0};
        case INT4OID:
            return {uint64_t(int64(DatumGetInt32(key.sk_argument))), 0};
        default:
            return {uint64_t(DatumGetInt64(key.sk_argument)), 0};
        }
    default:
        elog(ERROR, "unexpected strategy number %d of a simhash index scan", key.sk_strategy);
    }
    pg_unreachable();
}

void read_conditions(Scan* scan, ScanKey keys, int key_count) {
    scan->want_fingerprints = scan->want_nulls = true;
    scan->ball_count = 0;
    for (int i = 0; i < key_count; i++) {
        if (keys[i].sk_flags & SK_SEARCHNULL) {
            scan->want_fingerprints = false;
            continue;
        }
        scan->want_nulls = false;
        if (keys[i].sk_flags & SK_SEARCHNOTNULL)
            continue;
        if (keys[i].sk_flags & SK_ISNULL)
            scan->want_fingerprints = false;
        else
            scan->balls[scan->ball_count++] = ball_of_key(keys[i]);
    }
    std::sort(scan->balls, scan->balls + scan->ball_count,
              [](const Ball& a, const Ball& b) { return a.radius < b.radius; });
}

// ORDER BY fp <~> a, fp <~> b ... A distance from NULL orders nothing.
void read_order(Scan* scan, ScanKey order_bys, int count) {
    scan->ordered = count > 0;
    scan->target_count = 0;
    for (int i = 0; i < count; i++)
        if (!(order_bys[i].sk_flags & SK_ISNULL))
            scan->targets[scan->target_count++] = uint64_t(DatumGetInt64(order_bys[i].sk_argument));
    scan->order_by_null = scan->target_count == 0;
    scan->target = scan->order_by_null ? 0 : scan->targets[0];
}

// The first call of an unordered scan.
void start_scan(Scan* scan) {
    scan->done_radius = kNoRadius;
    if (!scan->want_fingerprints) {
        scan->phase = Phase::kNulls;
        return;
    }
    scan->ball = scan->ball_count > 0 ? scan->balls[0] : Ball{0, kFingerprintBits};
    start_ball(scan);
}

// Loads the next postings of an unordered scan, one leaf's. False at its end.
bool next_postings(Scan* scan) {
    if (scan->phase == Phase::kStart)
        start_scan(scan);
    if (scan->phase == Phase::kPostingProbes || scan->phase == Phase::kLookups ||
        scan->phase == Phase::kRest) {
        if (next_ball_postings(scan))
            return true;
    }
    return next_null_postings(scan);
}

} // namespace

bool next_null_postings(Scan* scan) {
    if (scan->phase == Phase::kNulls && scan->want_nulls) {
        if (!scan->walk.active)
            start_walk(scan, null_tree(*scan->layout), 0, UINT64_MAX);
        bool found = continue_walk(scan, false);
        if (!scan->walk.active)
            scan->phase = Phase::kDone;
        return found;
    }
    scan->phase = Phase::kDone;
    release_pin(scan);
    return false;
}

namespace {

void return_posting(IndexScanDesc desc, Scan* scan, const Posting& posting, bool is_null) {
    desc->xs_heaptid = integer_to_tid(posting.tid);
    // The index is exact; but under a snapshot that is not MVCC the row may have changed since.
    desc->xs_recheck = desc->xs_snapshot != nullptr && !IsMVCCSnapshot(desc->xs_snapshot);
    for (int i = 0; i < desc->numberOfOrderBys; i++) {
        const ScanKeyData& key = desc->orderByData[i];
        bool no_distance = is_null || (key.sk_flags & SK_ISNULL);
        desc->xs_orderbyvals[i] =
            no_distance ? Datum(0)
                        : Int32GetDatum(hamming_distance(posting.fingerprint,
                                                         uint64_t(DatumGetInt64(key.sk_argument))));
        desc->xs_orderbynulls[i] = no_distance;
    }
    desc->xs_recheckorderby = false;
    if (desc->xs_want_itup) {
        if (scan->tuple != nullptr)
            pfree(scan->tuple);
        Datum value = Int64GetDatum(int64(posting.fingerprint));
        scan->tuple = index_form_tuple(RelationGetDescr(desc->indexRelation), &value, &is_null);
        desc->xs_itup = scan->tuple;
#ifndef USE_FLOAT8_BYVAL
        pfree(DatumGetPointer(value));
#endif
    }
}

// Under an MVCC snapshot a row that takes the place of a removed one is not visible, so the pin is
// not needed; but an index-only scan does not look at the row.
bool needs_pin(IndexScanDesc desc) {
    return desc->xs_want_itup || desc->xs_snapshot == nullptr || !IsMVCCSnapshot(desc->xs_snapshot);
}

// About how many bytes of its page a row takes.
int row_bytes_of(Relation heap) {
    Form_pg_class table = heap->rd_rel;
    double page_share = BlockNumber(table->relpages) / double(table->reltuples);
    if (!(page_share > 0 && page_share < 1)) // not analyzed yet, or less than a row a page
        page_share = 1;
    int bytes = int(page_share * (BLCKSZ - SizeOfPageHeaderData)) - int(sizeof(ItemIdData));
    return MAXALIGN_DOWN(std::max(bytes, 0));
}

// What the executor has said by the first call.
void read_snapshot_and_heap(IndexScanDesc desc, Scan* scan) {
    scan->keep_pin = needs_pin(desc);
    scan->snapshot = desc->xs_snapshot;
    Relation heap = scan->keep_pin ? nullptr : desc->heapRelation;
    if (heap == scan->heap)
        return;
    bool fetched =
        heap != nullptr && heap->rd_rel->relam == HEAP_TABLE_AM_OID && may_fetch_ahead(heap);
    scan->heap = fetched ? heap : nullptr;
    scan->row_bytes = fetched ? row_bytes_of(heap) : 0;
}

bool get_posting(IndexScanDesc desc, Scan* scan) {
    if (scan->phase == Phase::kStart)
        read_snapshot_and_heap(desc, scan);
    bool by_distance = scan->ordered && !scan->order_by_null;
    while (scan->next_posting == scan->posting_count)
        if (!(by_distance ? next_ordered_postings(scan) : next_postings(scan)))
            return false;
    bool is_null = scan->walk.tree->tree == null_tree(*scan->layout);
    return_posting(desc, scan, scan->postings[scan->next_posting++], is_null);
    return true;
}

} // namespace

// ---- Callbacks ----

namespace {

Permutation* permutations_of(const Layout& layout) {
    auto* permutations =
        static_cast<Permutation*>(palloc(layout.table_count * sizeof(Permutation)));
    for (int i = 0; i < layout.table_count; i++)
        permutations[i] = Permutation(layout.masks[i]);
    return permutations;
}

TreeContext* trees_of(Relation index, const Layout* layout) {
    auto* trees = static_cast<TreeContext*>(palloc(tree_count(*layout) * sizeof(TreeContext)));
    for (int i = 0; i < tree_count(*layout); i++)
        trees[i] = tree_context(index, nullptr, layout, i);
    return trees;
}

} // namespace

IndexScanDesc index_begin_scan(Relation index, int key_count, int order_by_count) {
    IndexScanDesc desc = RelationGetIndexScan(index, key_count, order_by_count);
    // Of its own: exclusion constraints make a scan a row, all in the statement's memory.
    MemoryContext memory =
        AllocSetContextCreate(CurrentMemoryContext, "simhash scan", ALLOCSET_DEFAULT_SIZES);
    MemoryContext caller = MemoryContextSwitchTo(memory);
    auto* scan = static_cast<Scan*>(palloc0(sizeof(Scan)));
    scan->memory = memory;
    // A copy: the cached one goes when the relation is invalidated.
    auto* layout = static_cast<Layout*>(palloc(sizeof(Layout)));
    *layout = index_cache(index)->layout;
    scan->index = index;
    scan->layout = layout;
    scan->trees = trees_of(index, layout);
    scan->permutations = permutations_of(*layout);
    scan->balls = static_cast<Ball*>(palloc(std::max(key_count, 1) * sizeof(Ball)));
    BlockNumber blocks = RelationGetNumberOfBlocks(index);
    scan->entries = estimated_entries(*layout, blocks);
    scan->leaves.init(index, *layout, blocks);
    scan->pinned = InvalidBuffer;
    scan->phase = Phase::kDone;
    if (order_by_count > 0) {
        desc->xs_orderbyvals = static_cast<Datum*>(palloc0(order_by_count * sizeof(Datum)));
        desc->xs_orderbynulls = static_cast<bool*>(palloc0(order_by_count * sizeof(bool)));
        scan->targets = static_cast<uint64_t*>(palloc(order_by_count * sizeof(uint64_t)));
    }
    MemoryContextSwitchTo(caller);
    desc->xs_itupdesc = RelationGetDescr(index);
    desc->opaque = scan;
    return desc;
}

void index_rescan(IndexScanDesc desc, ScanKey keys, int key_count, ScanKey order_bys,
                  int order_by_count) {
    Scan* scan = scan_state(desc);
    release_pin(scan);
    scan->walk.active = false;
    if (keys != nullptr && key_count > 0)
        memmove(desc->keyData, keys, key_count * sizeof(ScanKeyData));
    if (order_bys != nullptr && order_by_count > 0)
        memmove(desc->orderByData, order_bys, order_by_count * sizeof(ScanKeyData));
    read_conditions(scan, desc->keyData, desc->numberOfKeys);
    read_order(scan, desc->orderByData, desc->numberOfOrderBys);
    scan->phase = Phase::kStart;
    pgstat_count_index_scan(desc->indexRelation);
}

bool index_get_tuple(IndexScanDesc desc, ScanDirection direction) {
    if (direction != ForwardScanDirection)
        elog(ERROR, "simhash indexes do not support backward scans");
    return get_posting(desc, scan_state(desc));
}

int64 index_get_bitmap(IndexScanDesc desc, TIDBitmap* bitmap) {
    Scan* scan = scan_state(desc);
    scan->keep_pin = false; // bitmaps give their TIDs away
    scan->heap = nullptr;
    scan->snapshot = desc->xs_snapshot;
    int64 rows = 0;
    while (next_postings(scan)) {
        constexpr int kChunk = 128;
        ItemPointerData tids[kChunk];
        for (int done = 0; done < scan->posting_count; done += kChunk) {
            int count = std::min(kChunk, scan->posting_count - done);
            for (int i = 0; i < count; i++)
                tids[i] = integer_to_tid(scan->postings[done + i].tid);
            tbm_add_tuples(bitmap, tids, count, false);
        }
        rows += scan->posting_count;
    }
    return rows;
}

void index_end_scan(IndexScanDesc desc) {
    Scan* scan = scan_state(desc);
    release_pin(scan);
    if (scan->tuple != nullptr)
        pfree(scan->tuple);
    MemoryContextDelete(scan->memory);
}

} // namespace simhash
