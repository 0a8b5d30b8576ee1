// What simhash_cluster, simhash_pairs and simhash_join share: collecting the distinct fingerprints
// among many within the memory of the query, and the search for near pairs (core/whole).
//
// Fingerprints are compared as unsigned numbers with the sign bit turned over, which keeps the
// order of bigint and all distances.
//
// Memory is what a hash table of the same query may have, work_mem times hash_mem_multiplier: at
// most kBytesPerFingerprint for every distinct fingerprint, of which the search takes
// kBytesOfSearch, and what it finds the rest. What simhash_cluster keeps of rows comes beside that,
// within the same limit. Repeated ones are dropped while they are collected. More distinct
// fingerprints than that go to temporary files, and so does the search.
#pragma once

#include "pg.hpp"

#include <algorithm>
#include <span>

#include "core/bits/pause.hpp"
#include "core/whole/near_pairs.hpp"
#include "core/whole/spilled_pairs.hpp"

namespace simhash {

constexpr size_t kBytesPerFingerprint = 40;
constexpr size_t kBytesOfSearch = 2 * sizeof(uint64_t);
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
// it grows only where they are really different, and spills to files when it may grow no more.
class Collector {
  public:
    // rows: how many will be added, or kUnknownRows. other: a finished set whose memory this one
    // shares, as both are searched at once, or null.
    Collector(MemoryContext context, size_t rows, const Collector* other = nullptr);

    void add(uint64_t fingerprint) {
        if (count_ == capacity_)
            make_room();
        fingerprints_[count_++] = fingerprint;
        added_++;
    }

    // Afterwards the array is sorted and has no more room than it needs.
    void finish();

    // How many are collected: the distinct ones, or where they are spilled, not less than those.
    size_t count() const { return count_ + spilled_count(); }

    // Whether some are in files.
    bool is_spilled() const { return spilled_ != nullptr; }

    // The set, if it is not spilled.
    FingerprintArray array() const { return {fingerprints_, scratch_, count_}; }

    // The set in files, whether it was or not; the array is given up.
    SpilledSet* files();

    // Gives up memory and files.
    void release();

  private:
    size_t spilled_count() const { return spilled_ == nullptr ? 0 : size_t(spilled_->count()); }
    void drop_repeated();
    void make_room();
    void spill();
    void release_memory();
    double expected_distinct() const;

    MemoryContext context_;
    uint64_t* fingerprints_; // [capacity_]
    uint64_t* scratch_;      // [capacity_]
    size_t capacity_;
    size_t count_ = 0;
    size_t added_ = 0;
    size_t rows_;
    size_t most_;                   // capacity that the memory allows
    SpilledSet* spilled_ = nullptr; // what did not fit
};

// Finds the pairs of finished sets: within a, or where b is not null between a and b. Gives up their
// memory and files.
void find_pairs(Collector* a, Collector* b, int32 radius, const PairReceiver& receiver);

// The memory for what a search finds beside these collected fingerprints.
size_t memory_beside(const Collector& a, const Collector* b = nullptr);

} // namespace simhash
