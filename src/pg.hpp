// The server's headers, for C++: the one place that includes them, and the one that knows how
// PostgreSQL 15 to 19 differ. Everything in src/index and src/sql includes this first; nothing in
// src/core may.
#pragma once
#pragma GCC system_header // the server's headers are not held to our warnings
#define SIMHASH_HAS_POSTGRES 1

extern "C" {
#include "postgres.h"
}

// Said before a header is missed that an older server has not got.
#if PG_VERSION_NUM < 150000
#error "simhash needs PostgreSQL 15 or later"
#endif

extern "C" {
#include "fmgr.h"
#include "miscadmin.h"
#include "mb/pg_wchar.h"
#include "access/amapi.h"
#include "access/generic_xlog.h"
#include "access/genam.h"
#include "access/parallel.h"
#include "access/relation.h"
#include "access/reloptions.h"
#include "access/relscan.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "access/xloginsert.h"
#include "access/xlogrecovery.h"
#include "catalog/index.h"
#include "catalog/namespace.h"
#include "catalog/pg_am.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_authid.h"
#include "catalog/pg_class.h"
#include "catalog/pg_enum.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_language.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "commands/defrem.h"
#include "commands/progress.h"
#include "commands/tablespace.h"
#include "commands/vacuum.h"
#include "executor/instrument.h"
#include "executor/spi.h"
#include "funcapi.h"
#include "libpq/pqformat.h"
#include "nodes/execnodes.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/pathnodes.h"
#include "nodes/supportnodes.h"
#include "nodes/tidbitmap.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/planner.h"
#include "optimizer/pathnode.h"
#include "optimizer/plancat.h"
#include "parser/parse_oper.h"
#include "parser/parsetree.h"
#include "partitioning/partdesc.h"
#include "pgstat.h"
#include "port/pg_crc32c.h"
#include "rewrite/rewriteManip.h"
#include "postmaster/autovacuum.h"
#include "postmaster/bgworker_internals.h"
#include "storage/barrier.h"
#include "storage/buf_internals.h"
#include "storage/buffile.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "storage/fd.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "storage/procarray.h"
#include "storage/sharedfileset.h"
#include "storage/spin.h"
#include "tcop/tcopprot.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/fmgrprotos.h"
#include "tsearch/ts_type.h"
#include "catalog/indexing.h"
#include "utils/guc.h"
#include "utils/index_selfuncs.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/partcache.h"
#include "utils/regproc.h"
#include "utils/rel.h"
#include "utils/spccache.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"
#include "utils/tuplestore.h"
#include "utils/typcache.h"
#include "utils/wait_event.h"
#include "windowapi.h"
#if PG_VERSION_NUM >= 160000
#include "nodes/miscnodes.h"
#include "varatt.h"
#endif
}

// PostgreSQL 16 lets input functions report bad input to a caller who asked for it; before, it is
// an error.
#if PG_VERSION_NUM < 160000
#define ereturn(context, dummy_value, ...) ereport(ERROR, __VA_ARGS__)
#endif

// PostgreSQL 18 shows a library's name and version (pg_get_loaded_modules).
#if PG_VERSION_NUM >= 180000
#define SIMHASH_MODULE_MAGIC(module, module_version)                                               \
    PG_MODULE_MAGIC_EXT(.name = module, .version = module_version)
#else
#define SIMHASH_MODULE_MAGIC(module, module_version) PG_MODULE_MAGIC
#endif

// The modes of LockBuffer() have a type of their own from PostgreSQL 19 on.
#if PG_VERSION_NUM < 190000
using BufferLockMode = int;
#endif

