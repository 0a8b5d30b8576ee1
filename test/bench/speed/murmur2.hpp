// pgbench's hash_murmur2(value, seed), so that a pgbench script can ask for what the bench's
// generators made.

#pragma once

#include <cstdint>

inline uint64_t murmur2(uint64_t value, uint64_t seed) {
    constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
    uint64_t result = seed ^ (8 * kMultiplier);
    value *= kMultiplier;
    value ^= value >> 47;
    value *= kMultiplier;
    result ^= value;
    result *= kMultiplier;
    result ^= result >> 47;
    result *= kMultiplier;
    result ^= result >> 47;
    return result;
}
