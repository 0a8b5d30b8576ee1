// simhash_cluster and simhash_pairs: the server's side of core/whole/clusters.hpp. It collects the
// fingerprints, finds the memory, lets the search be cancelled, and hands the result on.
//
// Fingerprints are compared as unsigned numbers with the sign bit turned over, which keeps the
// order of bigint and all distances.
//
// Memory is what a hash table of the same query may have, work_mem times hash_mem_multiplier: at
// most kBytesPerFingerprint for every distinct fingerprint. Repeated ones are dropped while they
// are collected.
#include "pg.hpp"

#include <cmath>
#include <span>

#include "core/bits/distance.hpp"
#include "core/whole/clusters.hpp"
#include "core/whole/distinct.hpp"
#include "core/whole/radix_sort.hpp"

using namespace simhash;

namespace {

constexpr size_t kBytesPerFingerprint = 40;
constexpr uint64_t kSignBit = uint64_t{1} << 63;

void check_for_interrupts(void*) {
    CHECK_FOR_INTERRUPTS();
}

constexpr Pause kPause = {check_for_interrupts, nullptr};

uint64_t to_ordered(int64 fingerprint) {
    return static_cast<uint64_t>(fingerprint) ^ kSignBit;
}

int64 from_ordered(uint64_t ordered) {
    return static_cast<int64>(ordered ^ kSignBit);
}

void check_radius(int32 radius) {
    if (radius < 0 || radius > kFingerprintBits)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("radius is out of range"),
                        errdetail("The radius is %d.", radius),
                        errhint("Use a radius between 0 and %d.", kFingerprintBits)));
}

template <typename Entry>
Entry* allocate(MemoryContext context, size_t count) {
    return static_cast<Entry*>(MemoryContextAllocHuge(context, Max(count, 1) * sizeof(Entry)));
}

template <typename Entry>
Entry* resize(Entry* entries, size_t count) {
    return static_cast<Entry*>(repalloc_huge(entries, Max(count, 1) * sizeof(Entry)));
}

// ---- collecting ----

// The distinct fingerprints among many. Sorted and rid of repeated ones whenever the array is full;
// it grows only where they are really different.
class Collector {
  public:
    // rows: how many will be added.
    Collector(MemoryContext context, size_t rows)
        : rows_(rows), most_(Max(get_hash_memory_limit() / (2 * sizeof(uint64_t)), 1)) {
        constexpr size_t kFirstCapacity = size_t{1} << 20;
        capacity_ = Min(Min(rows, kFirstCapacity), most_);
        fingerprints_ = allocate<uint64_t>(context, capacity_);
        scratch_ = allocate<uint64_t>(context, capacity_);
    }

    void add(uint64_t fingerprint) {
        if (count_ == capacity_)
            make_room();
        fingerprints_[count_++] = fingerprint;
        ++added_;
    }

    // Afterwards, distinct() and scratch() are sorted, and of the same size.
    void finish() {
        drop_repeated();
        check_memory();
        if (count_ < capacity_) {
            fingerprints_ = resize(fingerprints_, count_);
            scratch_ = resize(scratch_, count_);
        }
    }

    // Whether hardly any was repeated so far, or it is not known yet.
    bool mostly_distinct() const { return mostly_distinct_; }

    std::span<uint64_t> distinct() const { return {fingerprints_, count_}; }
    uint64_t* scratch() const { return scratch_; }

  private:
    void drop_repeated() {
        count_ = sort_distinct({fingerprints_, count_}, {scratch_, count_}, kPause);
        mostly_distinct_ = count_ >= added_ - added_ / 10;
    }

    void make_room() {
        drop_repeated();
        check_memory();
        if (count_ < capacity_ / 4 * 3)
            return;
        // As many as there will be if the rest is like what came so far.
        double expected = 1.05 * (double)count_ / (double)added_ * (double)rows_;
        size_t wanted = Max((size_t)expected, capacity_ + capacity_ / 2 + 1);
        capacity_ = Min(Min(wanted, count_ + (rows_ - added_)), most_);
        fingerprints_ = resize(fingerprints_, capacity_);
        scratch_ = resize(scratch_, capacity_);
    }

