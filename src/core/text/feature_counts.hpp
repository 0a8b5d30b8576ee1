// How often each feature of a document occurs, and how much it weighs.
//
// One array holds the features in order of first appearance. An open-addressing hash table of their
// numbers finds them. Both start in memory of their own and grow in the caller's. Their size is
// bounded for any document: at kMaxDistinct distinct features the document's section ends, its
// features vote, and counting starts again from zero. Sections are part of the fingerprint's
// definition (frequencies are damped section by section), so it does not depend on the available
// memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/bits/memory.hpp"

namespace simhash {

struct FeatureCount {
    uint64_t hash;
    union {
        uint32_t frequency;
        uint32_t weight; // replaces the frequency once the feature is weighed
    };
    uint16_t bytes; // of the feature's text
    uint8_t first;  // of these bytes
};

class FeatureCounts {
  public:
    // This is a part of the fingerprint's definition: it may never change. 262 144 features take 8
    // MB here, 16 bytes and four slots each.
    static constexpr uint32_t kMaxDistinct = 1 << 18;

    explicit FeatureCounts(Memory memory) : memory_(memory) { clear(); }

    // False if the section is full; the feature is then not added.
    bool add(uint64_t hash, const uint8_t* text, size_t bytes) {
        // Also if this feature is not new: another one soon will be.
        if (distinct_ == room() && distinct_ < kMaxDistinct)
            grow();
        // A branch on whether the feature is new would be mispredicted. So the next free entry is
        // filled with it in any case, and an empty slot means that entry.
        features_[distinct_] = {hash, {0}, uint16_t(bytes), text[0]};
        uint32_t at = home(hash), entry = number_at(at);
        while (features_[entry].hash != hash) {
            at = (at + 1) & (slots_ - 1);
            entry = number_at(at);
        }
        if (entry == kMaxDistinct) // the section is full, and the feature is new
            return false;
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

    // Releases the memory. The table must not be used afterwards.
    void release() {
        if (features_ != first_features_) {
            memory_.release(memory_.context, features_);
            memory_.release(memory_.context, index_);
        }
    }

  private:
    static constexpr uint32_t kFirstSlots = 2048;
    static constexpr uint32_t kSlotsPerFeature = 4; // at least, so the first slot tried mostly fits

    uint32_t room() const { return slots_ / kSlotsPerFeature; } // features

    // The multiplication spreads hashes with poor low bits (FNV, or a caller's), too.
    uint32_t home(uint64_t hash) const { return uint32_t((hash * 0x9E3779B97F4A7C15) >> shift_); }

    // The entry that a slot names; for an empty slot, the next free entry.
    uint32_t number_at(uint32_t slot) const {
        uint64_t number = index_[slot];
        uint32_t all_where_empty = uint32_t((number - 1) >> 32);
        return uint32_t(number) + (all_where_empty & (distinct_ + 1)) - 1;
    }

    void grow();

    Memory memory_;
    FeatureCount first_features_[kFirstSlots / kSlotsPerFeature + 1];
    uint32_t first_index_[kFirstSlots];
    FeatureCount* features_ = first_features_; // `distinct` of them, room for room() and a free one
    uint32_t* index_ = first_index_;           // numbers of features, from 1; 0: empty slot
    uint32_t slots_ = kFirstSlots;
    int shift_ = 64 - 11; // 64 - log2(slots)
    uint32_t distinct_ = 0;
};

static_assert((FeatureCounts::kMaxDistinct & (FeatureCounts::kMaxDistinct - 1)) == 0,
              "a full section is a full table");

// ---- weights ----

// The weight of a feature that occurs f times. docs/fingerprints.md gives the reasons for the
// default, docs/choosing.md the measurements.
enum class Weighting : uint8_t {
    kBalanced, // log2(1 + f)^(9/4), times the square root of the feature's bytes, at most 12; half
               // of that if it begins with a digit; at most an eighth of all weights
    kTf,       // f
    kSqrt,     // square root of f
    kLog,      // 1 + ln f
    kBinary,   // 1
};

// A feature's weight before it is bounded. Weightings that are not whole numbers have kWeightBits
// bits after the point: only the ratios of the weights of one document matter.
constexpr int kWeightBits = 8;
uint32_t feature_weight(Weighting weighting, const FeatureCount& feature);

// Replaces each feature's frequency by its weight.
void weigh(Weighting weighting, FeatureCount* features, size_t count);

} // namespace simhash
