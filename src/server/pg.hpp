// The server as the extension sees it: its headers, and one name for each thing that differs
// between PostgreSQL 15 and 19. Every file outside of src/core includes the server by this one; no
// file of src/core may. Nothing else asks for PG_VERSION_NUM.
#pragma once

#include "server/server_headers.hpp"

// From PostgreSQL 16 on an input function reports bad input to a caller who asks for that. Before,
// bad input is an error.
#if PG_VERSION_NUM < 160000
// NOLINTNEXTLINE(readability-identifier-naming): the server's name
#define ereturn(context, dummy_value, ...) ereport(ERROR, __VA_ARGS__)
#endif

// PostgreSQL 18 shows a library's name and version (pg_get_loaded_modules).
#if PG_VERSION_NUM >= 180000
#define SIMHASH_MODULE_MAGIC(module, module_version)                                               \
    PG_MODULE_MAGIC_EXT(.name = module, .version = module_version)
#else
#define SIMHASH_MODULE_MAGIC(module, module_version) PG_MODULE_MAGIC
#endif

// Defines a C function that SQL calls: SIMHASH_FUNCTION(simhash_hash) { ... }, with `fcinfo`.
#define SIMHASH_FUNCTION(name)                                                                     \
    extern "C" {                                                                                   \
    PG_FUNCTION_INFO_V1(name);                                                                     \
    }                                                                                              \
    Datum name([[maybe_unused]] PG_FUNCTION_ARGS)

// The modes of LockBuffer() have a type of their own from PostgreSQL 19 on.
#if PG_VERSION_NUM < 190000
using BufferLockMode = int;
#endif

