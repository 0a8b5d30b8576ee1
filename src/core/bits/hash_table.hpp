// A hash table with linear probing that grows, and is at most half full.
//
// The server has one, too, lib/simplehash.h, but as C that no C++ compiler takes before
// PostgreSQL 18, and without a use in src/core.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/bits/memory.hpp"

namespace simhash {

// A key is a hash of 64 bits whose leading ones lead to its place. The key 0 marks an empty slot,
// so it counts as 1.
template <typename Value>
class HashTable {
  public:
    struct Slot {
        uint64_t key;
        [[no_unique_address]] Value value;
    };

    explicit HashTable(Memory memory, size_t expected = 0) : memory_(memory) {
        make(std::max(std::bit_ceil(2 * expected), kFirstSlots));
    }

    size_t size() const { return size_; }

    // The value of a key. Null if it has none.
    Value* find(uint64_t key) const {
        Slot* slot = place_of(key + (key == 0));
        return slot->key != 0 ? &slot->value : nullptr;
    }

    // Adds a key with its value, unless it has one. Returns the value that the key has now.
    Value& add(uint64_t key, Value value) {
        key += key == 0;
        Slot* slot = place_of(key);
        if (slot->key == 0) {
            if (2 * ++size_ > slot_count_)
                slot = grow(key);
            *slot = {key, value};
        }
        return slot->value;
    }

    // Takes out all. A table that is far larger than it had to be is given back: the next use may
    // be as small, and would clear all of it again.
    void clear() {
        if (slot_count_ > kFirstSlots && 16 * size_ < slot_count_) {
            release();
            make(kFirstSlots);
        } else if (size_ > 0) {
            std::fill_n(slots_, slot_count_, Slot{});
        }
        size_ = 0;
    }

    // Releases the memory. The table must not be used afterwards.
    void release() { memory_.release(memory_.context, slots_); }

  private:
    static constexpr size_t kFirstSlots = 64;

    void make(size_t slot_count) {
        slots_ = allocate_array<Slot>(memory_, slot_count);
        std::fill_n(slots_, slot_count, Slot{});
        slot_count_ = slot_count;
        shift_ = 64 - std::countr_zero(slot_count);
    }

    // Returns the place of the new key in the larger table.
    Slot* grow(uint64_t key) {
        Slot* former = slots_;
        size_t former_count = slot_count_;
        make(2 * former_count);
        for (size_t i = 0; i < former_count; i++)
            if (former[i].key != 0)
                *place_of(former[i].key) = former[i];
        memory_.release(memory_.context, former);
        return place_of(key);
    }

    // Where the key is, or would be.
    Slot* place_of(uint64_t key) const {
        size_t place = key >> shift_;
        while (slots_[place].key != 0 && slots_[place].key != key)
            place = (place + 1) & (slot_count_ - 1);
        return &slots_[place];
    }

    Memory memory_;
    Slot* slots_;
    size_t slot_count_; // a power of two
    int shift_;         // 64 - log2(slot_count_)
    size_t size_ = 0;
};

} // namespace simhash
