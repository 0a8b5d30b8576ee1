// Numbers that belong to hashes: a hash table with linear probing, at most half full.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/bits/memory.hpp"

namespace simhash {

class HashNumbers {
  public:
    // Has room for `most` hashes.
    HashNumbers(size_t most, Memory memory) : memory_(memory), slots_(std::bit_ceil(2 * most + 1)) {
        slot_ = allocate_array<Slot>(memory, slots_);
        std::fill_n(slot_, slots_, Slot{0, 0, false});
    }

    // The number of a hash. Null if it has none.
    uint32_t* find(uint64_t hash) const {
        Slot& slot = slot_[place_of(hash)];
        return slot.is_used ? &slot.number : nullptr;
    }

    // The number of a hash, which is `number` if it had none before.
    uint32_t add(uint64_t hash, uint32_t number) {
        Slot& slot = slot_[place_of(hash)];
        if (!slot.is_used)
            slot = {hash, number, true};
        return slot.number;
    }

    void release() { memory_.release(memory_.context, slot_); }

  private:
    struct Slot {
        uint64_t hash;
        uint32_t number;
        bool is_used;
    };

    // Where the hash is, or would be.
    size_t place_of(uint64_t hash) const {
        size_t place = hash & (slots_ - 1);
        while (slot_[place].is_used && slot_[place].hash != hash)
            place = (place + 1) & (slots_ - 1);
        return place;
    }

    Memory memory_;
    size_t slots_; // a power of two
    Slot* slot_;
};

} // namespace simhash
