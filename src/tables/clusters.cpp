// simhash_cluster, of fingerprints and of codes: the server's side of core/pairs/clusters.hpp. When
// the first row of a partition is asked for, it collects the values of all its rows and searches
// for the clusters; then it returns the name of each row's cluster. The limit of memory is that of
// a hash table.
//
// Codes are linked by their numbers in order, so the least number of a cluster is that of its least
// code.
#include "server/pg.hpp"

#include <cmath>

#include "core/pairs/clusters.hpp"
#include "server/arguments.hpp"
#include "tables/collector.hpp"
#include "tables/near_codes.hpp"
#include "server/sorted_runs.hpp"

using namespace simhash;

namespace {

// The fingerprints of a partition's rows in their order, or the numbers of their codes, and later
// the names of their clusters. If they do not fit into memory, they are in a temporary file and
// pass through memory in batches. The file is removed with the last batch, or with the memory
// context: a query need not ask for every row.
class RowNames {
  public:
    // search_bytes: of a row
    RowNames(MemoryContext context, size_t rows, size_t search_bytes) : context_(context) {
        // This memory comes beside what the search needs if the values of all rows differ.
        bool fit = rows <= get_hash_memory_limit() / (search_bytes + sizeof(uint64_t));
        room_ = fit ? rows : std::min(rows, kBlock);
        batch_ = allocate<uint64_t>(context, room_);
    }

    // Takes the fingerprint of the next row.
    // This is called for each row of the partition, in order, also for one without a value.
    void add(uint64_t fingerprint) {
        if (count_ == room_)
            write_batch();
        batch_[count_++] = fingerprint;
    }

    // To be called after the last row was added. The clusters are released with the last batch.
    void set_clusters(Clusters* clusters) {
        clusters_ = clusters;
        rows_ = begin_ + count_;
        if (file_.exists()) {
            write_batch();
            // The batch was full of the last rows; now the first ones come back.
            begin_ = 0;
            read_batch();
        }
        name_batch();
    }

    // Expects that rows are asked for in their order.
    // The window function is called for the rows in their order, so a batch is read once.
    uint64_t name(size_t row) {
        if (row == begin_ + count_) {
            begin_ += count_;
            read_batch();
            name_batch();
        }
        return batch_[row - begin_];
    }

  private:
    // A batch takes 64 kB.
    static constexpr size_t kBlock = size_t{1} << 13; // rows

    void write_batch() {
        if (!file_.exists())
            create_file();
        file_.append(batch_, count_ * sizeof(uint64_t));
        begin_ += count_;
        count_ = 0;
    }

    void create_file() {
        // The callback of the context closes the file, also after an error. So no resource owner
        // may close it before.
        file_ = TemporaryFile::create_unowned();
        closing_ = {close_file, this, nullptr};
        MemoryContextRegisterResetCallback(context_, &closing_);
    }

    static void close_file(void* names) { static_cast<RowNames*>(names)->file_.close(); }

    // Reads as many rows from begin_ on as the memory holds.
    void read_batch() {
        count_ = std::min(room_, rows_ - begin_);
        file_.read(int64(begin_ * sizeof(uint64_t)), batch_, count_ * sizeof(uint64_t));
    }

    // Names are looked up batch by batch. After the last one nothing else needs the links.
    void name_batch() {
        clusters_->replace_by_names({batch_, count_});
        if (begin_ + count_ < rows_)
            return;
        clusters_->release();
        file_.close();
    }

    MemoryContext context_;
    uint64_t* batch_; // [room_], of which count_ are rows, from row begin_ on
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
    RowNames* names;  // null where the radius is NULL, or there is no code
    NearCodes* codes; // of rows with codes
};

// What differs between fingerprints and codes.
struct Kind {
    void (*check_radius)(int32 radius);
    // Looks for the clusters of a partition with this many rows. The current memory context lives
    // as long as the partition.
    void (*find)(WindowObject window, int64 rows, int32 radius, Partition* partition);
};

// The radius of the partition's first row; false for NULL.
bool partition_radius(WindowObject window, const Kind& kind, int32* radius) {
    bool is_null, is_out;
    // False: the mark does not move, as later calls look at this row again.
    Datum value =
        WinGetFuncArgInPartition(window, 1, 0, WINDOW_SEEK_HEAD, false, &is_null, &is_out);
    if (is_null)
        return false;
    *radius = DatumGetInt32(value);
    kind.check_radius(*radius);
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
    for (int64 row = 0; row < rows; row++) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 0, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        // The 0 keeps the place. Its name is looked up, too, and row_name() ignores it.
        uint64_t fingerprint = is_null ? 0 : to_ordered(DatumGetInt64(value));
        if (!is_null)
            collector->add(fingerprint);
        names->add(fingerprint);
    }
    collector->finish();
}

