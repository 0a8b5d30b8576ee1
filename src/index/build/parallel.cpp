// CREATE INDEX by several backends: a leader, which runs the statement, and its workers. All of
// them read the table together, each into sorted runs of its own. Then they cut the trees into
// key ranges. A participant that is free takes the next range, merges it from all runs, and
// writes its leaves. The leader writes the levels above. README.md, "The build", has the protocol.
#include "index/access_method.hpp"
#include "index/build/build.hpp"
#include "index/testing.hpp"

#include "core/bits/sort.hpp"

namespace simhash {
namespace {

// It bounds the array in shared memory.
constexpr int kMaxRanges = 32;             // of a tree
constexpr int kRangesPerParticipant = 4;   // several, so that all end at about the same time
constexpr int64 kEntriesOfRange = 1 << 17; // a tree with fewer is one range
constexpr int kPagesAtOnce = 64;           // that a participant adds to the index, at most

// The phases of the barrier.
enum Phase { kScanning, kPlanning, kWriting };

// Keys in the table of contents of the shared memory.
enum SharedKey : uint64 { kBuildKey = 1, kScanKey, kQueryKey, kUsageKey };

// In shared memory, for leader and workers.
struct SharedBuild {
    // It is compared before any other member is read, so it stands first.
    Size size; // of this struct: a worker that has loaded another version sees another size
    Oid heap, index;
    bool concurrent;
    Layout layout;
    int fillfactor;
    int participants; // at most: the workers that were asked for, and the leader
    SharedFileSet files;
    Barrier barrier;

    // The mutex protects these three, which are of the participants that have read their share.
    slock_t mutex;
    IndexBuildResult result;
    uint64_t entries; // of the sorted runs of all trees, as the collectors count them
    // Then the server lets only transactions use the index that are younger than it.
    bool broken_hot_chain;

    pg_atomic_uint32 next_tree; // to cut
    // Of each tree one participant writes these in kPlanning; all read them in kWriting.
    int range_counts[kMaxTrees];
    LeafRange ranges[kMaxTrees][kMaxRanges];

    pg_atomic_uint32 next_range; // number of the next range to write, counted through all trees
    pg_atomic_uint64 entries_written;
};

template <typename Part>
Part* find_shared(shm_toc* contents, SharedKey key) {
    return static_cast<Part*>(shm_toc_lookup(contents, key, false));
}

// A participant: the leader is number 0.
struct Participant {
    Participant(const IndexBuild& of, shm_toc* contents, int own_number, NewPages* own_pages)
        : build(of), shared(find_shared<SharedBuild>(contents, kBuildKey)),
          scan(find_shared<ParallelTableScanDescData>(contents, kScanKey)), number(own_number),
          pages(own_pages) {}

    IndexBuild build;
    SharedBuild* shared;
    ParallelTableScanDesc scan;
    // The names of the participant's files contain this number.
    int number;
    NewPages* pages;

