// Clusters: the groups of fingerprints that near pairs link, directly or through others. A
// cluster's name is its least fingerprint.
//
// Only a fingerprint that is not its cluster's name has a link here, in a hash table with linear
// probing: most fingerprints have no near one, and cost nothing. The link leads to a lesser
// fingerprint of the cluster (union-find, where a set's root is its least member).
//
// The table takes 16 bytes for a link and is filled to 2/3 at most, or to 8/9 when it cannot grow
// any more. It grows fourfold, so while it grows the old table takes only a quarter more.
//
// Each look into a large table waits for memory. So a pair's links are fetched when it arrives,
// and it is linked after some more pairs have arrived.
#pragma once

#include <span>

#include "core/bits/entry.hpp"
#include "core/bits/memory.hpp"
#include "core/bits/pause.hpp"
#include "core/pairs/near_pairs.hpp"

namespace simhash {

class Clusters {
  public:
    // Bytes of the largest table that `links` fingerprints need.
    static constexpr size_t bytes_for(size_t links) {
        return (links + links / 8 + 1) * sizeof(Link);
    }

    // Called if another link does not fit. Does not return.
    struct Full {
        void (*report)(void* context, size_t links);
        void* context;
    };

    Clusters(Memory memory, size_t most_bytes, Full full, Pause pause);

    // Links the pairs that a search finds.
    PairReceiver receiver() { return {unite_pair, unite_all, this}; }

    void finish();

    // Replaces fingerprints by the names of their clusters. Expects that linking has ended.
    void replace_by_names(std::span<uint64_t> fingerprints) const;

    void release();

  private:
    struct Link {
        uint64_t fingerprint;
        uint64_t lesser; // less than `fingerprint`, unless the link is empty

        bool is_empty() const { return lesser >= fingerprint; }
    };

    // Memory is fetched this many fingerprints or pairs before its use.
    static constexpr size_t kAhead = 32;

    static bool unite_pair(void* clusters, uint64_t a, uint64_t b);
    static void unite_all(void* clusters, const uint64_t* fingerprints, size_t count);

    void receive(uint64_t a, uint64_t b);
    void unite(Pair pair);
    uint64_t root_of(uint64_t fingerprint);
    void fetch(uint64_t fingerprint) const;
    Link* place_of(uint64_t fingerprint) const;
    void replace_some_by_names(std::span<uint64_t> fingerprints) const;
    void add(uint64_t fingerprint, uint64_t lesser);
    void make_table(size_t capacity);
    void grow();

    Memory memory_;
    size_t most_; // links in the table
    Full full_;
    Pause pause_;
    Link* links_; // [capacity_]
    size_t capacity_;
    size_t limit_; // how many are filled at most
    size_t count_ = 0;
    Pair waiting_[kAhead]; // the last pairs: a ring
    size_t received_ = 0;
};

} // namespace simhash