namespace simhash {

// ---- pages of a relation ----

#if PG_VERSION_NUM >= 160000
// The server's macro BMR_REL names one field of three, which clang warns of.
inline BufferManagerRelation extended_relation(Relation relation) {
    BufferManagerRelation extended{};
    extended.rel = relation;
    return extended;
}
#endif

// Adds a page to the relation; returns it pinned and exclusively locked, all zeros.
inline Buffer extend_relation(Relation relation, ForkNumber fork = MAIN_FORKNUM) {
#if PG_VERSION_NUM >= 160000
    return ExtendBufferedRel(extended_relation(relation), fork, nullptr, EB_LOCK_FIRST);
#else
    // Also where the relation is this transaction's own, whose parallel workers may extend it.
    LockRelationForExtension(relation, ExclusiveLock);
    Buffer buffer = ReadBufferExtended(relation, fork, P_NEW, RBM_ZERO_AND_LOCK, nullptr);
    UnlockRelationForExtension(relation, ExclusiveLock);
    return buffer;
#endif
}

// Adds *count pages to the relation, all zeros and adjacent, or fewer, and sets *count to how many.
// Returns the first. No pin or lock is left.
inline BlockNumber extend_relation_by(Relation relation, int* count) {
#if PG_VERSION_NUM >= 160000
    constexpr int kMost = 64;
    Buffer buffers[kMost];
    uint32 added;
    BlockNumber first =
        ExtendBufferedRelBy(extended_relation(relation), MAIN_FORKNUM, nullptr, 0,
                            uint32(*count < kMost ? *count : kMost), buffers, &added);
    for (uint32 i = 0; i < added; i++)
        ReleaseBuffer(buffers[i]);
    *count = int(added);
#else
    LockRelationForExtension(relation, ExclusiveLock);
    BlockNumber first = RelationGetNumberOfBlocks(relation);
    for (int i = 0; i < *count; i++)
        ReleaseBuffer(ReadBuffer(relation, P_NEW));
    UnlockRelationForExtension(relation, ExclusiveLock);
#endif
    return first;
}

// True when the relation has the block. The relation must not shrink meanwhile: an index never
// does, and a table only under a lock that excludes scans. Asks the file system only when the size
// that this backend remembers does not answer.
inline bool block_exists(Relation relation, BlockNumber block) {
    BlockNumber known = RelationGetSmgr(relation)->smgr_cached_nblocks[MAIN_FORKNUM];
    return (known != InvalidBlockNumber && block < known) ||
           block < RelationGetNumberOfBlocks(relation);
}

// Raises an error where VACUUM has removed rows that the snapshot would see, as
// old_snapshot_threshold allows until PostgreSQL 16. To be called for each page that a scan reads.
inline void test_for_old_snapshot([[maybe_unused]] Snapshot snapshot,
                                  [[maybe_unused]] Relation relation, [[maybe_unused]] Page page) {
#if PG_VERSION_NUM < 170000
    TestForOldSnapshot(snapshot, relation, page);
#endif
}

// ---- shared buffers ----

// Counts that a page was found in shared buffers: in the relation's statistics, and from PostgreSQL
// 16 on in pg_stat_io.
inline void count_buffer_hit(Relation relation) {
    pgstat_count_buffer_read(relation);
    pgstat_count_buffer_hit(relation);
#if PG_VERSION_NUM >= 180000
    pgstat_count_io_op(IOOBJECT_RELATION, IOCONTEXT_NORMAL, IOOP_HIT, 1, 0);
#elif PG_VERSION_NUM >= 160000
    pgstat_count_io_op(IOOBJECT_RELATION, IOCONTEXT_NORMAL, IOOP_HIT);
#endif
}

// Pins the page if this buffer, a shared one, holds it. The server's function counts the visit for
// EXPLAIN only, so we count it for the statistics.
inline bool read_recent_buffer(Relation relation, BlockNumber block, Buffer buffer) {
#if PG_VERSION_NUM >= 160000
    bool found = ReadRecentBuffer(relation->rd_locator, MAIN_FORKNUM, block, buffer);
#else
    bool found = ReadRecentBuffer(relation->rd_node, MAIN_FORKNUM, block, buffer);
#endif
    if (found)
        count_buffer_hit(relation);
    return found;
}

// PostgreSQL 19 asks for this before columns that we made ourselves are first used.
inline void finish_columns([[maybe_unused]] TupleDesc columns) {
#if PG_VERSION_NUM >= 190000
    TupleDescFinalize(columns);
#endif
}

// True when the shared buffer's use count is at its maximum, so that one use more would not change
// how long the page stays in memory.
inline bool use_count_is_full(Buffer buffer) {
    Assert(!BufferIsLocal(buffer));
#if PG_VERSION_NUM >= 190000
    uint64 state = pg_atomic_read_u64(&GetBufferDescriptor(buffer - 1)->state);
#else
    uint32 state = pg_atomic_read_u32(&GetBufferDescriptor(buffer - 1)->state);
#endif
    return BUF_STATE_GET_USAGECOUNT(state) >= BM_MAX_USAGE_COUNT;
}

// The memory that locking the shared buffer will read first.
inline const void* buffer_descriptor(Buffer buffer) {
    Assert(!BufferIsLocal(buffer));
    return GetBufferDescriptor(buffer - 1);
}

// The block that the shared buffer holds. Expects it pinned.
inline BlockNumber block_in_buffer(Buffer buffer) {
    Assert(!BufferIsLocal(buffer));
    return GetBufferDescriptor(buffer - 1)->tag.blockNum;
}

// True when this backend holds the content lock of the page: locking it again would wait for ever.
// A backend that holds any such lock has interrupts held off, which is the quicker test.
inline bool page_locked_by_me(Buffer buffer) {
    if (InterruptHoldoffCount == 0 || BufferIsLocal(buffer))
        return false;
#if PG_VERSION_NUM >= 190000
    return BufferIsLockedByMe(buffer);
#else
    return LWLockHeldByMe(BufferDescriptorGetContentLock(GetBufferDescriptor(buffer - 1)));
#endif
}

// ---- the access method ----

// From PostgreSQL 17 on an access method says whether it can build in parallel.
constexpr void set_can_build_parallel([[maybe_unused]] IndexAmRoutine* am) {
#if PG_VERSION_NUM >= 170000
    am->amcanbuildparallel = true;
#endif
}

// Tells the server which strategy of the access method's operator families is equality. With that,
// logical replication finds rows by the index from PostgreSQL 18 on.
template <StrategyNumber equality>
constexpr void set_equality([[maybe_unused]] IndexAmRoutine* am) {
#if PG_VERSION_NUM >= 180000
    am->amtranslatestrategy = [](StrategyNumber strategy, Oid) {
        return strategy == equality ? COMPARE_EQ : COMPARE_INVALID;
    };
    am->amtranslatecmptype = [](CompareType type, Oid) {
        return type == COMPARE_EQ ? equality : StrategyNumber(InvalidStrategy);
    };
#endif
}

// The pointer that an access method's handler returns. PostgreSQL 19 keeps it; older servers copy
// what it points to and free it, so they get a copy in palloc'd memory.
inline const IndexAmRoutine* handed_over(const IndexAmRoutine* routine) {
#if PG_VERSION_NUM >= 190000
    return routine;
#else
    auto* copy = static_cast<IndexAmRoutine*>(palloc(sizeof(IndexAmRoutine)));
    *copy = *routine;
    return copy;
#endif
}

// Counts a search by the index: for pg_stat_user_indexes, and from PostgreSQL 18 on for "Index
// Searches" of EXPLAIN ANALYZE.
inline void count_index_search(IndexScanDesc scan) {
    pgstat_count_index_scan(scan->indexRelation);
#if PG_VERSION_NUM >= 180000
    if (scan->instrument != nullptr)
        scan->instrument->nsearches++;
#endif
}

// ---- builds and VACUUM ----

// This participant's share of a scan of the whole table.
inline TableScanDesc begin_parallel_scan(Relation heap, ParallelTableScanDesc scan) {
#if PG_VERSION_NUM >= 190000
    return table_beginscan_parallel(heap, scan, SO_NONE);
#else
    return table_beginscan_parallel(heap, scan);
#endif
}

// How many workers the server would give to the build of an index. From PostgreSQL 17 on it asks
// this itself, for access methods that can build in parallel; before, for B-trees alone.
inline int planned_build_workers([[maybe_unused]] Relation heap, [[maybe_unused]] Relation index,
                                 IndexInfo* info) {
#if PG_VERSION_NUM >= 170000
    return info->ii_ParallelWorkers;
#else
    // The server gives no workers to the builds of TRUNCATE, and of a temporary table that is
    // emptied at commit. These tables have no pages or local buffers.
    if (RelationUsesLocalBuffers(heap) || RelationGetNumberOfBlocks(heap) == 0)
        return 0;
    info->ii_ParallelWorkers =
        plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
    return info->ii_ParallelWorkers;
#endif
}

// The table that is vacuumed, where the server says so. Null stands for the strictest horizon.
inline Relation vacuum_heap([[maybe_unused]] IndexVacuumInfo* info) {
#if PG_VERSION_NUM >= 160000
    return info->heaprel;
#else
    return nullptr;
#endif
}

// An autovacuum worker has a limit of memory of its own, autovacuum_work_mem.
inline bool in_autovacuum_worker() {
#if PG_VERSION_NUM >= 170000
    return AmAutoVacuumWorkerProcess();
#else
    return IsAutoVacuumWorkerProcess();
#endif
}

// Sleeps where the settings of cost-based vacuum delay ask for that, and services interrupts. So
// the caller holds no page lock.
inline void vacuum_delay() {
#if PG_VERSION_NUM >= 180000
    vacuum_delay_point(false);
#else
    vacuum_delay_point();
#endif
}

// ---- rights ----

// True when the current user may maintain the table: its owner, a superuser, or, from PostgreSQL 17
// on, who was granted MAINTAIN.
inline bool may_maintain(Oid table) {
#if PG_VERSION_NUM >= 170000
    if (pg_class_aclcheck(table, GetUserId(), ACL_MAINTAIN) == ACLCHECK_OK)
        return true;
#endif
#if PG_VERSION_NUM >= 160000
    return object_ownercheck(RelationRelationId, table, GetUserId());
#else
    return pg_class_ownercheck(table, GetUserId());
#endif
}

// Sets search_path to the safe one until the settings' nesting level ends, so that functions that
// run with the owner's rights find nothing of the caller's. The server does that for maintenance
// from PostgreSQL 17 on, where a caller may be one who was granted MAINTAIN.
inline void restrict_search_path() {
#if PG_VERSION_NUM >= 170000
    RestrictSearchPath();
#endif
}

// True when the current user may call the function.
inline bool may_call(Oid function) {
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(ProcedureRelationId, function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#else
    return pg_proc_aclcheck(function, GetUserId(), ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

// ---- the planner ----

// The estimated number of elements of an array.
inline double array_length([[maybe_unused]] PlannerInfo* root, Node* array) {
#if PG_VERSION_NUM >= 170000
    return estimate_array_length(root, array);
#else
    return estimate_array_length(array);
#endif
}

// Before PostgreSQL 16 the tree walkers take an untyped callback, to which C++ converts only by a
// cast. The cast goes by way of void (*)(), which compilers take for any function without warning.
template <typename Result>
auto tree_callback(Result (*callback)(Node* node, void* context)) {
#if PG_VERSION_NUM < 160000
    return reinterpret_cast<Result (*)()>(reinterpret_cast<void (*)()>(callback));
#else
    return callback;
#endif
}

inline Node* mutate_children(Node* node, Node* (*mutator)(Node*, void*), void* context) {
    return expression_tree_mutator(node, tree_callback(mutator), context);
}

inline bool walk_children(Node* node, bool (*walker)(Node*, void*), void* context) {
    return expression_tree_walker(node, tree_callback(walker), context);
}

// The plan of a query, which may run in parallel.
inline PlannedStmt* plan_query(Query* query, const char* statement, ParamListInfo parameters) {
#if PG_VERSION_NUM >= 190000
    return pg_plan_query(query, statement, CURSOR_OPT_PARALLEL_OK, parameters, nullptr);
#else
    return pg_plan_query(query, statement, CURSOR_OPT_PARALLEL_OK, parameters);
#endif
}

// Runs a plan to its end, once.
inline void run_plan(QueryDesc* query) {
#if PG_VERSION_NUM >= 180000
    ExecutorRun(query, ForwardScanDirection, 0);
#else
    ExecutorRun(query, ForwardScanDirection, 0, true);
#endif
}

// The hook that the planner calls when it opens a table (src/planner/README.md):
//
//   table_hook()        the server's variable
//   OpenedTable         the hook's arguments
//   kTableHookTo<look>  a function for the hook that calls `look`
//
// PostgreSQL 19 calls its hook also for range table entries that are not tables.
#if PG_VERSION_NUM >= 190000
using TableHook = build_simple_rel_hook_type;
inline TableHook& table_hook() { return build_simple_rel_hook; }
struct OpenedTable {
    PlannerInfo* root;
    RelOptInfo* relation;
    RangeTblEntry* entry;

    bool is_table() const { return entry->rtekind == RTE_RELATION; }
    void hand_to(TableHook hook) const { hook(root, relation, entry); }
};
template <void (*look)(const OpenedTable&)>
constexpr TableHook kTableHookTo =
    [](PlannerInfo* root, RelOptInfo* relation, RangeTblEntry* entry) {
        look({root, relation, entry});
    };
#else
using TableHook = get_relation_info_hook_type;
inline TableHook& table_hook() { return get_relation_info_hook; }
struct OpenedTable {
    PlannerInfo* root;
    RelOptInfo* relation;
    Oid oid;
    bool has_children;

    bool is_table() const { return true; }
    void hand_to(TableHook hook) const { hook(root, oid, has_children, relation); }
};
template <void (*look)(const OpenedTable&)>
constexpr TableHook kTableHookTo =
    [](PlannerInfo* root, Oid oid, bool has_children, RelOptInfo* relation) {
        look({root, relation, oid, has_children});
    };
#endif

} // namespace simhash