    bool is_leader() const { return number == 0; }
    size_t memory() const {
        return size_t(maintenance_work_mem) * 1024 / size_t(shared->participants);
    }
};

// ---- The runs of all participants ----

using RunFiles = std::span<TemporaryFile>;

// Calls use(files) with the files that have a tree's runs, and closes them afterwards.
void with_runs(SharedBuild* shared, int tree, const auto& use) {
    TemporaryFile files[MAX_PARALLEL_WORKER_LIMIT + 1];
    size_t count = 0;
    for (int i = 0; i < shared->participants; i++) {
        files[count] = SortedRunCollector::open_file(&shared->files, i, tree);
        // A participant that never came, or read no row, has no file.
        count += files[count].exists();
    }
    use(RunFiles(files, count));
    for (size_t i = 0; i < count; i++)
        files[i].close();
}

// ---- Planning: where ranges begin ----

// Adds evenly spaced entries of these runs to `samples`, in order. Returns the number of all.
template <typename AnyEntry>
int64 take_samples(RunFiles files, GrowingArray<Entry>* samples) {
    constexpr int64 kSamples = 1024;
    auto visit = [&](const auto& take) {
        for (const TemporaryFile& file : files)
            visit_sorted_runs<AnyEntry>(file, take);
    };
    int64 total = 0;
    visit([&](const SortedRun<AnyEntry>& run) { total += run.count; });
    int64 step = total / kSamples + 1;
    // Runs of the same size have about the same keys at the same places. So each run's samples
    // begin at another fraction of a step.
    uint32 fraction = 0;
    visit([&](const SortedRun<AnyEntry>& run) {
        fraction += 0x9e3779b9; // multiples of the golden ratio have evenly spread fractions
        for (int64 i = int64(uint64(fraction) * uint64(std::min(step, run.count)) >> 32);
             i < run.count; i += step)
            samples->add(Entry(run[i]));
    });
    sort_ascending(samples->data(), samples->end());
    return total;
}

// Cuts a tree into ranges of about the same size. A range begins where a probe's range begins, as
// leaves do, so that the probe reads one leaf.
void cut_tree(const Participant& self, int number) {
    TreeContext tree = self.build.tree(number);
    GrowingArray<Entry> samples(server_memory());
    int64 total = 0;
    with_runs(self.shared, number, [&](RunFiles files) {
        total = tree.kind == LeafKind::kPosting ? take_samples<Entry>(files, &samples)
                                                : take_samples<uint64_t>(files, &samples);
    });
    int64 most = std::min(kRangesPerParticipant * self.shared->participants, kMaxRanges);
    int64 wanted = std::clamp(total / kEntriesOfRange, int64{1}, most);
    LeafRange* ranges = self.shared->ranges[number];
    int count = 0;
    ranges[count++] = {};
    for (int64 i = 1; i < wanted; i++) {
        LeafRange& last = ranges[count - 1];
        Entry before = count == 1 ? samples[0] : last.low;
        Entry sample = samples[size_t(i) * samples.size() / size_t(wanted)];
        // Many rows of one fingerprint may make samples equal: then there are fewer ranges.
        if (before >= sample)
            continue;
        // The ranges of a tree are adjacent and have no gaps. We add the page of the next one's
        // first leaf now, because the leaf before it must link to it, and another participant may
        // write that one first.
        last.is_last = false;
        last.high = low_key_between(tree, before, sample);
        last.next_block = self.pages->take();
        ranges[count++] = {.low = last.high, .block = last.next_block};
    }
    // A tree without entries has no range: its root is an empty leaf already.
    self.shared->range_counts[number] = total == 0 ? 0 : count;
    samples.release();
}

// Takes and cuts trees until none is left.
void cut_trees(const Participant& self) {
    pause_for_test("build-cuts");
    // The counter gives each tree to one participant. One alone would keep all others waiting for
    // the samples that it reads.
    for (;;) {
        auto tree = int(pg_atomic_fetch_add_u32(&self.shared->next_tree, 1));
        if (tree >= tree_count(*self.build.layout))
            return;
        cut_tree(self, tree);
    }
}

// ---- Reading and writing ----

void read_share(const Participant& self) {
    SortedRunCollector runs(self.build.layout, self.memory(), &self.shared->files, self.number);
    // The participants get blocks of the table from a shared counter, so each row comes to one of
    // them.
    IndexBuildResult result =
        collect_rows(self.build, &runs, begin_parallel_scan(self.build.heap, self.scan));
    if (self.is_leader())
        enter_phase(kPhaseSort);
    // We write all runs to files and close these before the barrier: the others read them after it.
    runs.finish(true);
    runs.release();

    // This comes before the barrier, so that the sums are complete after it.
    SpinLockAcquire(&self.shared->mutex);
    self.shared->result.heap_tuples += result.heap_tuples;
    self.shared->result.index_tuples += result.index_tuples;
    self.shared->entries += runs.entries();
    self.shared->broken_hot_chain |= self.build.info->ii_BrokenHotChain;
    SpinLockRelease(&self.shared->mutex);
    ereport(DEBUG1, errmsg_internal("simhash build: participant %d read %.0f rows", self.number,
                                    result.index_tuples));
}

// The name of the file that keeps the pivots of a range's leaves until the leader reads them.
char* name_of_pivots(int tree, int range) { return psprintf("pivots.%d.%d", tree, range); }

void write_range(const Participant& self, int tree, int number) {
    const LeafRange& range = self.shared->ranges[tree][number];
    TreeContext context = self.build.tree(tree);
    LeafWriter leaves(context, self.build.fillfactor, range, self.pages);
    pg_atomic_uint64* done = &self.shared->entries_written;
    with_runs(self.shared, tree, [&](RunFiles files) {
        if (context.kind == LeafKind::kPosting)
            write_merged<Entry>(files, range, self.memory(), &leaves, done);
        else
            write_merged<uint64_t>(files, range, self.memory(), &leaves, done);
    });
    Pivots pivots = leaves.finish();
    TemporaryFile file = TemporaryFile::create(&self.shared->files, name_of_pivots(tree, number));
    // Not in shared memory, whose size must be known before the workers start.
    file.append(pivots.all().data(), pivots.all().size_bytes());
    file.close();
    pivots.release();
}

// Takes and writes ranges until none is left. Returns how many it wrote.
int write_ranges(const Participant& self) {
    int written = 0;
    // Ranges are counted through all trees. The counter only rises, so each participant finds the
    // tree of a number by going on from its last one.
    int tree = 0, first = 0; // the number of the tree's first range
    for (;;) {
        // The counter gives each number to one participant, so a range needs no lock.
        auto next = int(pg_atomic_fetch_add_u32(&self.shared->next_range, 1));
        while (tree < tree_count(*self.build.layout) &&
               next >= first + self.shared->range_counts[tree])
            first += self.shared->range_counts[tree++];
        if (tree == tree_count(*self.build.layout))
            return written;
        write_range(self, tree, next - first);
        written++;
        if (self.is_leader())
            pause_for_test("build-leader-writes");
    }
}

// Does the work of one participant. It may come late, and then does what is left to do.
void take_part(const Participant& self) {
    Barrier* barrier = &self.shared->barrier;
    // The phase tells a participant that comes late what has been done without it.
    int phase = BarrierAttach(barrier);
    if (phase == kScanning) {
        read_share(self);
        // All runs are in files behind this.
        BarrierArriveAndWait(barrier, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
    }
    // One that attaches while the trees are cut cuts those that are left.
    if (phase <= kPlanning) {
        cut_trees(self);
        BarrierArriveAndWait(barrier, WAIT_EVENT_PARALLEL_CREATE_INDEX_SCAN);
    }
    if (self.is_leader()) {
        pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, int64(self.shared->entries));
        enter_phase(kPhaseWrite);
    }
    if (!self.is_leader())
        pause_for_test("build-worker-writes");
    // The phase ends when the last participant has left. A worker that comes later finds a later
    // phase, and nothing to do.
    int written = phase <= kWriting ? write_ranges(self) : 0;
    ereport(DEBUG1, errmsg_internal("simhash build: participant %d wrote %d key ranges",
                                    self.number, written));
    // Nobody waits at the end of the phase: the leader waits for the workers to exit.
    BarrierArriveAndDetach(barrier);
}

// ---- The leader ----

// Writes the levels above the leaves. All leaves are written by now.
void finish_trees(const Participant& self) {
    pause_for_test("build-upper-levels");
    for (int tree = 0; tree < tree_count(*self.build.layout); tree++) {
        Pivots pivots(server_memory());
        // In the order of the ranges the pivots of all leaves ascend.
        for (int range = 0; range < self.shared->range_counts[tree]; range++) {
            TemporaryFile file =
                TemporaryFile::open(&self.shared->files, name_of_pivots(tree, range));
            if (!file.exists())
                elog(ERROR, "pivots of key range %d of tree %d are missing", range, tree);
            size_t count = size_t(file.size()) / sizeof(Pivot);
            file.read(0, pivots.add_room(count), count * sizeof(Pivot));
            pivots.added(count);
            file.close();
        }
        write_upper_levels(self.build.tree(tree), pivots, self.pages);
    }
}

// Returns the library of the index's access method as pg_proc names it, so that workers load the
// same file as the leader.
char* library_name(Relation index) {
    HeapTuple handler = SearchSysCache1(PROCOID, ObjectIdGetDatum(index->rd_amhandler));
    if (!HeapTupleIsValid(handler))
        elog(ERROR, "cache lookup failed for function %u", index->rd_amhandler);
    bool is_null;
    // "$libdir/simhash", or the path that CREATE EXTENSION has put in its place.
    Datum library = SysCacheGetAttr(PROCOID, handler, Anum_pg_proc_probin, &is_null);
    char* name = is_null ? nullptr : TextDatumGetCString(library);
    ReleaseSysCache(handler);
    if (name == nullptr)
        elog(ERROR, "access method handler %u is in no library", index->rd_amhandler);
    return name;
}

// What a worker read and wrote. The leader adds it to its own, so that pg_stat_statements counts
// it, too.
struct Usage {
    BufferUsage buffers;
    WalUsage wal;
};

template <typename Part>
Part* allocate_shared(ParallelContext* context, SharedKey key, Size size) {
    void* part = shm_toc_allocate(context->toc, size);
    shm_toc_insert(context->toc, key, part);
    return static_cast<Part*>(part);
}

void init_shared_build(SharedBuild* shared, const IndexBuild& build, ParallelContext* context) {
    shared->size = sizeof(SharedBuild);
    shared->heap = RelationGetRelid(build.heap);
    shared->index = RelationGetRelid(build.index);
    shared->concurrent = build.info->ii_Concurrent;
    shared->layout = *build.layout;
    shared->fillfactor = build.fillfactor;
    // The memory of a participant follows from this, even if fewer workers start.
    shared->participants = context->nworkers + 1;
    SharedFileSetInit(&shared->files, context->seg);
    // Participants join as they come: nobody waits for a worker that never starts.
    BarrierInit(&shared->barrier, 0);
    SpinLockInit(&shared->mutex);
    shared->result = {};
    shared->entries = 0;
    shared->broken_hot_chain = false;
    pg_atomic_init_u32(&shared->next_tree, 0);
    pg_atomic_init_u32(&shared->next_range, 0);
    pg_atomic_init_u64(&shared->entries_written, 0);
}

// Makes the shared memory. Returns false if the server has none to give.
bool share_build(const IndexBuild& build, Snapshot snapshot, ParallelContext* context) {
    Size scan_size = table_parallelscan_estimate(build.heap, snapshot);
    Size query_size = debug_query_string == nullptr ? 0 : strlen(debug_query_string) + 1;
    Size usage_size = mul_size(sizeof(Usage), Size(context->nworkers));
    for (Size size : {Size(sizeof(SharedBuild)), scan_size, query_size, usage_size})
        shm_toc_estimate_chunk(&context->estimator, size);
    shm_toc_estimate_keys(&context->estimator, 4);
    // Without a segment of shared memory it makes the context's memory local, and seg is null.
    InitializeParallelDSM(context);
    if (context->seg == nullptr)
        return false;

    init_shared_build(allocate_shared<SharedBuild>(context, kBuildKey, sizeof(SharedBuild)), build,
                      context);
    table_parallelscan_initialize(
        build.heap, allocate_shared<ParallelTableScanDescData>(context, kScanKey, scan_size),
        snapshot);
    if (query_size > 0)
        memcpy(allocate_shared<char>(context, kQueryKey, query_size), debug_query_string,
               query_size);
    allocate_shared<Usage>(context, kUsageKey, usage_size);
    return true;
}

// Builds with the workers that could be started. Returns false if there are none.
bool lead_workers(const IndexBuild& build, ParallelContext* context, IndexBuildResult* result) {
    LaunchParallelWorkers(context);
    ereport(DEBUG1, errmsg_internal("simhash build: %d of %d workers", context->nworkers_launched,
                                    context->nworkers));
    // Alone the leader builds faster without files.
    if (context->nworkers_launched == 0)
        return false;
    NewPages pages(build.index, kPagesAtOnce);
    Participant leader(build, context->toc, 0, &pages);
    enter_phase(kPhaseScan);
    take_part(leader);
    // A worker may still write its last range. After this call all leaves are written, and all
    // pivots are in files. It raises an error if a worker failed or did not start.
    WaitForParallelWorkersToFinish(context);
    // The leader told the sum last when it wrote itself; the workers may have added to it since.
    add_done(&leader.shared->entries_written, 0);
    // This comes after the workers have gone, because only then their figures are complete.
    auto* usage = find_shared<Usage>(context->toc, kUsageKey);
    for (int i = 0; i < context->nworkers_launched; i++)
        InstrAccumParallelQuery(&usage[i].buffers, &usage[i].wal);
    finish_trees(leader);
    // The levels above take pages, too, so the leader returns its spare ones only now.
    pages.release();
    *result = leader.shared->result;
    // The server reads this from the leader's IndexInfo.
    build.info->ii_BrokenHotChain = leader.shared->broken_hot_chain;
    return true;
}

} // namespace

int build_workers(const IndexBuild& build) {
    // The server looks at expressions and at the predicate, but not at support functions.
    for (int i = 0; i < IndexRelationGetNumberOfKeyAttributes(build.index); i++) {
        // The first column's class computes lanes, the others' a hash. Both run in workers.
        Oid function =
            index_getprocid(build.index, AttrNumber(i + 1), i == 0 ? kValueLanes : kHashScope);
        if (OidIsValid(function) && func_parallel(function) != PROPARALLEL_SAFE)
            return 0;
    }
    return planned_build_workers(build.heap, build.index, build.info);
}

bool build_with_workers(const IndexBuild& build, int workers, IndexBuildResult* result) {
    // Until ExitParallelMode() the transaction writes no rows, so all see the same.
    EnterParallelMode();
    ParallelContext* context =
        CreateParallelContext(library_name(build.index), "simhash_build_worker", workers);
    bool concurrent = build.info->ii_Concurrent;
    // As in a serial build: CONCURRENTLY reads the rows that a new snapshot sees, and otherwise the
    // server picks the rows that any snapshot may see.
    Snapshot snapshot = concurrent ? RegisterSnapshot(GetTransactionSnapshot()) : SnapshotAny;
    bool built = share_build(build, snapshot, context) && lead_workers(build, context, result);
    if (concurrent)
        UnregisterSnapshot(snapshot);
    // This also detaches the shared memory; the files of the set go with the last one that does.
    DestroyParallelContext(context);
    ExitParallelMode();
    return built;
}

namespace {

void work(dsm_segment* segment, shm_toc* contents) {
    debug_query_string = static_cast<char*>(shm_toc_lookup(contents, kQueryKey, true));
    // For pg_stat_activity, which shows the leader's statement.
    pgstat_report_activity(STATE_RUNNING, debug_query_string);
    auto* shared = find_shared<SharedBuild>(contents, kBuildKey);
    // The library file may have been replaced since the leader loaded it.
    if (shared->size != sizeof(SharedBuild))
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("simhash was updated during this session"),
                errhint("Reconnect and try again."));
    SharedFileSetAttach(&shared->files, segment);

