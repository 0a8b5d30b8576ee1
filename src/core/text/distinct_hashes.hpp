// The distinct ones of many hashes: a hash table in which each has its place by its leading bits.
// Little of it is used, so a hash mostly finds its place empty, and the table has them nearly in
// order:
//
//     hashes 9a.. 10.. 93.. 10..    ->    | 10 |    | .. |    | 9a | 93 |    |
//                                         0    1    2    ...   9    a    b
//
// That holds for hashes that nobody chose: chosen ones would take the square of their number.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

#include "core/bits/memory.hpp"

namespace simhash {

class DistinctHashes {
  public:
    explicit DistinctHashes(Memory memory) : memory_(memory) { make_room(kFirstBits); }

    [[gnu::always_inline]] void add(uint64_t hash) {
        // 0 marks an empty place, so it counts as 1.
        hash += hash == 0;
        if (count_ >> (bits_ - 1) != 0) [[unlikely]]
            grow();
        put(hash);
    }

    size_t size() const { return count_; }
    uint64_t sum() const { return sum_; }

    // All of them, ascending. Nothing may be added before clear().
    std::span<const uint64_t> sorted() {
        // Without branches: many places are empty, in no order that could be guessed.
        size_t count = 0;
        for (uint64_t* at = places_; count < count_; at++) {
            uint64_t hash = *at;
            places_[count] = hash;
            count += hash != 0;
        }
        // An insertion sort: only those that found their place taken are out of order.
        for (size_t i = 1; i < count_; i++) {
            uint64_t hash = places_[i];
            size_t place = i;
            for (; place > 0 && places_[place - 1] > hash; place--)
                places_[place] = places_[place - 1];
            places_[place] = hash;
        }
        return {places_, count_};
    }

    // Takes out all. The next ones are expected to be about as many.
    void clear() {
        bits_ = std::clamp(int(std::bit_width(count_)) + 1, kFirstBits, bits_);
        count_ = 0;
        sum_ = 0;
        std::fill_n(places_, places(), 0);
    }

  private:
    static constexpr int kFirstBits = 10; // 8 kB, which the nearest cache holds

    // Half of the places are used at most. Behind the last there is room for those that find it
    // taken.
    size_t places() const { return (size_t{3} << bits_) / 2 + 1; }

    void make_room(int bits) {
        bits_ = bits;
        places_ = allocate_array<uint64_t>(memory_, places());
        std::fill_n(places_, places(), 0);
    }

    void put(uint64_t hash) {
        uint64_t* at = places_ + (hash >> (64 - bits_));
        for (; *at != 0; at++)
            if (*at == hash)
                return;
        *at = hash;
        count_++;
        sum_ += hash;
    }

    // Each hash is to be put where it belongs in the larger table.
    void grow() {
        uint64_t* former = places_;
        size_t former_places = places();
        count_ = 0;
        sum_ = 0;
        make_room(bits_ + 1);
        for (size_t i = 0; i < former_places; i++)
            if (former[i] != 0)
                put(former[i]);
        memory_.release(memory_.context, former);
    }

    Memory memory_;
    uint64_t* places_ = nullptr;
    size_t count_ = 0;
    uint64_t sum_ = 0;
    int bits_ = 0;
};

} // namespace simhash
