// How often each feature of a document occurs. See feature_counts.hpp.
#include "core/feature_counts.hpp"

namespace simhash {

void FeatureCounts::grow() {
    FeatureCount* old = table;
    const uint32_t old_slots = slots;
    table = (FeatureCount*)memory.allocate(memory.context, 2 * (size_t)slots * sizeof *table);
    slots *= 2;
    shift--;
    memset(table, 0, slots * sizeof *table);
    for (uint32_t i = 0; i < old_slots; i++)
        if (old[i].frequency != 0)
            *find(old[i].hash) = old[i];
    if (old != first)
        memory.release(memory.context, old);
}

} // namespace simhash
