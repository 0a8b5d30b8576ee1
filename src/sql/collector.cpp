// See collector.hpp.
#include "sql/collector.hpp"

#include <cmath>

#include "core/bits/distance.hpp"
#include "core/whole/distinct.hpp"

namespace simhash {

void check_radius(int32 radius) {
    if (radius < 0 || radius > kFingerprintBits)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("radius is out of range"),
                        errdetail("The radius is %d.", radius),
                        errhint("Use a radius between 0 and %d.", kFingerprintBits)));
}

Collector::Collector(MemoryContext context, size_t rows)
    : rows_(rows), most_(std::max<size_t>(get_hash_memory_limit() / (2 * sizeof(uint64_t)), 1)) {
    constexpr size_t kFirstCapacity = size_t{1} << 20;
    constexpr size_t kCapacityOfSmallGroup = 16;
    size_t first = rows == kUnknownRows ? kCapacityOfSmallGroup : std::min(rows, kFirstCapacity);
    capacity_ = std::min(first, most_);
    fingerprints_ = allocate<uint64_t>(context, capacity_);
    scratch_ = allocate<uint64_t>(context, capacity_);
}

void Collector::finish() {
    drop_repeated();
    check_memory();
    if (count_ < capacity_) {
        fingerprints_ = resize(fingerprints_, count_);
        scratch_ = resize(scratch_, count_);
    }
}

void Collector::drop_repeated() {
    count_ = sort_distinct({fingerprints_, count_}, {scratch_, count_}, kPause);
    mostly_distinct_ = count_ >= added_ - added_ / 10;
}

void Collector::make_room() {
    drop_repeated();
    check_memory();
    if (count_ < capacity_ / 4 * 3)
        return;
    size_t wanted = std::max(size_t(1.05 * expected_distinct()), capacity_ + capacity_ / 2 + 1);
    capacity_ = std::min({wanted, count_ + (rows_ - added_), most_});
    fingerprints_ = resize(fingerprints_, capacity_);
    scratch_ = resize(scratch_, capacity_);
}

void Collector::check_memory() const {
    if (count_ > kMaxNearPairsCount)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("cannot compare more than %zu distinct fingerprints at once",
                               kMaxNearPairsCount)));
    if (count_ * kBytesPerFingerprint > get_hash_memory_limit())
        report_memory();
}

void Collector::report_memory() const {
    size_t allowed_kb = get_hash_memory_limit() / 1024;
    if (rows_ == kUnknownRows)
        ereport(ERROR,
                (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
                 errmsg("not enough memory to compare more than %zu distinct fingerprints",
                        allowed_kb * 1024 / kBytesPerFingerprint),
                 errdetail("Each takes %zu bytes, and work_mem with hash_mem_multiplier allows "
                           "%zu kB.",
                           kBytesPerFingerprint, allowed_kb),
                 errhint("Set work_mem to at least '%.0fMB' for each million of distinct "
                         "fingerprints.",
                         ceil(1e6 * kBytesPerFingerprint / 1024 / 1024 / hash_mem_multiplier))));
    double distinct = expected_distinct();
    double needed_kb = ceil(distinct * kBytesPerFingerprint / 1024);
    ereport(ERROR,
            (errcode(ERRCODE_CONFIGURATION_LIMIT_EXCEEDED),
             errmsg("not enough memory to compare %.0f distinct fingerprints", distinct),
             errdetail("That takes %.0f kB, and work_mem with hash_mem_multiplier allows %zu kB.",
                       needed_kb, allowed_kb),
             errhint("Set work_mem to at least '%.0fMB' for this query.",
                     ceil(needed_kb / 1024 / hash_mem_multiplier))));
}

// How many there will be if the rest is like what came so far; of unknown rows, what came so far.
double Collector::expected_distinct() const {
    if (rows_ == kUnknownRows)
        return double(count_);
    return double(count_) / double(std::max<size_t>(added_, 1)) * double(rows_);
}

NearPairsMemory Collector::near_pairs_memory(MemoryContext context) const {
    return {count_, fingerprints_, scratch_, allocate<uint32_t>(context, count_),
            allocate<uint32_t>(context, count_)};
}

void free_scratch(const NearPairsMemory& memory) {
    pfree(memory.fingerprint_scratch);
    pfree(memory.positions);
    pfree(memory.position_scratch);
}

} // namespace simhash
