// What simhash_cluster, simhash_pairs and simhash_pairs_agg share: collecting the distinct
// fingerprints among many within the memory of the query, and what a search for near pairs
// (core/whole) needs beside them.
//
// Fingerprints are compared as unsigned numbers with the sign bit turned over, which keeps the
// order of bigint and all distances.
//
// Memory is what a hash table of the same query may have, work_mem times hash_mem_multiplier: at
// most kBytesPerFingerprint for every distinct fingerprint. Repeated ones are dropped while they
// are collected.
#pragma once

#include "pg.hpp"

#include <algorithm>
#include <span>

#include "core/bits/pause.hpp"
#include "core/whole/near_pairs.hpp"

namespace simhash {

constexpr size_t kBytesPerFingerprint = 40;
constexpr size_t kUnknownRows = SIZE_MAX;
constexpr uint64_t kSignBit = uint64_t{1} << 63;

// Looks whether the query is cancelled.
inline constexpr Pause kPause = {[](void*) { CHECK_FOR_INTERRUPTS(); }, nullptr};

inline uint64_t to_ordered(int64 fingerprint) {
    return uint64_t(fingerprint) ^ kSignBit;
}

inline int64 from_ordered(uint64_t ordered) {
    return int64(ordered ^ kSignBit);
}

// Raises an error for a radius that is none.
void check_radius(int32 radius);

template <typename Entry>
Entry* allocate(MemoryContext context, size_t count) {
    return static_cast<Entry*>(
        MemoryContextAllocHuge(context, std::max<size_t>(count, 1) * sizeof(Entry)));
}

template <typename Entry>
Entry* resize(Entry* entries, size_t count) {
    return static_cast<Entry*>(repalloc_huge(entries, std::max<size_t>(count, 1) * sizeof(Entry)));
}

// The distinct fingerprints among many. Sorted and rid of repeated ones whenever the array is full;
// it grows only where they are really different.
class Collector {
  public:
    // rows: how many will be added, or kUnknownRows.
    Collector(MemoryContext context, size_t rows);

    void add(uint64_t fingerprint) {
        if (count_ == capacity_)
            make_room();
        fingerprints_[count_++] = fingerprint;
        ++added_;
    }

    // Afterwards distinct() is sorted.
    void finish();

    // Whether hardly any was repeated so far, or it is not known yet.
    bool mostly_distinct() const { return mostly_distinct_; }

    std::span<uint64_t> distinct() const { return {fingerprints_, count_}; }

    // After finish(): the collector's own arrays, and what the search needs beside them.
    NearPairsMemory near_pairs_memory(MemoryContext context) const;

  private:
    void drop_repeated();
    void make_room();
    void check_memory() const;
    [[noreturn]] void report_memory() const;
    double expected_distinct() const;

    uint64_t* fingerprints_; // [capacity_]
    uint64_t* scratch_;      // [capacity_]
    size_t capacity_;
    size_t count_ = 0;
    size_t added_ = 0;
    size_t rows_;
    size_t most_; // capacity that the memory allows
    bool mostly_distinct_ = true;
};

// All but the fingerprints.
void free_scratch(const NearPairsMemory& memory);

} // namespace simhash
