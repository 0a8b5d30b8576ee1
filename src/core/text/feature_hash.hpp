// The hash of one feature: 64 bits of its UTF-8 bytes. XXH3 is compiled in from the xxHash
// package's header: its output is fixed since version 0.8.0.
#pragma once

#include <cstddef>
#include <cstdint>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/bits/simd.hpp"

namespace simhash {

static_assert(XXH_VERSION_NUMBER >= 800, "XXH3 is stable from xxHash 0.8.0 on");

enum class HashKind : uint8_t {
    kXxh3, // XXH3, 64 bits, seed 0
    kFnv1, // FNV-1, 64 bits: what several other libraries use
};

inline uint64_t fnv1(const uint8_t* text, size_t bytes) {
    uint64_t hash = 0xCBF29CE484222325;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash * 0x100000001B3) ^ text[i];
    return hash;
}

inline uint64_t hash_feature(HashKind kind, const uint8_t* text, size_t bytes) {
    return kind == HashKind::kXxh3 ? XXH3_64bits(text, bytes) : fnv1(text, bytes);
}

// The finaliser of splitmix64 (Steele, Lea, Flood 2014): every bit of the result depends on every
// bit of z, and different z have different results. z: uint64_t, or a vector of such
constexpr void mix_in_place(auto& z) {
    z = (z ^ z >> 30) * uint64_t{0xBF58476D1CE4E5B9};
    z = (z ^ z >> 27) * uint64_t{0x94D049BB133111EB};
    z ^= z >> 31;
}
constexpr uint64_t mix(uint64_t z) {
    mix_in_place(z);
    return z;
}
// Puts mix() of each of the numbers in its place. `count` is a multiple of 64.
void mix_all(uint64_t* numbers, size_t count, SimdLevel highest = kHighestSimdLevel);

} // namespace simhash