    // We take the locks that the leader has. They do not conflict within a lock group.
    LOCKMODE heap_lock = shared->concurrent ? ShareUpdateExclusiveLock : ShareLock;
    LOCKMODE index_lock = shared->concurrent ? RowExclusiveLock : AccessExclusiveLock;
    Relation heap = table_open(shared->heap, heap_lock);
    Relation index = index_open(shared->index, index_lock);
    // The worker reads the catalog itself, because pointers of the leader mean nothing here.
    IndexInfo* info = BuildIndexInfo(index);
    info->ii_Concurrent = shared->concurrent;

    InstrStartParallelQuery();
    IndexBuild build{heap, index, info, &shared->layout, shared->fillfactor};
    fail_for_test("build-worker");
    pause_for_test("build-worker");
    NewPages pages(index, kPagesAtOnce);
    take_part(Participant(build, contents, ParallelWorkerNumber + 1, &pages));
    pages.release();
    Usage& usage = find_shared<Usage>(contents, kUsageKey)[ParallelWorkerNumber];
    InstrEndParallelQuery(&usage.buffers, &usage.wal);
    index_close(index, index_lock);
    table_close(heap, heap_lock);
}

} // namespace
} // namespace simhash

extern "C" {
PGDLLEXPORT void simhash_build_worker(dsm_segment* segment, shm_toc* contents);

// The server calls this in each worker.
void simhash_build_worker(dsm_segment* segment, shm_toc* contents) {
    simhash::work(segment, contents);
}
}
