// Clusters: the groups of fingerprints that near pairs link, directly or by way of others. A
// cluster's name is its least fingerprint.
//
// Memory for n distinct fingerprints: what the search for pairs takes (24 bytes) and the labels
// (4): 28 bytes. Afterwards the sorted fingerprints, the labels and the table of names (18): 30.
//
// Nothing here allocates, and nothing here needs to be cleaned up: a `Pause` may leave by longjmp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/whole/near_pairs.hpp"

namespace simhash {

// Labels each of the sorted fingerprints with the position of the least one in its cluster.
// labels: [memory.count].
void find_clusters(const NearPairsMemory& memory, int radius, uint32_t* labels, Pause pause);

// Looks up a fingerprint's cluster in one memory access, mostly: a hash table with linear probing.
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
