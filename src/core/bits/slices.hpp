// The slices of a range. A range holds the keys with the same prefix as a target; its slices hold
// those of them that differ from the target in at most one of the next few bits.
//
//     target   0110 | 101 | ...        the range: keys that begin with 0110
//     slices   0110 | 101, 001, 111 and 100
//
// If the plan says so (layout/probe_plan.hpp), the search of a large range looks only at its
// slices: with n bits, at n + 1 of 2^n equal parts.
#pragma once

#include <algorithm>

#include "core/bits/fingerprint.hpp"

namespace simhash {

struct Slices {
    uint64_t target = 0;     // a key
    uint8_t prefix_bits = 0; // bits that all keys of the range share with the target
    uint8_t bits = 0;        // bits after these of which one may differ; 0: the range is not cut

    bool cut_range() const { return bits > 0; }
    // One slice for each of the bits, and the target's own, number 0.
    int count() const { return bits + 1; }
    uint64_t first(int slice) const { return (target ^ flip(slice)) & mask(); }
    uint64_t last(int slice) const { return first(slice) | ~mask(); }

    bool contain(uint64_t key) const {
        uint64_t differing = (key ^ target) & mask();
        return (differing & (differing - 1)) == 0;
    }
    // Moves a key up to the least one in a slice that is not less. False if there is none.
    bool advance(uint64_t* key) const {
        bool found = false;
        uint64_t least = UINT64_MAX;
        for (int i = 0; i < count(); i++)
            if (uint64_t from = std::max(first(i), *key); from <= last(i)) {
                least = std::min(least, from);
                found = true;
            }
        if (found)
            *key = least;
        return found;
    }

  private:
    uint64_t mask() const { return leading_mask(prefix_bits + bits); }
    uint64_t flip(int slice) const {
        return slice == 0 ? 0 : uint64_t{1} << (kFingerprintBits - prefix_bits - slice);
    }
};

} // namespace simhash
