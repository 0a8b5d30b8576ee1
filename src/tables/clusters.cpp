// simhash_cluster: the server's side of core/pairs/clusters.hpp. When the first row of a partition
// is asked for, it collects the fingerprints of all its rows and searches for the clusters; then it
// returns the name of each row's cluster. The limit of memory is that of a hash table.
#include <cmath>

#include "core/pairs/clusters.hpp"
#include "server/arguments.hpp"
#include "server/paged_array.hpp"
#include "tables/collector.hpp"

using namespace simhash;

namespace {

// The fingerprints of a partition's rows in their order, and later the names of their clusters.
// They are removed with the last name, or with the memory context: not every row need be asked for.
class RowNames {
  public:
    // What rows take comes beside what the search needs if the fingerprints of all differ.
    explicit RowNames(MemoryContext context)
        : pool_(context, get_hash_memory_limit() / (kBytesPerFingerprint + sizeof(uint64_t)) *
                             sizeof(uint64_t)),
          rows_(&pool_) {}

    // Takes the fingerprint of the next row of the partition, also of one without a value.
    void add(uint64_t fingerprint) { rows_.add(fingerprint); }

    // To be called after the last row was added. The clusters are released with the last name.
    void set_clusters(Clusters* clusters) { clusters_ = clusters; }

    // Expects that rows are asked for in their order.
    uint64_t name(size_t row) {
        if (row % kBatch == 0)
            name_batch(row);
        return batch_[row % kBatch];
    }

  private:
    static constexpr size_t kBatch = 256; // rows

    void name_batch(size_t begin) {
        size_t count = std::min(kBatch, rows_.size() - begin);
        for (size_t i = 0; i < count; i++)
            batch_[i] = rows_[begin + i];
        clusters_->replace_by_names({batch_, count});
        if (begin + count < rows_.size())
            return;
        clusters_->release();
        rows_.close();
    }

    PagePool pool_;
    PagedArray<uint64_t> rows_;
    Clusters* clusters_ = nullptr;
    uint64_t batch_[kBatch]; // names
};

// The server keeps this for the partition. It begins as zeros.
struct Partition {
    bool ready;
    RowNames* names; // null where the radius is NULL
};

// The radius of the partition's first row; false for NULL.
bool partition_radius(WindowObject window, int32* radius) {
    bool is_null, is_out;
    // False: the mark does not move, as later calls look at this row again.
    Datum value =
        WinGetFuncArgInPartition(window, 1, 0, WINDOW_SEEK_HEAD, false, &is_null, &is_out);
    if (is_null)
        return false;
    *radius = DatumGetInt32(value);
    check_radius(*radius, kFingerprintBits);
    return true;
}

// The radius is an argument, so it may be a column. A search has one radius.
void check_same_radius(WindowObject window, int64 rows, int32 radius, bool radius_is_null) {
    for (int64 row = 0; row < rows; row++) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 1, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        if (is_null != radius_is_null || (!is_null && DatumGetInt32(value) != radius))
            ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                    errmsg("radius of simhash_cluster must be the same in all rows of a partition"),
                    errhint("Use a constant, or add the radius to PARTITION BY."));
    }
}

void check_row_count(int64 rows) {
    if (rows > INT_MAX) // what a window function can address
        ereport(
            ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
            errmsg("partition is too large for simhash_cluster"),
            errdetail("It has %lld rows; the limit is %d.", static_cast<long long>(rows), INT_MAX));
}

// The arguments of a row are evaluated when the rows are collected and when the row is returned.
// Both must give the same.
void check_not_volatile(FunctionCallInfo fcinfo) {
    if (contain_volatile_functions(fcinfo->flinfo->fn_expr))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("arguments of simhash_cluster must not be volatile"),
                errhint("Compute them in a subquery first."));
}

