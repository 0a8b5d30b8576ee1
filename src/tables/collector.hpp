// Collects the distinct fingerprints among many, and searches them for near pairs (core/pairs).
// Repeated fingerprints are dropped while they are collected. If the distinct ones exceed the limit
// of memory, they go to a temporary file, and the search works with files.
#pragma once

#include <algorithm>

#include "core/pairs/near_pairs.hpp"
#include "server/arguments.hpp"
#include "server/sorter.hpp"

namespace simhash {

constexpr uint64_t kSignBit = uint64_t{1} << 63;

// With the sign bit flipped fingerprints have the order of bigint, and the same distances.
inline uint64_t to_ordered(int64 fingerprint) { return uint64_t(fingerprint) ^ kSignBit; }

inline int64 from_ordered(uint64_t ordered) { return int64(ordered ^ kSignBit); }

// Raises an error where the radius is not between 0 and `greatest`.
void check_radius(int32 radius, int greatest);

template <typename Item>
Item* allocate(MemoryContext context, size_t count) {
    return resized<Item>(context, nullptr, std::max<size_t>(count, 1));
}

// Whenever the array is full, it is sorted and its repeated fingerprints are dropped. It grows if
// few were repeated, and goes to a file as a sorted run if it has the greatest size that memory
// allows.
class Collector {
  public:
    // A set that is collected and searched in about this memory, in bytes. other: a finished set
    // with which this one shares the memory because both are searched together, or null
    Collector(MemoryContext context, size_t bytes, const Collector* other = nullptr);

    void add(uint64_t fingerprint) {
        if (count_ == capacity_)
            make_room();
        fingerprints_[count_++] = fingerprint;
    }

    // Afterwards the array is sorted and has no more room than it needs.
    void finish();

    bool is_spilled() const { return runs_.exists(); }

    // The set, if it is not spilled.
    FingerprintArray array() const { return {fingerprints_, scratch_, count_}; }

    // Moves all of the set to a file, and releases the array. The caller closes the file.
    TemporaryFile distinct_file();

    void release();

    // The most fingerprints that memory holds, of this set and the other.
    size_t most() const { return most_; }

  private:
    void drop_repeated();
    void make_room();
    void resize(size_t capacity);
    void spill();

    MemoryContext context_;
    uint64_t* fingerprints_ = nullptr; // [capacity_]
    uint64_t* scratch_ = nullptr;      // [capacity_]
    size_t capacity_ = 0, count_ = 0;
    size_t most_, greatest_capacity_;
    TemporaryFiles files_;
    TemporaryFile runs_; // sorted runs of what did not fit
};

// Finds the near pairs of finished sets: within a, or, where b is not null, between a and b. Takes
// the memory of both. Releases the memory and files of both.
void find_pairs(Collector* a, Collector* b, int32 radius, const PairReceiver& receiver);

} // namespace simhash
