// How often each feature of a document occurs.
//
// The features stand in one array, in order of first appearance, and an open-addressing hash table
// of their numbers beside it finds them. Both start in memory of their own and grow in the
// caller's. Their size is bounded, whatever the document: at kMaxDistinct distinct features the
// document's section ends, its features vote, and counting starts anew. That is part of what a
// fingerprint is (frequencies are damped section by section), so that it does not depend on the
// memory at hand.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/bits/memory.hpp"

namespace simhash {

struct FeatureCount {
    uint64_t hash;
    uint32_t frequency;
    uint32_t bytes; // of the feature's text
};

class FeatureCounts {
  public:
    static constexpr uint32_t kMaxDistinct = 1 << 18;

    explicit FeatureCounts(Memory memory) : memory(memory) { clear(); }

    // False where the section is full: not added.
    bool add(uint64_t hash, uint32_t bytes) {
        if (distinct == room()) { // perhaps not of this one, but then soon
            if (distinct == kMaxDistinct)
                return add_to_full(hash);
            grow();
        }
        // Whether it is new is hard to foretell, so nothing branches on that: the next free entry
        // is made its own, and an empty slot means that entry.
        features[distinct] = {hash, 0, bytes};
        uint32_t at = home(hash), entry = number_at(at);
        while (features[entry].hash != hash) {
            at = (at + 1) & (slots - 1);
            entry = number_at(at);
        }
        index[at] = entry + 1;
        features[entry].frequency++;
        distinct += entry == distinct;
        return true;
    }

    template <class Visit>
    void each(Visit visit) const {
        for (uint32_t i = 0; i < distinct; i++)
            visit(features[i]);
    }

    void clear() {
        memset(index, 0, slots * sizeof *index);
        distinct = 0;
    }

    // Gives the memory back; the table is not used after.
    void release() {
        if (features != first_features) {
            memory.release(memory.context, features);
            memory.release(memory.context, index);
        }
    }

    uint32_t count() const { return distinct; }

  private:
    static constexpr uint32_t kFirstSlots = 2048;
    static constexpr uint32_t kSlotsPerFeature = 4; // at least: the first slot tried is the one

    uint32_t room() const { return slots / kSlotsPerFeature; } // features

    // Multiplied, so that hashes whose low bits are poor (FNV, or a caller's) spread too.
    uint32_t home(uint64_t hash) const { return (uint32_t)((hash * 0x9E3779B97F4A7C15) >> shift); }

    // The feature that a slot names; where it is empty, the next free entry.
    uint32_t number_at(uint32_t slot) const {
        const uint64_t number = index[slot];
        const uint32_t all_where_empty = (uint32_t)((number - 1) >> 32);
        return (uint32_t)number + (all_where_empty & (distinct + 1)) - 1;
    }

    bool add_to_full(uint64_t hash);
    void grow();

    Memory memory;
    FeatureCount first_features[kFirstSlots / kSlotsPerFeature];
    uint32_t first_index[kFirstSlots];
    FeatureCount* features = first_features; // `distinct` of them, room for room()
    uint32_t* index = first_index;           // numbers of features, from 1; 0: empty slot
    uint32_t slots = kFirstSlots;
    int shift = 64 - 11; // 64 - log2(slots)
    uint32_t distinct = 0;
};

static_assert((FeatureCounts::kMaxDistinct & (FeatureCounts::kMaxDistinct - 1)) == 0,
              "a full section is a full table");

} // namespace simhash
