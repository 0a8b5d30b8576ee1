// Pairs of fingerprints within a radius, and the clusters that such pairs link. See clusters.cpp.
//
// Nothing here allocates, and nothing here needs to be cleaned up: a `Pause` may leave by longjmp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace simhash {

// Called every few milliseconds of work.
struct Pause {
    void (*check)(void* context);
    void* context;

    void operator()() const { check(context); }
};

// Sorts fingerprints and drops repeated ones; returns how many are left. scratch: of the same size.
size_t sort_distinct(std::span<uint64_t> fingerprints, std::span<uint64_t> scratch, Pause pause);

// Sorted fingerprints, none repeated, and what a search works in: 24 bytes for a fingerprint. The
// search changes their order and restores it; after a pause that did not return, they are in any
// order.
struct NearPairsMemory {
    size_t count;                  // at most kMaxClusterFingerprints
    uint64_t* fingerprints;        // [count]
    uint64_t* fingerprint_scratch; // [count]
    uint32_t* positions;           // [count]
    uint32_t* position_scratch;    // [count]
};

// Who hears of the pairs, as positions in the sorted fingerprints.
struct NearPairsReceiver {
    // Every pair once, a < b, in no particular order.
    void (*pair)(void* context, uint32_t a, uint32_t b);
    // All pairs of these fingerprints are within the radius. Null: they are to be given one by one.
    // Otherwise such pairs may be told of more than once.
    void (*all_pairs)(void* context, const uint32_t* positions, size_t count);
    void* context;
};

constexpr size_t kMaxClusterFingerprints = INT32_MAX;

// Finds all pairs of different fingerprints within radius (0..64).
void find_near_pairs(const NearPairsMemory& memory, int radius, const NearPairsReceiver& receiver,
                     Pause pause);

// Labels each of the sorted fingerprints with the position of the least one in its cluster.
// labels: [memory.count].
void find_clusters(const NearPairsMemory& memory, int radius, uint32_t* labels, Pause pause);

// Looks up a fingerprint's cluster in one memory access, mostly: a hash table with linear probing.
// The cluster's name is its least fingerprint.
class ClusterNames {
  public:
    struct Entry {
        uint64_t fingerprint;
        uint64_t name; // not greater than fingerprint, or the entry is empty
    };

    // Entries of the table for so many fingerprints: 18 bytes for each.
    static constexpr size_t entries_for(size_t fingerprint_count) {
        return fingerprint_count + fingerprint_count / 8 + 1;
    }

    ClusterNames() = default;

    // labels: as find_clusters gives them. entries: [entries_for(distinct.size())]; all that is
    // needed later.
    ClusterNames(std::span<const uint64_t> distinct, const uint32_t* labels, Entry* entries,
                 Pause pause);

    // False for a fingerprint that has no name.
    bool find(uint64_t fingerprint, uint64_t* name) const;

    // Puts their names in the place of fingerprints; leaves what has no name. One after the other
    // as by find() they would wait for memory, together they wait at the same time.
    void replace_by_names(std::span<uint64_t> fingerprints, Pause pause) const;

  private:
    Entry* home_of(uint64_t fingerprint) const;

    Entry* entries_;
    size_t entry_count_;
};

} // namespace simhash
