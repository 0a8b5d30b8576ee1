// How often each feature of a document occurs. See feature_counts.hpp.
#include "core/text/feature_counts.hpp"

#include "core/bits/standalone.hpp"

namespace simhash {

bool FeatureCounts::add_to_full(uint64_t hash) {
    // add() writes the next free entry in any case; here there is none.
    for (uint32_t at = home(hash); index_[at] != 0; at = (at + 1) & (slots_ - 1))
        if (features_[index_[at] - 1].hash == hash) {
            features_[index_[at] - 1].frequency++;
            return true;
        }
    return false;
}

void FeatureCounts::grow() {
    // Both arrays double, and keep a quarter of the slots filled at most.
    uint32_t new_slots = 2 * slots_;
    auto* moved = allocate_array<FeatureCount>(memory_, new_slots / kSlotsPerFeature);
    memcpy(moved, features_, distinct_ * sizeof *moved);
    uint32_t kept = distinct_;
    release();
    features_ = moved;
    index_ = allocate_array<uint32_t>(memory_, new_slots);
    slots_ = new_slots;
    shift_--;
    clear();
    // The features are distinct, so an empty slot is all that each needs.
    for (; distinct_ < kept; distinct_++) {
        uint32_t at = home(features_[distinct_].hash);
        while (index_[at] != 0)
            at = (at + 1) & (slots_ - 1);
        index_[at] = distinct_ + 1;
    }
}

} // namespace simhash
