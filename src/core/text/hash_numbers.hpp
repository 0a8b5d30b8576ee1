// Numbers that belong to hashes: a hash table with linear probing that grows, at most half full.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/bits/memory.hpp"

namespace simhash {

class HashNumbers {
  public:
    HashNumbers(size_t expected, Memory memory) : memory_(memory) {
        make(std::bit_ceil(2 * expected + 2));
    }

    // The number of a hash. Null if it has none.
    uint32_t* find(uint64_t hash) const {
        Slot& slot = slot_[place_of(hash)];
        return slot.is_used ? &slot.number : nullptr;
    }

    // The number of a hash, which is `number` if it had none before.
    uint32_t add(uint64_t hash, uint32_t number) {
        Slot& slot = slot_[place_of(hash)];
        if (slot.is_used)
            return slot.number;
        slot = {hash, number, true};
        if (2 * ++used_ > slots_)
            grow();
        return number;
    }

    void release() { memory_.release(memory_.context, slot_); }

  private:
    struct Slot {
        uint64_t hash;
        uint32_t number;
        bool is_used;
    };

    void make(size_t slots) {
        slots_ = slots;
        slot_ = allocate_array<Slot>(memory_, slots);
        std::fill_n(slot_, slots, Slot{0, 0, false});
    }

    void grow() {
        Slot* old = slot_;
        size_t count = slots_;
        make(2 * slots_);
        for (size_t i = 0; i < count; i++)
            if (old[i].is_used)
                slot_[place_of(old[i].hash)] = old[i];
        memory_.release(memory_.context, old);
    }

    // Where the hash is, or would be.
    size_t place_of(uint64_t hash) const {
        size_t place = hash & (slots_ - 1);
        while (slot_[place].is_used && slot_[place].hash != hash)
            place = (place + 1) & (slots_ - 1);
        return place;
    }

    Memory memory_;
    size_t slots_; // a power of two
    size_t used_ = 0;
    Slot* slot_;
};

} // namespace simhash
