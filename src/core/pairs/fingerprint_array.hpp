// Fingerprints in memory, with room to sort them. The caller owns the memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simhash {

struct FingerprintArray {
    uint64_t* fingerprints; // [count]
    uint64_t* scratch;      // [count]
    size_t count;

    FingerprintArray part(size_t begin, size_t end) const {
        return {fingerprints + begin, scratch + begin, end - begin};
    }
};

} // namespace simhash
