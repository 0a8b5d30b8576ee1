// Collects the pairs that a search finds and returns them in order. If they do not fit into memory,
// they are in a temporary file.
#pragma once

#include "server/pg.hpp"

#include "core/pairs/near_pairs.hpp"
#include "server/sorter.hpp"

namespace simhash {

class PairSort {
  public:
    // Uses about memory_bytes at most, in the current memory context.
    // A pair takes 32 bytes of it: an entry and its scratch.
    explicit PairSort(size_t memory_bytes) : sorter_(memory_bytes) {}

    PairReceiver receiver() { return {add, nullptr, this}; }

    // The number of pairs so far.
    size_t count() const { return count_; }

    // Calls give(a, b) for every pair in order, and releases memory and files.
    template <typename Give>
    void give_in_order(const Give& give) {
        sorter_.finish();
        // The search gives each pair once, so nothing needs to be dropped here.
        for (Entry pair{}; sorter_.next(&pair);)
            give(pair.key, pair.tid);
        sorter_.release();
    }

  private:
    static void add(void* sort, uint64_t a, uint64_t b) {
        auto* self = static_cast<PairSort*>(sort);
        self->sorter_.add({a, b});
        self->count_++;
    }

    ExternalSorter<Entry> sorter_; // of pairs: b stands in the place of a TID
    size_t count_ = 0;
};

} // namespace simhash