// Reads the partition's rows. One whose fingerprint is NULL is in no cluster, and keeps its place.
void collect_rows(WindowObject window, int64 rows, Collector* collector, RowNames* names) {
    for (int64 row = 0; row < rows; row++) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 0, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        // The 0 keeps the place. Its name is looked up, too, and simhash_cluster() ignores it.
        uint64_t fingerprint = is_null ? 0 : to_ordered(DatumGetInt64(value));
        if (!is_null)
            collector->add(fingerprint);
        names->add(fingerprint);
    }
    collector->finish();
}

// The HINT names the memory that this many fingerprints need in the worst case.
[[noreturn]] void report_memory(void* fingerprints, size_t linked) {
    size_t allowed = get_hash_memory_limit();
    double needed = double(*static_cast<size_t*>(fingerprints)) * kBytesPerFingerprint;
    ereport(ERROR, errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
            errmsg("not enough memory to link the fingerprints of clusters"),
            errdetail("%zu fingerprints are linked to a smaller one so far, and work_mem "
                      "with hash_mem_multiplier allows %zu kB.",
                      linked, allowed / 1024),
            errhint("Set work_mem to '%.0fMB' for this query, which is enough whatever the "
                    "clusters are.",
                    ceil(needed / 1024 / 1024 / hash_mem_multiplier)));
}

// The clusters of a finished set, in the current memory context. Their table gets four fifths of
// the memory that the search leaves. It needs the last fifth while it grows.
Clusters* find_clusters(Collector* collector, int32 radius) {
    size_t count = collector->count();
    size_t most_bytes = std::min(memory_beside(*collector) / 5 * 4, Clusters::bytes_for(count));
    auto* clusters = allocate<Clusters>(CurrentMemoryContext, 1);
    *clusters = Clusters(server_memory(), most_bytes, {report_memory, &count}, kPause);
    find_pairs(collector, nullptr, radius, clusters->receiver());
    clusters->finish();
    return clusters;
}

// Looks for the clusters of a partition when its first row is asked for.
void find_partition_clusters(FunctionCallInfo fcinfo, WindowObject window, Partition* partition) {
    int64 rows = WinGetPartitionRowCount(window);
    int32 radius = 0;
    check_row_count(rows);
    check_not_volatile(fcinfo);
    // The radius is read and checked before the rows are collected, so a wrong one costs nothing.
    bool radius_is_null = !partition_radius(window, &radius);
    // A constant or a parameter is the same in all rows, so a pass over the rows is saved.
    if (!get_fn_expr_arg_stable(fcinfo->flinfo, 1))
        check_same_radius(window, rows, radius, radius_is_null);
    partition->ready = true;
    if (radius_is_null)
        return;
    // This is the context in which the server has put the partition's local memory, and which it
    // resets at the partition's end.
    MemoryContext context = GetMemoryChunkContext(partition);
    MemoryContext caller = MemoryContextSwitchTo(context);
    Collector collector(context);
    partition->names = new (allocate<RowNames>(context, 1)) RowNames(context);
    collect_rows(window, rows, &collector, partition->names);
    partition->names->set_clusters(find_clusters(&collector, radius));
    MemoryContextSwitchTo(caller);
}

} // namespace

// (fp bigint, radius integer).
SIMHASH_FUNCTION(simhash_cluster) {
    WindowObject window = PG_WINDOW_OBJECT();
    auto* partition =
        static_cast<Partition*>(WinGetPartitionLocalMemory(window, sizeof(Partition)));
    bool is_null;
    if (!partition->ready)
        find_partition_clusters(fcinfo, window, partition);
    if (partition->names == nullptr)
        PG_RETURN_NULL();
    // Each row's name is asked for, as names come in the order of rows. That of a row without a
    // fingerprint means nothing.
    uint64_t name = partition->names->name(size_t(WinGetCurrentPosition(window)));
    WinGetFuncArgCurrent(window, 0, &is_null);
    if (is_null)
        PG_RETURN_NULL();
    PG_RETURN_INT64(from_ordered(name));
}