    void check_memory() const {
        if (count_ > kMaxNearPairsCount)
            ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                            errmsg("cannot compare more than %zu distinct fingerprints at once",
                                   kMaxNearPairsCount)));
        size_t allowed = get_hash_memory_limit();
        if (count_ * kBytesPerFingerprint <= allowed)
            return;
        double distinct = (double)count_ / (double)Max(added_, 1) * (double)rows_;
        double needed_kb = ceil(distinct * kBytesPerFingerprint / 1024);
        ereport(
            ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
             errmsg("not enough memory to compare %.0f distinct fingerprints", distinct),
             errdetail("That takes %.0f kB, and work_mem with hash_mem_multiplier allows %zu kB.",
                       needed_kb, allowed / 1024),
             errhint("Set work_mem to at least '%.0fMB' for this query.",
                     ceil(needed_kb / 1024 / hash_mem_multiplier))));
    }

    uint64_t* fingerprints_; // [capacity_]
    uint64_t* scratch_;      // [capacity_]
    size_t capacity_;
    size_t count_ = 0;
    size_t added_ = 0;
    size_t rows_;
    size_t most_; // capacity that the memory allows
    bool mostly_distinct_ = true;
};

// The collector's own arrays, and what the search needs beside them.
NearPairsMemory near_pairs_memory(MemoryContext context, const Collector& collector) {
    std::span<uint64_t> distinct = collector.distinct();
    return {distinct.size(), distinct.data(), collector.scratch(),
            allocate<uint32_t>(context, distinct.size()),
            allocate<uint32_t>(context, distinct.size())};
}

// All but the fingerprints.
void free_scratch(const NearPairsMemory& memory) {
    pfree(memory.fingerprint_scratch);
    pfree(memory.positions);
    pfree(memory.position_scratch);
}

