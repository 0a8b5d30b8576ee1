// simhash_pairs: the server's side of core/whole/near_pairs.hpp. It collects the fingerprints of an
// array, finds the memory, lets the search be cancelled, and gives the pairs in order.
#include "pg.hpp"

#include <span>

#include "core/bits/distance.hpp"
#include "core/whole/near_pairs.hpp"
#include "core/whole/radix_sort.hpp"
#include "sql/collector.hpp"

using namespace simhash;

namespace {

// The pairs, as numbers that sort as they do: position of a in the upper half, of b in the lower.
// In memory while it lasts, and then in a sort on disk.
class PairSpool {
  public:
    PairSpool(MemoryContext context, size_t most)
        : context_(context), most_(most), capacity_(std::min(most, kFirstCapacity)),
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
            give(uint64_t(code));
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
            capacity_ = std::min(capacity_ * 2, most_);
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
            tuplesort_putdatum(sort_, Int64GetDatum(int64(codes_[i])), false);
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
    PairSpool spool(context, std::max<size_t>(unused / (2 * sizeof(uint64_t)), 8192));
    NearPairsMemory memory = collector.near_pairs_memory(context);
    find_near_pairs(memory, radius, {PairSpool::add, nullptr, &spool}, kPause);
    free_scratch(memory);
    spool.give_in_order([&](uint64_t code) {
        put_pair(result, distinct[code >> 32], distinct[code & UINT32_MAX]);
    });
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_pairs);

Datum simhash_pairs(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(1);
    check_radius(radius);
    InitMaterializedSRF(fcinfo, 0);
    MemoryContext context =
        AllocSetContextCreate(CurrentMemoryContext, "simhash_pairs", ALLOCSET_DEFAULT_SIZES);
    put_pairs(PG_GETARG_ARRAYTYPE_P(0), radius,
              reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), context);
    MemoryContextDelete(context);
    return Datum(0);
}
}
