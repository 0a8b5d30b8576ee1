// simhash_cluster: the groups by chains (groups.hpp) of the rows of a partition. They are found
// when the first row is asked for. The limit of memory is that of a hash table, shared out as in
// table_functions.cpp.
#include "whole_tables/codes.hpp"
#include "whole_tables/collector.hpp"
#include "whole_tables/groups.hpp"

using namespace simhash;

namespace {

// The clusters of a partition. The name of each is its least fingerprint.
class Clusters {
  public:
    // In the current memory context, in which all stays until it is reset.
    explicit Clusters(int32 radius)
        : pool_(CurrentMemoryContext, memory_ / 2), copies_(&pool_),
          values_(&pool_, memory_ / 2, radius), fingerprints_(&pool_) {}

    void add(Datum fingerprint, bool is_null) {
        values_.add(RowNumber(fingerprints_.size()), fingerprint, is_null);
        fingerprints_.add(is_null ? 0 : to_ordered(DatumGetInt64(fingerprint)));
    }

    // To be called after the last row was added.
    void find() {
        std::optional<Models> models;
        values_.find_models(fingerprints_.size(), &copies_, &models);
        values_.begin_search(&*models, nullptr, memory_ / 8 * 3, false);
        links_.emplace(&pool_, copies_.rows());
        links_->find(&values_, &*models, &copies_);
        models->release();
        // The least one of a cluster comes to its first row.
        for (size_t row = 0; row < fingerprints_.size(); row++) {
            CHECK_FOR_INTERRUPTS();
            RowNumber first = links_->original_of(RowNumber(row));
            if (first != row)
                fingerprints_.set(first, std::min(fingerprints_[first], fingerprints_[row]));
        }
    }

    int64 name(size_t row) {
        return from_ordered(fingerprints_[links_->original_of(RowNumber(row))]);
    }

  private:
    size_t memory_ = get_hash_memory_limit();
    PagePool pool_;
    Copies copies_;
    Codes values_;
    PagedArray<uint64_t> fingerprints_; // of each row; of a cluster's first row its name
    std::optional<Links> links_;
};

// The server keeps this for the partition. It begins as zeros.
struct Partition {
    bool ready;
    Clusters* clusters; // null where the radius is NULL
};

// The radius of a row of the partition; nothing for NULL.
std::optional<int32> radius_of(WindowObject window, int64 row) {
    bool is_null, is_out;
    // False: the mark does not move, as later calls look at this row again.
    Datum value =
        WinGetFuncArgInPartition(window, 1, int(row), WINDOW_SEEK_HEAD, false, &is_null, &is_out);
    return is_null ? std::nullopt : std::optional(DatumGetInt32(value));
}

// The radius is an argument, so it may be a column. A search has one radius.
void check_same_radius(WindowObject window, int64 rows, std::optional<int32> radius) {
    for (int64 row = 0; row < rows; row++) {
        CHECK_FOR_INTERRUPTS();
        if (radius_of(window, row) != radius)
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

// Looks for the clusters of a partition when its first row is asked for.
void find_partition_clusters(FunctionCallInfo fcinfo, WindowObject window, Partition* partition) {
    int64 rows = WinGetPartitionRowCount(window);
    check_row_count(rows);
    check_not_volatile(fcinfo);
    // The radius is read and checked before the rows are collected, so a wrong one costs nothing.
    std::optional<int32> radius = radius_of(window, 0);
    if (radius)
        check_radius(*radius, kFingerprintBits);
    // A constant or a parameter is the same in all rows, so a pass over the rows is saved.
    if (!get_fn_expr_arg_stable(fcinfo->flinfo, 1))
        check_same_radius(window, rows, radius);
    partition->ready = true;
    if (!radius)
        return;
    // This is the context in which the server has put the partition's local memory, and which it
    // resets at the partition's end.
    MemoryContext caller = MemoryContextSwitchTo(GetMemoryChunkContext(partition));
    partition->clusters = new (palloc(sizeof(Clusters))) Clusters(*radius);
    for (int64 row = 0; row < rows; row++) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 0, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        partition->clusters->add(value, is_null);
    }
    partition->clusters->find();
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
    WinGetFuncArgCurrent(window, 0, &is_null);
    if (is_null || partition->clusters == nullptr)
        PG_RETURN_NULL();
    PG_RETURN_INT64(partition->clusters->name(size_t(WinGetCurrentPosition(window))));
}
