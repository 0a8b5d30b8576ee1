// The pairs that a search finds, as positions in its sorted fingerprints, until it has found all of
// them: then they are given in order. They are in memory while it lasts, and then in a sort on disk.
//
// A pair is kept as a number that sorts as it does: position of a in the upper half, of b in the
// lower.
#pragma once

#include "pg.hpp"

#include <algorithm>

#include "sql/collector.hpp"

namespace simhash {

class PairSpool {
  public:
    // most: how many are kept in memory.
    PairSpool(MemoryContext context, size_t most)
        : context_(context), most_(most), capacity_(std::min(most, kFirstCapacity)),
          codes_(allocate<uint64_t>(context, capacity_)) {}

    static void add(void* spool, uint32_t a, uint32_t b) {
        static_cast<PairSpool*>(spool)->add(uint64_t{a} << 32 | b);
    }

    // How many were added.
    size_t size() const { return size_; }

    // Calls give(a, b) for every pair in order.
    template <typename Give>
    void give_in_order(const Give& give) {
        if (sort_ == nullptr) {
            sort_codes();
            for (size_t i = 0; i < count_; ++i)
                give_code(codes_[i], give);
            return;
        }
        move_to_sort();
        pfree(codes_);
        tuplesort_performsort(sort_);
        for (int64 code; tuplesort_next_int64(sort_, &code);)
            give_code(uint64_t(code), give);
        tuplesort_end(sort_);
    }

  private:
    static constexpr size_t kFirstCapacity = 8192;

    void add(uint64_t code) {
        if (count_ == capacity_)
            make_room();
        codes_[count_++] = code;
        ++size_;
    }

    template <typename Give>
    static void give_code(uint64_t code, const Give& give) {
        give(uint32_t(code >> 32), uint32_t(code));
    }

    void make_room();
    void sort_codes();
    void move_to_sort();

    MemoryContext context_;
    size_t most_;
    size_t capacity_;
    uint64_t* codes_; // [capacity_]
    size_t count_ = 0;
    size_t size_ = 0;
    Tuplesortstate* sort_ = nullptr;
};

} // namespace simhash
