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
    union {
        uint32_t frequency;
        uint32_t weight; // in the frequency's place, once that has been weighed
    };
    uint16_t bytes; // of the feature's text
    uint8_t first;  // of these bytes
};

class FeatureCounts {
  public:
    static constexpr uint32_t kMaxDistinct = 1 << 18;

    explicit FeatureCounts(Memory memory) : memory_(memory) { clear(); }

    // False where the section is full: not added.
    bool add(uint64_t hash, const uint8_t* text, size_t bytes) {
        if (distinct_ == room()) { // perhaps not of this one, but then soon
            if (distinct_ == kMaxDistinct)
                return add_to_full(hash);
            grow();
        }
        // Whether it is new is hard to foretell, so nothing branches on that: the next free entry
        // is made its own, and an empty slot means that entry.
        features_[distinct_] = {hash, {0}, uint16_t(bytes), text[0]};
        uint32_t at = home(hash), entry = number_at(at);
        while (features_[entry].hash != hash) {
            at = (at + 1) & (slots_ - 1);
            entry = number_at(at);
        }
        index_[at] = entry + 1;
        features_[entry].frequency++;
        distinct_ += entry == distinct_;
        return true;
    }

    FeatureCount* features() { return features_; }
    uint32_t distinct() const { return distinct_; }

    void clear() {
        memset(index_, 0, slots_ * sizeof *index_);
        distinct_ = 0;
    }

    // Gives the memory back; the table is not used after.
    void release() {
        if (features_ != first_features_) {
            memory_.release(memory_.context, features_);
            memory_.release(memory_.context, index_);
        }
    }

  private:
    static constexpr uint32_t kFirstSlots = 2048;
    static constexpr uint32_t kSlotsPerFeature = 4; // at least: the first slot tried is the one

    uint32_t room() const { return slots_ / kSlotsPerFeature; } // features

    // Multiplied, so that hashes whose low bits are poor (FNV, or a caller's) spread too.
    uint32_t home(uint64_t hash) const { return uint32_t((hash * 0x9E3779B97F4A7C15) >> shift_); }

    // The feature that a slot names; where it is empty, the next free entry.
    uint32_t number_at(uint32_t slot) const {
        uint64_t number = index_[slot];
        uint32_t all_where_empty = uint32_t((number - 1) >> 32);
        return uint32_t(number) + (all_where_empty & (distinct_ + 1)) - 1;
    }

    bool add_to_full(uint64_t hash);
    void grow();

    Memory memory_;
    FeatureCount first_features_[kFirstSlots / kSlotsPerFeature];
    uint32_t first_index_[kFirstSlots];
    FeatureCount* features_ = first_features_; // `distinct` of them, room for room()
    uint32_t* index_ = first_index_;           // numbers of features, from 1; 0: empty slot
    uint32_t slots_ = kFirstSlots;
    int shift_ = 64 - 11; // 64 - log2(slots)
    uint32_t distinct_ = 0;
};

static_assert((FeatureCounts::kMaxDistinct & (FeatureCounts::kMaxDistinct - 1)) == 0,
              "a full section is a full table");

} // namespace simhash
