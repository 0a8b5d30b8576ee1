// How the bits of a code, a bit string, are dealt to the 64-bit words that the index keeps of it.
//
// Bits are dealt by turns: of w words, word i has the bits i, i + w, i + 2w, ... Neighbouring bits
// of a picture's hash often change together, and by turns no word has all of them. A word of m < 64
// bits has them spread evenly over its 64 positions, so that every block of a layout has its share:
//
//   100 bits, 2 words of 50     word 0: bits 0, 2, 4, ... at positions 0, 1, 2, 3, 5, ... from the
//                               top; word 1: bits 1, 3, 5, ... at the same positions
//
// This is a format: what an index holds depends on it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "core/bits/distance.hpp"

namespace simhash {

constexpr int kMaxCodeBits = 1024; // of which an index can keep the words

constexpr int word_count_of_bits(int bit_count) {
    return (bit_count + kFingerprintBits - 1) / kFingerprintBits;
}

// The number of bits that a word has: of two words, the first has at most one more.
constexpr int bits_of_word(int bit_count, int word_count, int word) {
    return bit_count / word_count + (word < bit_count % word_count);
}

namespace internal {

// Returns every step-th of the bits from `first` on, in the low bits of a word.
constexpr uint64_t gather_bits(const uint8_t* bits, int bit_count, int first, int step) {
    uint64_t gathered = 0;
    for (int i = first; i < bit_count; i += step)
        gathered = gathered << 1 | (bits[i / 8] >> (7 - i % 8) & 1);
    return gathered;
}

// Moves the lowest `count` (1..64) bits to places spread evenly over the word, in their order; the
// first of them becomes the highest bit.
constexpr uint64_t spread_bits(uint64_t gathered, int count) {
    if (count == kFingerprintBits)
        return gathered;
    uint64_t word = 0;
    for (int i = 0; i < count; i++) {
        uint64_t bit = gathered >> (count - 1 - i) & 1;
        word |= bit << (kFingerprintBits - 1 - i * kFingerprintBits / count);
    }
    return word;
}

} // namespace internal

// Writes the words of a code into words[word_count_of_bits(bit_count)]. Bit 0 is the highest of
// byte 0, as the server stores bit strings.
constexpr void words_of_bits(const uint8_t* bits, int bit_count, uint64_t* words) {
    int word_count = word_count_of_bits(bit_count);
    for (int i = 0; i < word_count; i++)
        words[i] = internal::spread_bits(internal::gather_bits(bits, bit_count, i, word_count),
                                         bits_of_word(bit_count, word_count, i));
}

// The distance up to which two codes of this length count as near: linear between these points,
// rounded down. PDQ calls pictures equal within 31 of 256 bits.
constexpr int near_radius_of_bits(int bit_count) {
    constexpr struct { int bits, radius; } kPoints[] = {{0, 0}, {64, 8}, {128, 18}, {256, 31}};
    constexpr int kLast = int(std::size(kPoints)) - 1;
    if (bit_count >= kPoints[kLast].bits)
        return bit_count / 8 - 1;
    int above = 1;
    while (bit_count > kPoints[above].bits)
        above++;
    auto [bits, radius] = kPoints[above - 1];
    return radius + (std::max(bit_count, 0) - bits) * (kPoints[above].radius - radius) /
                        (kPoints[above].bits - bits);
}

} // namespace simhash
