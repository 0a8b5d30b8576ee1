// How often each feature of a document occurs: a hash table from feature hash to frequency.
//
// It starts in memory of its own and grows in the caller's. Its size is bounded, whatever the
// document: at kMaxDistinct distinct features the document's section ends, its features vote, and
// counting starts anew. That is part of what a fingerprint is (frequencies are damped section by
// section), so that it does not depend on the memory at hand.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/memory.hpp"

namespace simhash {

struct FeatureCount {
    uint64_t hash;
    uint32_t frequency; // 0: empty slot
};

class FeatureCounts {
  public:
    enum class Added { kNew, kAgain, kSectionFull }; // the last: not added
    static constexpr uint32_t kMaxDistinct = 1 << 18;

    explicit FeatureCounts(Memory memory) : memory(memory) { clear(); }

    Added add(uint64_t hash) {
        FeatureCount* slot = find(hash);
        if (slot->frequency != 0) {
            slot->frequency++;
            return Added::kAgain;
        }
        if (distinct == kMaxDistinct)
            return Added::kSectionFull;
        if (2 * (distinct + 1) > slots) {
            grow();
            slot = find(hash);
        }
        distinct++;
        *slot = {hash, 1};
        return Added::kNew;
    }

    template <class Visit>
    void each(Visit visit) const {
        for (uint32_t i = 0; i < slots; i++)
            if (table[i].frequency != 0)
                visit(table[i]);
    }

    void clear() {
        memset(table, 0, slots * sizeof *table);
        distinct = 0;
    }

    // Gives the memory back; the table is not used after.
    void release() {
        if (table != first)
            memory.release(memory.context, table);
    }

    uint32_t count() const { return distinct; }

  private:
    static constexpr uint32_t kFirstSlots = 1024;

    // Multiplied, so that hashes whose low bits are poor (FNV, or a caller's) spread too.
    FeatureCount* find(uint64_t hash) {
        uint32_t at = (uint32_t)((hash * 0x9E3779B97F4A7C15) >> shift);
        while (table[at].frequency != 0 && table[at].hash != hash)
            at = (at + 1) & (slots - 1);
        return table + at;
    }

    void grow();

    Memory memory;
    FeatureCount first[kFirstSlots];
    FeatureCount* table = first;
    uint32_t slots = kFirstSlots;
    int shift = 64 - 10;   // 64 - log2(slots)
    uint32_t distinct = 0; // slots in use, at most half
};

} // namespace simhash