// ---- simhash_cluster ----

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
        WinGetFuncArgInPartition(window, 1, (int)row, WINDOW_SEEK_HEAD, false, &is_null, &is_out);
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
                        errdetail("It has %lld rows; the limit is %d.", (long long)rows, INT_MAX)));
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
    if ((size_t)rows * kBytesPerFingerprint <= get_hash_memory_limit())
        partition->row_names = allocate<uint64_t>(context, (size_t)rows);
    for (int64 row = 0; row < rows; ++row) {
        bool is_null, is_out;
        CHECK_FOR_INTERRUPTS();
        Datum value = WinGetFuncArgInPartition(window, 0, (int)row, WINDOW_SEEK_HEAD, false,
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
    partition->names.replace_by_names({partition->row_names, (size_t)rows}, kPause);
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
    Collector collector(context, (size_t)rows);
    collect_rows(window, rows, radius, radius_may_vary, partition, &collector);
    partition->ready = true;
    if (partition->radius_is_null || collector.distinct().empty())
        return;

    NearPairsMemory memory = near_pairs_memory(context, collector);
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

// ---- simhash_pairs ----

// The pairs, as numbers that sort as they do: position of a in the upper half, of b in the lower.
// In memory while it lasts, and then in a sort on disk.
class PairSpool {
  public:
    PairSpool(MemoryContext context, size_t most)
        : context_(context), most_(most), capacity_(Min(most, kFirstCapacity)),
          codes_(allocate<uint64_t>(context, capacity_)) {}

    static void add(void* spool, uint32_t a, uint32_t b) {
        static_cast<PairSpool*>(spool)->add(uint64_t{a} << 32 | b);
    }

    // Calls give(code) for every pair in order.
    template <typename Give>
    void give_in_order(const Give& give) {
        if (sort_ == nullptr) {
            uint64_t* scratch = allocate<uint64_t>(context_, count_);
            radix_sort(std::span{codes_, count_}, std::span{scratch, count_}, kPause);
            pfree(scratch);
            for (size_t i = 0; i < count_; ++i)
                give(codes_[i]);
            return;
        }
        move_to_sort();
        pfree(codes_);
        tuplesort_performsort(sort_);
        for (int64 code; tuplesort_next_int64(sort_, &code);)
            give(static_cast<uint64_t>(code));
        tuplesort_end(sort_);
    }

  private:
    static constexpr size_t kFirstCapacity = 8192;

    void add(uint64_t code) {
        if (count_ == capacity_)
            make_room();
        codes_[count_++] = code;
    }

    void make_room() {
        if (sort_ == nullptr && capacity_ < most_) {
            capacity_ = Min(capacity_ * 2, most_);
            codes_ = resize(codes_, capacity_);
        } else {
            move_to_sort();
        }
    }

    void move_to_sort() {
        if (sort_ == nullptr) {
            MemoryContext caller = MemoryContextSwitchTo(context_);
            sort_ = tuplesort_begin_datum(INT8OID, Int8LessOperator, InvalidOid, false, work_mem,
                                          nullptr, TUPLESORT_NONE);
            MemoryContextSwitchTo(caller);
        }
        for (size_t i = 0; i < count_; ++i) {
            CHECK_FOR_INTERRUPTS();
            tuplesort_putdatum(sort_, Int64GetDatum((int64)codes_[i]), false);
        }
        count_ = 0;
    }

    MemoryContext context_;
    size_t most_;
    size_t capacity_;
    uint64_t* codes_; // [capacity_]
    size_t count_ = 0;
    Tuplesortstate* sort_ = nullptr;
};

// NULLs take no room in an array, whatever its dimensions: the others follow each other.
void collect_array(ArrayType* array, size_t elements, Collector* collector) {
    const char* data = ARR_DATA_PTR(array);
    for (size_t i = 0; i < elements; ++i) {
        int64 fingerprint;
        if (i % kEntriesPerPause == 0)
            CHECK_FOR_INTERRUPTS();
        memcpy(&fingerprint, data + i * sizeof(int64), sizeof(int64));
        collector->add(to_ordered(fingerprint));
    }
}

void put_pair(ReturnSetInfo* result, uint64_t a, uint64_t b) {
    Datum values[3] = {Int64GetDatum(from_ordered(a)), Int64GetDatum(from_ordered(b)),
                       Int32GetDatum(hamming_distance(a, b))};
    bool nulls[3] = {};
    CHECK_FOR_INTERRUPTS();
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

void put_pairs(ArrayType* array, int32 radius, ReturnSetInfo* result, MemoryContext context) {
    size_t elements = (ARR_SIZE(array) - ARR_DATA_OFFSET(array)) / sizeof(int64);
    Collector collector(context, elements);
    collect_array(array, elements, &collector);
    collector.finish();
    std::span<const uint64_t> distinct = collector.distinct();
    size_t unused = get_hash_memory_limit() - distinct.size() * kBytesPerFingerprint;
    PairSpool spool(context, Max(unused / (2 * sizeof(uint64_t)), 8192));
    NearPairsMemory memory = near_pairs_memory(context, collector);
    find_near_pairs(memory, radius, {PairSpool::add, nullptr, &spool}, kPause);
    free_scratch(memory);
    spool.give_in_order([&](uint64_t code) {
        put_pair(result, distinct[code >> 32], distinct[code & UINT32_MAX]);
    });
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_cluster);
PG_FUNCTION_INFO_V1(simhash_pairs);

Datum simhash_cluster(PG_FUNCTION_ARGS) {
    WindowObject window = PG_WINDOW_OBJECT();
    Partition* partition = (Partition*)WinGetPartitionLocalMemory(window, sizeof(Partition));
    if (!partition->ready)
        find_partition_clusters(fcinfo, window, partition);
    bool is_null;
    Datum fingerprint = WinGetFuncArgCurrent(window, 0, &is_null);
    if (is_null || partition->radius_is_null)
        PG_RETURN_NULL();
    PG_RETURN_INT64(
        from_ordered(row_name(partition, window, to_ordered(DatumGetInt64(fingerprint)))));
}

Datum simhash_pairs(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(1);
    check_radius(radius);
    InitMaterializedSRF(fcinfo, 0);
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "simhash_pairs", ALLOCSET_DEFAULT_SIZES);
    put_pairs(PG_GETARG_ARRAYTYPE_P(0), radius, (ReturnSetInfo*)fcinfo->resultinfo, context);
    MemoryContextDelete(context);
    return (Datum)0;
}
}
