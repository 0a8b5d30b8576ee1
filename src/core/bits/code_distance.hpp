// The distance of two codes: bit strings of the same length, of any number of bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace simhash {

namespace internal {

// The bytes of the result have the number of ones of each byte, 0..8.
constexpr uint64_t ones_of_bytes(uint64_t word) {
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    return (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
}

// The sum of the bytes, which may be 255 each.
constexpr uint64_t sum_of_bytes(uint64_t bytes) {
    uint64_t pairs = (bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff);
    return pairs * 0x0001000100010001 >> 48;
}

inline uint64_t differing_bits(const uint8_t* a, const uint8_t* b, size_t bytes) {
    uint64_t from_a = 0, from_b = 0;
    memcpy(&from_a, a, bytes);
    memcpy(&from_b, b, bytes);
    return from_a ^ from_b;
}

} // namespace internal

// Returns the number of differing bits in two blocks of `bytes` bytes, at any addresses, and reads
// nothing beyond them. Few processors that the portable build is for count the ones of a word at
// once, so the counts of the bytes are added up for many words, and summed up together.
inline int64_t code_distance(const uint8_t* a, const uint8_t* b, size_t bytes) {
    constexpr size_t kWord = sizeof(uint64_t);
    constexpr size_t kMostWords = 255 / 8; // whose counts a byte can hold
    int64_t distance = 0;
    while (bytes > 0) {
        uint64_t counts = 0;
        size_t block = std::min(bytes, kMostWords * kWord);
        size_t at = 0;
        for (; at + kWord <= block; at += kWord)
            counts += internal::ones_of_bytes(internal::differing_bits(a + at, b + at, kWord));
        if (at < block)
            counts += internal::ones_of_bytes(internal::differing_bits(a + at, b + at, block - at));
        distance += int64_t(internal::sum_of_bytes(counts));
        a += block;
        b += block;
        bytes -= block;
    }
    return distance;
}

} // namespace simhash