// The same for codes. A row without one is not among them.
void collect_codes(WindowObject window, int64 rows, CodeSet* codes) {
    for (int64 row = 0; row < rows; row++) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 0, int(row), WINDOW_SEEK_HEAD, false,
                                               &is_null, &is_out);
        if (!is_null)
            codes->add(value, uint64_t(row));
    }
}

// Expects (row, number of the code) of the rows with codes.
void name_rows(ExternalSorter<Entry>* of_rows, int64 rows, RowNames* names) {
    int64 next = 0;
    of_rows->finish();
    // Rows without a code are missing among the entries: each gets a 0, which keeps its place.
    for (Entry entry{}; of_rows->next(&entry); names->add(entry.tid), next++)
        for (; next < int64(entry.key); next++)
            names->add(0);
    for (; next < rows; next++)
        names->add(0);
    of_rows->release();
}

// What is searched.
struct Searched {
    const char* what;
    size_t count;         // distinct ones
    size_t bytes_of_each; // in memory
};

// The HINT names the memory that this many need in the worst case.
[[noreturn]] void report_memory(void* context, size_t entries) {
    auto* searched = static_cast<Searched*>(context);
    size_t allowed = get_hash_memory_limit();
    double needed = double(searched->count) * double(searched->bytes_of_each);
    ereport(ERROR, (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                    errmsg("not enough memory to link the %s of clusters", searched->what),
                    errdetail("%zu %s are linked to a smaller one so far, and work_mem with "
                              "hash_mem_multiplier allows %zu kB.",
                              entries, searched->what, allowed / 1024),
                    errhint("Set work_mem to '%.0fMB' for this query, which is enough whatever the "
                            "clusters are.",
                            ceil(needed / 1024 / 1024 / hash_mem_multiplier))));
}

// The clusters of what find(receiver) searches, in the current memory context. Their table gets
// four fifths of the memory that the search leaves. It needs the last fifth while it grows.
template <typename Find>
Clusters* find_clusters(Searched searched, size_t memory, const Find& find) {
    size_t most_bytes = std::min(memory / 5 * 4, Clusters::bytes_for(searched.count));
    auto* clusters = allocate<Clusters>(CurrentMemoryContext, 1);
    *clusters = Clusters(server_memory(), most_bytes, {report_memory, &searched}, kPause);
    find(clusters->receiver());
    clusters->finish();
    return clusters;
}

Clusters* clusters_of(Collector* collector, int32 radius) {
    return find_clusters(
        {"fingerprints", collector->count(), kBytesPerFingerprint}, memory_beside(*collector),
        [&](const PairReceiver& receiver) { find_pairs(collector, nullptr, radius, receiver); });
}

Clusters* clusters_of(NearCodes* codes, int32 radius) {
    int lanes = lane_count_of_bits(codes->bits());
    return find_clusters({"codes", codes->count(0), bytes_per_code(lanes)},
                         NearCodes::memory_of_results(lanes),
                         [&](const PairReceiver& receiver) { codes->search(radius, receiver); });
}

RowNames* new_names(MemoryContext context, int64 rows, size_t search_bytes) {
    return new (allocate<RowNames>(context, 1)) RowNames(context, size_t(rows), search_bytes);
}

void find_fingerprint_clusters(WindowObject window, int64 rows, int32 radius,
                               Partition* partition) {
    MemoryContext context = CurrentMemoryContext;
    // The number of rows is known, so the collector can estimate how many distinct ones there will
    // be.
    Collector collector(context, size_t(rows));
    partition->names = new_names(context, rows, kBytesPerFingerprint);
    collect_rows(window, rows, &collector, partition->names);
    partition->names->set_clusters(clusters_of(&collector, radius));
}

