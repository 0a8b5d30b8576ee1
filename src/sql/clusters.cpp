// simhash_cluster: the server's side of core/whole/clusters.hpp. It collects the fingerprints of a
// partition, finds the memory, lets the search be cancelled, and hands the names on, row by row.
#include "pg.hpp"

#include <span>

#include "core/whole/clusters.hpp"
#include "sql/collector.hpp"

using namespace simhash;

namespace {

// In the partition's local memory, which starts as zeros.
struct Partition {
    bool ready;
    bool radius_is_null;
    bool any;            // whether there is a fingerprint at all
    ClusterNames names;  // by fingerprint
    uint64_t* row_names; // by row, or null
};

// The radius of the partition's first row; false for NULL.
bool partition_radius(WindowObject window, int32* radius) {
    bool is_null, is_out;
    Datum value =
        WinGetFuncArgInPartition(window, 1, 0, WINDOW_SEEK_HEAD, false, &is_null, &is_out);
    if (is_null)
        return false;
    *radius = DatumGetInt32(value);
    check_radius(*radius);
    return true;
}

void check_same_radius(WindowObject window, int64 row, int32 radius, bool radius_is_null) {
    bool is_null, is_out;
    Datum value =
        WinGetFuncArgInPartition(window, 1, int(row), WINDOW_SEEK_HEAD, false, &is_null, &is_out);
    if (is_null != radius_is_null || (!is_null && DatumGetInt32(value) != radius))
        ereport(ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("radius of simhash_cluster must be the same in all rows of a partition"),
                 errhint("Use a constant, or add the radius to PARTITION BY.")));
}

void forget_row_names(Partition* partition) {
    pfree(partition->row_names);
    partition->row_names = nullptr;
}

void check_row_count(int64 rows) {
    if (rows > INT_MAX) // what a window function can address
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("partition is too large for simhash_cluster"),
                        errdetail("It has %lld rows; the limit is %d.",
                                  static_cast<long long>(rows), INT_MAX)));
}

// The first look at a fingerprint must be as good as a later one.
void check_not_volatile(FunctionCallInfo fcinfo) {
    if (contain_volatile_functions(fcinfo->flinfo->fn_expr))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("arguments of simhash_cluster must not be volatile"),
                        errhint("Compute them in a subquery first.")));
}

// Reads the partition's rows. Leaves their fingerprints in row order in partition->row_names,
// unless there are too many rows for that or many are repeated.
void collect_rows(WindowObject window, int64 rows, int32 radius, bool radius_may_vary,
                  Partition* partition, Collector* collector) {
    MemoryContext context = GetMemoryChunkContext(partition);
    if (size_t(rows) * kBytesPerFingerprint <= get_hash_memory_limit())
        partition->row_names = allocate<uint64_t>(context, size_t(rows));
    for (int64 row = 0; row < rows; ++row) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 0, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        uint64_t fingerprint = is_null ? 0 : to_ordered(DatumGetInt64(value));
        if (!is_null)
            collector->add(fingerprint);
        if (radius_may_vary)
            check_same_radius(window, row, radius, partition->radius_is_null);
        if (partition->row_names != nullptr && !collector->mostly_distinct())
            forget_row_names(partition);
        if (partition->row_names != nullptr)
            partition->row_names[row] = fingerprint;
    }
    collector->finish();
    if (partition->row_names != nullptr && !collector->mostly_distinct())
        forget_row_names(partition);
}

void name_clusters(Partition* partition, std::span<const uint64_t> distinct, const uint32_t* labels,
                   int64 rows) {
    MemoryContext context = GetMemoryChunkContext(partition);
    auto* entries =
        allocate<ClusterNames::Entry>(context, ClusterNames::entries_for(distinct.size()));
    partition->names = ClusterNames(distinct, labels, entries, kPause);
    partition->any = true;
    if (partition->row_names == nullptr)
        return;
    partition->names.replace_by_names({partition->row_names, size_t(rows)}, kPause);
    pfree(entries);
}

// Looks for the clusters of a partition when its first row is asked for.
void find_partition_clusters(FunctionCallInfo fcinfo, WindowObject window, Partition* partition) {
    MemoryContext context = GetMemoryChunkContext(partition); // lives as long as the partition
    int64 rows = WinGetPartitionRowCount(window);
    int32 radius = 0;
    check_row_count(rows);
    check_not_volatile(fcinfo);
    partition->radius_is_null = !partition_radius(window, &radius);
    bool radius_may_vary = !get_fn_expr_arg_stable(fcinfo->flinfo, 1);
    Collector collector(context, size_t(rows));
    collect_rows(window, rows, radius, radius_may_vary, partition, &collector);
    partition->ready = true;
    if (partition->radius_is_null || collector.distinct().empty())
        return;

    NearPairsMemory memory = collector.near_pairs_memory(context);
    uint32_t* labels = allocate<uint32_t>(context, memory.count);
    find_clusters(memory, radius, labels, kPause);
    free_scratch(memory);
    name_clusters(partition, collector.distinct(), labels, rows);
    pfree(labels);
    pfree(memory.fingerprints);
}

// The name of the current row's cluster, whose fingerprint is given.
uint64_t row_name(const Partition* partition, WindowObject window, uint64_t fingerprint) {
    if (partition->row_names != nullptr)
        return partition->row_names[WinGetCurrentPosition(window)];
    uint64_t name;
    if (!partition->any || !partition->names.find(fingerprint, &name))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("argument of simhash_cluster changed its value within the query"),
                        errhint("Check the volatility of the functions in it.")));
    return name;
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_cluster);

Datum simhash_cluster(PG_FUNCTION_ARGS) {
    WindowObject window = PG_WINDOW_OBJECT();
    auto* partition =
        static_cast<Partition*>(WinGetPartitionLocalMemory(window, sizeof(Partition)));
    if (!partition->ready)
        find_partition_clusters(fcinfo, window, partition);
    bool is_null;
    Datum fingerprint = WinGetFuncArgCurrent(window, 0, &is_null);
    if (is_null || partition->radius_is_null)
        PG_RETURN_NULL();
    PG_RETURN_INT64(
        from_ordered(row_name(partition, window, to_ordered(DatumGetInt64(fingerprint)))));
}
}
