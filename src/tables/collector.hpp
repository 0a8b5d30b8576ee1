// Collects the distinct fingerprints among many, and searches them for near pairs (core/pairs).
// Repeated fingerprints are dropped while they are collected. If the distinct ones exceed the limit
// of memory, they go to temporary files, and the search works with these.
//
// For simhash_cluster and simhash_pairs_agg the limit is that of a hash table in the same query:
// work_mem times hash_mem_multiplier. A distinct fingerprint takes at most kBytesPerFingerprint:
// the search takes kBytesOfSearch of them, and its results the rest. What simhash_cluster keeps of
// rows is within the same limit. These two compare fingerprints as unsigned numbers with the sign
// bit flipped. That keeps the order of bigint and all distances.
#pragma once

#include <algorithm>

#include "core/pairs/near_pairs.hpp"
#include "core/pairs/spilled_pairs.hpp"
#include "server/arguments.hpp"
#include "server/growing.hpp"

namespace simhash {

constexpr size_t kBytesPerFingerprint = 40;
// They are for the fingerprint and its place in the scratch of the sort.
constexpr size_t kBytesOfSearch = 2 * sizeof(uint64_t);
constexpr uint64_t kSignBit = uint64_t{1} << 63;

inline uint64_t to_ordered(int64 fingerprint) { return uint64_t(fingerprint) ^ kSignBit; }

inline int64 from_ordered(uint64_t ordered) { return int64(ordered ^ kSignBit); }

// Raises an error where the radius is not between 0 and `greatest`.
void check_radius(int32 radius, int greatest);

template <typename Item>
Item* allocate(MemoryContext context, size_t count) {
    return static_cast<Item*>(
        MemoryContextAllocHuge(context, std::max<size_t>(count, 1) * sizeof(Item)));
}

// The distinct fingerprints among many. Whenever the array is full, it is sorted and its repeated
// fingerprints are dropped. It grows if few were repeated, and spills to files if it has the
// greatest size that memory allows.
class Collector {
  public:
    explicit Collector(MemoryContext context);

    // A set that is collected and searched in about this memory, in bytes. The caller keeps the
    // results elsewhere. other: a finished set with which this one shares the memory because both
    // are searched together, or null.
    static Collector within(MemoryContext context, size_t bytes, const Collector* other = nullptr);

    void add(uint64_t fingerprint) {
        if (count_ == capacity_)
            make_room();
        fingerprints_[count_++] = fingerprint;
    }

    // Afterwards the array is sorted and has no more room than it needs.
    void finish();

    // The number of distinct fingerprints, or more if some are spilled: files can repeat them.
    size_t count() const { return count_ + spilled_count(); }

    bool is_spilled() const { return spilled_ != nullptr; }

    // The set, if it is not spilled.
    FingerprintArray array() const { return {fingerprints_, scratch_, count_}; }

    // Moves all of the set to files and releases the array.
    // Afterwards the set is searched by its files alone.
    SpilledSet* files();

    void release();

    // The limit of memory, in bytes, for the set, those that share it, and what a search finds.
    size_t memory() const { return memory_; }

    // The most fingerprints that a search of the set holds in memory.
    size_t most_searched() const { return most_searched_; }

  private:
    size_t spilled_count() const { return spilled_ == nullptr ? 0 : size_t(spilled_->count()); }
    void drop_repeated();
    void make_room();
    void resize(size_t capacity);
    void spill();
    void release_memory();

    MemoryContext context_;
    uint64_t* fingerprints_ = nullptr; // [capacity_]
    uint64_t* scratch_ = nullptr;      // [capacity_]
    size_t capacity_ = 0, count_ = 0;
    // The limit when the set was begun. It holds for the whole search: a cursor, or a query that
    // calls set_config(), may change work_mem meanwhile.
    size_t memory_;
    size_t most_; // capacity that the memory allows
    size_t most_searched_;
    SpilledSet* spilled_ = nullptr; // what did not fit
};

// Finds the near pairs of finished sets: within a, or, where b is not null, between a and b. Takes
// the memory of a. Releases the memory and files of both.
void find_pairs(Collector* a, Collector* b, int32 radius, const PairReceiver& receiver);

// The memory that a search of the set leaves for its results, in bytes.
size_t memory_beside(const Collector& set);

} // namespace simhash
