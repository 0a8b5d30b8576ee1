// simhash_cluster: the server's side of core/whole/clusters.hpp. When the first row of a partition
// is asked for, it collects the fingerprints of all its rows and searches for the clusters; then it
// returns the name of each row's cluster. The limit of memory is that of a hash table.
#include "pg.hpp"

#include <cmath>

#include "core/whole/clusters.hpp"
#include "sql/arguments.hpp"
#include "sql/collector.hpp"
#include "spill/sorted_runs.hpp"

using namespace simhash;

namespace {

// The fingerprints of a partition's rows in their order, and later the names of their clusters. If
// they do not fit into memory, they are in a temporary file and pass through memory in blocks. The
// file is removed with the last block, or with the memory context: a query need not ask for every
// row.
class RowNames {
  public:
    RowNames(MemoryContext context, size_t rows) : context_(context) {
        // This memory comes beside what the search needs if all fingerprints differ.
        bool fit = rows <= get_hash_memory_limit() / (kBytesPerFingerprint + sizeof(uint64_t));
        room_ = fit ? rows : std::min(rows, kBlock);
        block_ = allocate<uint64_t>(context, room_);
    }

    // Takes the fingerprint of the next row.
    void add(uint64_t fingerprint) {
        if (count_ == room_)
            write_block();
        block_[count_++] = fingerprint;
    }

    // To be called after the last row was added. The clusters are released with the last block.
    void set_clusters(Clusters* clusters) {
        clusters_ = clusters;
        rows_ = begin_ + count_;
        if (file_.exists()) {
            write_block();
            begin_ = 0;
            read_block();
        }
        name_block();
    }

    // Expects that rows are asked for in their order.
    uint64_t name(size_t row) {
        if (row == begin_ + count_) {
            begin_ += count_;
            read_block();
            name_block();
        }
        return block_[row - begin_];
    }

  private:
    static constexpr size_t kBlock = size_t{1} << 13; // rows

    void write_block() {
        if (!file_.exists())
            create_file();
        file_.append(block_, count_ * sizeof(uint64_t));
        begin_ += count_;
        count_ = 0;
    }

    void create_file() {
        // The callback of the context closes the file, also after an error. So no resource owner may
        // close it before.
        file_ = TemporaryFile::create_unowned();
        closing_ = {close_file, this, nullptr};
        MemoryContextRegisterResetCallback(context_, &closing_);
    }

    static void close_file(void* names) { static_cast<RowNames*>(names)->file_.close(); }

    void read_block() {
        count_ = std::min(room_, rows_ - begin_);
        file_.read(int64(begin_ * sizeof(uint64_t)), block_, count_ * sizeof(uint64_t));
    }

    void name_block() {
        clusters_->replace_by_names({block_, count_});
        if (begin_ + count_ < rows_)
            return;
        clusters_->release();
        file_.close();
    }

    MemoryContext context_;
    uint64_t* block_; // [room_], of which count_ are rows, from row begin_ on
    size_t room_;
    size_t begin_ = 0, count_ = 0;
    size_t rows_ = 0;
    TemporaryFile file_;
    MemoryContextCallback closing_;
    Clusters* clusters_ = nullptr;
};

// The server keeps this for the partition. It begins as zeros.
struct Partition {
    bool ready;
    bool radius_is_null;
    RowNames* names;
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

void check_same_radius(WindowObject window, int64 rows, int32 radius, bool radius_is_null) {
    for (int64 row = 0; row < rows; ++row) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 1, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        if (is_null != radius_is_null || (!is_null && DatumGetInt32(value) != radius))
            ereport(
                ERROR,
                (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                 errmsg("radius of simhash_cluster must be the same in all rows of a partition"),
                 errhint("Use a constant, or add the radius to PARTITION BY.")));
    }
}

void check_row_count(int64 rows) {
    if (rows > INT_MAX) // what a window function can address
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("partition is too large for simhash_cluster"),
                        errdetail("It has %lld rows; the limit is %d.",
                                  static_cast<long long>(rows), INT_MAX)));
}

// The arguments of a row are evaluated when the rows are collected and when the row is returned.
// Both must give the same.
void check_not_volatile(FunctionCallInfo fcinfo) {
    if (contain_volatile_functions(fcinfo->flinfo->fn_expr))
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("arguments of simhash_cluster must not be volatile"),
                        errhint("Compute them in a subquery first.")));
}

// Reads the partition's rows. A row whose fingerprint is NULL is in no cluster, and keeps its place
// among the names.
void collect_rows(WindowObject window, int64 rows, Collector* collector, RowNames* names) {
    for (int64 row = 0; row < rows; ++row) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 0, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        uint64_t fingerprint = is_null ? 0 : to_ordered(DatumGetInt64(value));
        if (!is_null)
            collector->add(fingerprint);
        names->add(fingerprint);
    }
    collector->finish();
}

// The HINT names the memory that this many distinct fingerprints need in the worst case.
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

// The clusters of the collected fingerprints, in the current memory context. Their table gets four
// fifths of the memory that the search leaves. It needs the last fifth while it grows.
Clusters* find_clusters(Collector* collector, int32 radius) {
    size_t distinct = collector->count();
    size_t most_bytes = std::min(memory_beside(*collector) / 5 * 4, Clusters::bytes_for(distinct));
    auto* clusters = allocate<Clusters>(CurrentMemoryContext, 1);
    *clusters = Clusters(server_memory(), most_bytes, {report_memory, &distinct}, kPause);
    find_pairs(collector, nullptr, radius, clusters->receiver());
    clusters->finish();
    return clusters;
}

// Looks for the clusters of a partition when its first row is asked for.
void find_partition_clusters(FunctionCallInfo fcinfo, WindowObject window, Partition* partition) {
    // This context lives as long as the partition.
    MemoryContext context = GetMemoryChunkContext(partition);
    int64 rows = WinGetPartitionRowCount(window);
    int32 radius = 0;
    check_row_count(rows);
    check_not_volatile(fcinfo);
    partition->radius_is_null = !partition_radius(window, &radius);
    if (!get_fn_expr_arg_stable(fcinfo->flinfo, 1))
        check_same_radius(window, rows, radius, partition->radius_is_null);
    partition->ready = true;
    if (partition->radius_is_null)
        return;
    Collector collector(context, size_t(rows));
    partition->names = allocate<RowNames>(context, 1);
    *partition->names = RowNames(context, size_t(rows));
    collect_rows(window, rows, &collector, partition->names);
    MemoryContext caller = MemoryContextSwitchTo(context);
    partition->names->set_clusters(find_clusters(&collector, radius));
    MemoryContextSwitchTo(caller);
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
    if (partition->radius_is_null)
        PG_RETURN_NULL();
    bool is_null;
    WinGetFuncArgCurrent(window, 0, &is_null);
    uint64_t name = partition->names->name(size_t(WinGetCurrentPosition(window)));
    if (is_null)
        PG_RETURN_NULL();
    PG_RETURN_INT64(from_ordered(name));
}
}