namespace simhash {

// Adds a page to the relation; returns it pinned and exclusively locked, all zeros.
inline Buffer extend_relation(Relation relation, ForkNumber fork = MAIN_FORKNUM) {
#if PG_VERSION_NUM >= 160000
    return ExtendBufferedRel(BMR_REL(relation), fork, nullptr, EB_LOCK_FIRST);
#else
    // Also where the relation is this transaction's own, whose parallel workers may extend it.
    LockRelationForExtension(relation, ExclusiveLock);
    Buffer buffer = ReadBufferExtended(relation, fork, P_NEW, RBM_ZERO_AND_LOCK, nullptr);
    UnlockRelationForExtension(relation, ExclusiveLock);
    return buffer;
#endif
}

struct NewBlocks {
    BlockNumber first;
    int count;
};

// Adds several pages to the relation, all zeros: as many as wanted, or fewer.
inline NewBlocks extend_relation_by(Relation relation, int wanted) {
#if PG_VERSION_NUM >= 160000
    constexpr int kMost = 64;
    Buffer buffers[kMost];
    uint32 count;
    BlockNumber first =
        ExtendBufferedRelBy(BMR_REL(relation), MAIN_FORKNUM, nullptr, 0,
                            uint32(wanted < kMost ? wanted : kMost), buffers, &count);
    for (uint32 i = 0; i < count; i++)
        ReleaseBuffer(buffers[i]);
    return {first, int(count)};
#else
    LockRelationForExtension(relation, ExclusiveLock);
    BlockNumber first = RelationGetNumberOfBlocks(relation);
    for (int i = 0; i < wanted; i++)
        ReleaseBuffer(ReadBuffer(relation, P_NEW));
    UnlockRelationForExtension(relation, ExclusiveLock);
    return {first, wanted};
#endif
}

// The table that is vacuumed, where the server says so; null stands for the strictest horizon.
inline Relation vacuum_heap([[maybe_unused]] IndexVacuumInfo* info) {
#if PG_VERSION_NUM >= 160000
    return info->heaprel;
#else
    return nullptr;
#endif
}

// Writes to a temporary file, or reads from it, at a position; all of it, or raises an error.
inline void write_at(File file, const void* data, size_t bytes, int64 position) {
    errno = 0;
    auto written = FileWrite(file, static_cast<char*>(const_cast<void*>(data)), int(bytes),
                             position, WAIT_EVENT_BUFFILE_WRITE);
    if (written != decltype(written)(bytes)) {
        if (errno == 0)
            errno = ENOSPC;
        ereport(ERROR,
                (errcode_for_file_access(), errmsg("could not write to temporary file: %m")));
    }
}
inline void read_at(File file, void* out, size_t bytes, int64 position) {
    auto done =
        FileRead(file, static_cast<char*>(out), int(bytes), position, WAIT_EVENT_BUFFILE_READ);
    if (done < 0)
        ereport(ERROR,
                (errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
    if (done != decltype(done)(bytes))
        ereport(ERROR, (errcode_for_file_access(),
                        errmsg("could not read from temporary file: read only %zu of %zu bytes",
                               size_t(done), bytes)));
}

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
    // For these the server does without: TRUNCATE, and temporary tables that are emptied at commit.
    if (RelationUsesLocalBuffers(heap) || RelationGetNumberOfBlocks(heap) == 0)
        return 0;
    info->ii_ParallelWorkers =
        plan_create_index_workers(RelationGetRelid(heap), RelationGetRelid(index));
    return info->ii_ParallelWorkers;
#endif
}

// From PostgreSQL 17 on an access method says whether it can build in parallel.
constexpr void set_can_build_parallel([[maybe_unused]] IndexAmRoutine* am) {
#if PG_VERSION_NUM >= 170000
    am->amcanbuildparallel = true;
#endif
}

// True when the current user may maintain the table: its owner, superusers, and who was granted so.
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

// How many elements an array seems to have.
inline double array_length([[maybe_unused]] PlannerInfo* root, Node* array) {
#if PG_VERSION_NUM >= 170000
    return estimate_array_length(root, array);
#else
    return estimate_array_length(array);
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

// Raises an error where old_snapshot_threshold (until PostgreSQL 16) let vacuum remove what the
// snapshot would see. For each page that a scan reads.
inline void test_for_old_snapshot([[maybe_unused]] Snapshot snapshot,
                                  [[maybe_unused]] Relation relation, [[maybe_unused]] Page page) {
#if PG_VERSION_NUM < 170000
    TestForOldSnapshot(snapshot, relation, page);
#endif
}

// True when the relation, which does not shrink, has the block: indexes never do, tables only under
// a lock that excludes scans. Asks the file system only where this backend does not know yet.
inline bool block_exists(Relation relation, BlockNumber block) {
    BlockNumber known = RelationGetSmgr(relation)->smgr_cached_nblocks[MAIN_FORKNUM];
    return (known != InvalidBlockNumber && block < known) ||
           block < RelationGetNumberOfBlocks(relation);
}

// Counts that a page was found in shared buffers: for the relation, and from PostgreSQL 16 on for
// pg_stat_io.
inline void count_buffer_hit(Relation relation) {
    pgstat_count_buffer_read(relation);
    pgstat_count_buffer_hit(relation);
#if PG_VERSION_NUM >= 180000
    pgstat_count_io_op(IOOBJECT_RELATION, IOCONTEXT_NORMAL, IOOP_HIT, 1, 0);
#elif PG_VERSION_NUM >= 160000
    pgstat_count_io_op(IOOBJECT_RELATION, IOCONTEXT_NORMAL, IOOP_HIT);
#endif
}

// Pins the page if this (shared) buffer holds it. The server's function counts it for EXPLAIN alone.
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

// True when one more use of the shared buffer would not count: it is kept in memory as long as any.
inline bool use_count_is_full(Buffer buffer) {
#if PG_VERSION_NUM >= 190000
    uint64 state = pg_atomic_read_u64(&GetBufferDescriptor(buffer - 1)->state);
#else
    uint32 state = pg_atomic_read_u32(&GetBufferDescriptor(buffer - 1)->state);
#endif
    return BUF_STATE_GET_USAGECOUNT(state) >= BM_MAX_USAGE_COUNT;
}

// What locking the shared buffer will read.
inline const void* buffer_descriptor(Buffer buffer) {
    return GetBufferDescriptor(buffer - 1);
}

// The block that is in the shared buffer, which is pinned.
inline BlockNumber block_in_buffer(Buffer buffer) {
    return GetBufferDescriptor(buffer - 1)->tag.blockNum;
}

// True when this backend holds the content lock of the page: locking it again would wait for ever.
// Who holds any such lock also holds interrupts off; that is told sooner.
inline bool page_locked_by_me(Buffer buffer) {
    if (InterruptHoldoffCount == 0 || BufferIsLocal(buffer))
        return false;
#if PG_VERSION_NUM >= 190000
    return BufferIsLockedByMe(buffer);
#else
    return LWLockHeldByMe(BufferDescriptorGetContentLock(GetBufferDescriptor(buffer - 1)));
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

// Tells the server which strategy is equality, in every operator family of the access method. From
// PostgreSQL 18 on logical replication then finds rows by the index.
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

// What an access method's handler returns. PostgreSQL 19 keeps the pointer; before, the server copies
// what it leads to, and frees it.
inline const IndexAmRoutine* handed_over(const IndexAmRoutine* routine) {
#if PG_VERSION_NUM >= 190000
    return routine;
#else
    auto* copy = static_cast<IndexAmRoutine*>(palloc(sizeof(IndexAmRoutine)));
    *copy = *routine;
    return copy;
#endif
}

// The planner's hook that is called when it opens a table, what it is called with, and a function
// for it that calls `look`. The hook of PostgreSQL 19 is also called for what is no table.
#if PG_VERSION_NUM >= 190000
using TableHook = build_simple_rel_hook_type;
inline TableHook& table_hook() {
    return build_simple_rel_hook;
}
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
inline TableHook& table_hook() {
    return get_relation_info_hook;
}
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

inline bool in_autovacuum_worker() {
#if PG_VERSION_NUM >= 170000
    return AmAutoVacuumWorkerProcess();
#else
    return IsAutoVacuumWorkerProcess();
#endif
}

inline void vacuum_delay() {
#if PG_VERSION_NUM >= 180000
    vacuum_delay_point(false);
#else
    vacuum_delay_point();
#endif
}

// The tree walkers take an untyped callback before PostgreSQL 16, which C++ does not convert to by
// itself.
using NodeMutator = Node* (*)(Node* node, void* context);
using NodeWalker = bool (*)(Node* node, void* context);

inline Node* mutate_children(Node* node, NodeMutator mutator, void* context) {
#if PG_VERSION_NUM < 160000
    return expression_tree_mutator(node, (Node * (*)()) mutator, context);
#else
    return expression_tree_mutator(node, mutator, context);
#endif
}

inline bool walk_children(Node* node, NodeWalker walker, void* context) {
#if PG_VERSION_NUM < 160000
    return expression_tree_walker(node, (bool (*)())walker, context);
#else
    return expression_tree_walker(node, walker, context);
#endif
}

} // namespace simhash
