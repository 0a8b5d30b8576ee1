// simhash_cluster: the server's side of core/whole/clusters.hpp. It collects the fingerprints of a
// partition, finds the memory, lets the search be cancelled, and hands the names on, row by row.
#include "pg.hpp"

#include <cmath>

#include "core/whole/clusters.hpp"
#include "sql/arguments.hpp"
#include "sql/collector.hpp"

using namespace simhash;

namespace {

// In the partition's local memory, which starts as zeros.
struct Partition {
    bool ready;
    bool radius_is_null;
    Clusters* clusters;  // by fingerprint, or null
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

// What a partition of so many distinct fingerprints needs, whatever its clusters are.
[[noreturn]] void report_memory(void* distinct, size_t entries) {
    size_t allowed = get_hash_memory_limit();
    double needed = double(*static_cast<size_t*>(distinct)) * kBytesPerFingerprint;
    ereport(ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
             errmsg("not enough memory to link the fingerprints of clusters"),
             errdetail("%zu fingerprints are linked to a smaller one so far, and work_mem with "
                       "hash_mem_multiplier allows %zu kB.",
                       entries, allowed / 1024),
             errhint("Set work_mem to '%.0fMB' for this query, which is enough whatever the "
                     "clusters are.",
                     ceil(needed / 1024 / 1024 / hash_mem_multiplier))));
}

// The clusters of collected fingerprints, in the current memory context. The table has what the
// search leaves, of which it needs a fifth while it grows.
Clusters* find_clusters(Collector* collector, int32 radius) {
    size_t distinct = collector->count();
    size_t most_bytes = std::min(memory_beside(*collector) / 5 * 4, Clusters::bytes_for(distinct));
    auto* clusters = allocate<Clusters>(CurrentMemoryContext, 1);
    *clusters = Clusters(server_memory(), most_bytes, {report_memory, &distinct}, kPause);
    find_pairs(collector, nullptr, radius, clusters->receiver());
    clusters->finish();
    return clusters;
}

// Names the rows, where they are known, and gives up the clusters.
void name_rows(Partition* partition, int64 rows) {
    partition->clusters->replace_by_names({partition->row_names, size_t(rows)});
    partition->clusters->release();
    partition->clusters = nullptr;
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
    if (partition->radius_is_null || collector.count() == 0) {
        collector.release();
        return;
    }
    MemoryContext caller = MemoryContextSwitchTo(context);
    partition->clusters = find_clusters(&collector, radius);
    MemoryContextSwitchTo(caller);
    if (partition->row_names != nullptr)
        name_rows(partition, rows);
}

// The name of the current row's cluster, whose fingerprint is given.
uint64_t row_name(const Partition* partition, WindowObject window, uint64_t fingerprint) {
    return partition->row_names != nullptr ? partition->row_names[WinGetCurrentPosition(window)]
                                           : partition->clusters->name_of(fingerprint);
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
