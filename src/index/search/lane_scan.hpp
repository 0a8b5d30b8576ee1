// The parts of a scan that search one lane's trees, and the rows that a scan has returned: where a
// value has several lanes, several of them may find it.
#pragma once

#include <algorithm>
#include <bit>

#include "index/search/nearest.hpp"
#include "index/search/within.hpp"

namespace simhash {

struct LaneScan {
    explicit LaneScan(const SearchedIndex& of_lane)
        : index(of_lane), matches(&index), postings(&index), within(&index, &matches, &postings),
          nearest(&index, &matches, &postings) {}
    // The parts have each other's addresses.
    LaneScan(const LaneScan&) = delete;
    LaneScan& operator=(const LaneScan&) = delete;

    SearchedIndex index;
    Matches matches;
    PostingReader postings;
    WithinScan within; // within and nearest use the members above; one of them runs at a time
    NearestScan nearest;
};

// A set of TIDs, as integers, in a hash table with linear probing.
class SeenRows {
  public:
    // Takes memory from this context: 16 to 32 bytes a row, and 48 while it grows.
    explicit SeenRows(MemoryContext memory) : memory_(memory) {}

    // Forgets all rows. A table that is far larger than it had to be is given back: the next scan
    // of a nested loop may return few rows, as this one did, and would clear all of it again.
    void clear() {
        if (capacity_ > kFirstCapacity && count_ * 16 < capacity_) {
            pfree(tids_);
            tids_ = nullptr;
            capacity_ = 0;
        } else if (count_ > 0) {
            std::fill_n(tids_, capacity_, kNone);
        }
        count_ = 0;
    }
    // True when the set has grown to its limit. It still takes the rows of one leaf.
    bool is_full() const { return count_ * sizeof(uint64_t) * 4 > size_t(work_mem) * 1024; }
    bool contains(uint64_t tid) const { return count_ > 0 && *place_of(tid) == tid; }
    // Returns false if the row is there already.
    bool add(uint64_t tid) {
        // Half of the places are empty at least, so each search ends soon.
        if (count_ * 2 >= capacity_)
            grow();
        uint64_t* place = place_of(tid);
        if (*place == tid)
            return false;
        *place = tid;
        count_++;
        return true;
    }

  private:
    static constexpr uint64_t kNone = 0; // is no TID: its offset is invalid
    static constexpr size_t kFirstCapacity = 64;

    // Returns the place of the row, or the empty one where it belongs.
    uint64_t* place_of(uint64_t tid) const {
        // The leading bits of a product with the golden ratio are spread evenly.
        size_t place = (tid * 0x9e3779b97f4a7c15) >> shift_;
        while (tids_[place] != kNone && tids_[place] != tid)
            place = (place + 1) & (capacity_ - 1);
        return &tids_[place];
    }

    void grow() {
        uint64_t* old = tids_;
        size_t old_capacity = capacity_;
        size_t capacity = std::max(2 * capacity_, kFirstCapacity);
        // Zeros are kNone.
        tids_ = static_cast<uint64_t*>(MemoryContextAllocExtended(
            memory_, capacity * sizeof(uint64_t), MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO));
        capacity_ = capacity;
        shift_ = 64 - (std::bit_width(capacity) - 1);
        for (size_t i = 0; i < old_capacity; i++)
            if (old[i] != kNone)
                *place_of(old[i]) = old[i];
        if (old != nullptr)
            pfree(old);
    }

    MemoryContext memory_;
    uint64_t* tids_ = nullptr; // [capacity_]
    size_t count_ = 0, capacity_ = 0;
    int shift_ = 0;
};

} // namespace simhash