void find_code_clusters(WindowObject window, int64 rows, int32 radius, Partition* partition) {
    MemoryContext context = CurrentMemoryContext;
    CodeSet set(context, 1, true);
    collect_codes(window, rows, &set);
    // No row has a code, so no row is in a cluster: partition->names stays null.
    if (set.bits() == 0)
        return;
    ExternalSorter<Entry> of_rows(NearCodes::memory_to_sort(set.lanes()));
    // It stays with the partition: its rows' clusters are named by codes, which are read when the
    // rows are returned.
    partition->codes = new (allocate<NearCodes>(context, 1)) NearCodes(&set, &of_rows);
    partition->names = new_names(context, rows, bytes_per_code(set.lanes()));
    name_rows(&of_rows, rows, partition->names);
    partition->names->set_clusters(
        clusters_of(partition->codes, code_radius(radius, partition->codes->bits())));
}

constexpr Kind kFingerprints = {check_radius, find_fingerprint_clusters};
constexpr Kind kCodes = {check_code_radius, find_code_clusters};

// Looks for the clusters of a partition when its first row is asked for.
void find_partition_clusters(FunctionCallInfo fcinfo, WindowObject window, const Kind& kind,
                             Partition* partition) {
    int64 rows = WinGetPartitionRowCount(window);
    int32 radius = kRadiusOfLength;
    bool is_given = PG_NARGS() > 1;
    check_row_count(rows);
    check_not_volatile(fcinfo);
    // The radius is read and checked before the rows are collected, so a wrong one costs nothing.
    bool radius_is_null = is_given && !partition_radius(window, kind, &radius);
    // A constant or a parameter is the same in all rows, so a pass over the rows is saved.
    if (is_given && !get_fn_expr_arg_stable(fcinfo->flinfo, 1))
        check_same_radius(window, rows, radius, radius_is_null);
    partition->ready = true;
    if (radius_is_null)
        return;
    // This is the context in which the server has put the partition's local memory, and which it
    // resets at the partition's end.
    MemoryContext caller = MemoryContextSwitchTo(GetMemoryChunkContext(partition));
    kind.find(window, rows, radius, partition);
    MemoryContextSwitchTo(caller);
}

// The row's partition, whose clusters are found.
Partition* partition_of(FunctionCallInfo fcinfo, WindowObject window, const Kind& kind) {
    auto* partition =
        static_cast<Partition*>(WinGetPartitionLocalMemory(window, sizeof(Partition)));
    if (!partition->ready)
        find_partition_clusters(fcinfo, window, kind, partition);
    return partition;
}

// Sets *name to the name of the row's cluster; false where it is in none.
bool row_name(WindowObject window, Partition* partition, uint64_t* name) {
    if (partition->names == nullptr)
        return false;
    bool is_null;
    // The name of a row without a value means nothing; the argument tells which rows these are.
    WinGetFuncArgCurrent(window, 0, &is_null);
    *name = partition->names->name(size_t(WinGetCurrentPosition(window)));
    return !is_null;
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_cluster);
PG_FUNCTION_INFO_V1(simhash_bit_cluster);
}

// (fp bigint, radius integer).
Datum simhash_cluster(PG_FUNCTION_ARGS) {
    WindowObject window = PG_WINDOW_OBJECT();
    Partition* partition = partition_of(fcinfo, window, kFingerprints);
    uint64_t name;
    if (!row_name(window, partition, &name))
        PG_RETURN_NULL();
    PG_RETURN_INT64(from_ordered(name));
}

// (code bit [, radius integer]).
Datum simhash_bit_cluster(PG_FUNCTION_ARGS) {
    WindowObject window = PG_WINDOW_OBJECT();
    Partition* partition = partition_of(fcinfo, window, kCodes);
    uint64_t name;
    if (!row_name(window, partition, &name))
        PG_RETURN_NULL();
    return partition->codes->code(0, size_t(name));
}
