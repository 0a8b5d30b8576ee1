// How often each feature of a document occurs. See feature_counts.hpp.
#include "core/text/feature_counts.hpp"

namespace simhash {

bool FeatureCounts::add_to_full(uint64_t hash) {
    for (uint32_t at = home(hash); index[at] != 0; at = (at + 1) & (slots - 1))
        if (features[index[at] - 1].hash == hash) {
            features[index[at] - 1].frequency++;
            return true;
        }
    return false;
}

void FeatureCounts::grow() {
    const uint32_t new_slots = 2 * slots;
    FeatureCount* moved = (FeatureCount*)memory.allocate(
        memory.context, new_slots / kSlotsPerFeature * sizeof *moved);
    memcpy(moved, features, distinct * sizeof *moved);
    const uint32_t kept = distinct;
    release();
    features = moved;
    index = (uint32_t*)memory.allocate(memory.context, new_slots * sizeof *index);
    slots = new_slots;
    shift--;
    clear();
    for (; distinct < kept; distinct++) {
        uint32_t at = home(features[distinct].hash);
        while (index[at] != 0)
            at = (at + 1) & (slots - 1);
        index[at] = distinct + 1;
    }
}

} // namespace simhash
