// ASCII text, 64 characters at a time: finds the letters and digits, and folds them.
//
// Most text is largely ASCII, and there words are found by bits: the mask has a 1 for each letter
// or digit, and a word begins or ends where neighbouring bits differ.
//
//   "It's 5 o'clock"  ->  11010101011111        (shown from left to right)
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace simhash {

constexpr size_t kAsciiBlock = 64; // characters

// Reads kAsciiBlock ASCII characters and writes as many: letters in lower case, digits as they are,
// any byte for the rest. Bit i of the result is set if character i is a letter or digit.
inline uint64_t letters_of(const uint8_t* text, uint8_t* folded) {
    using Sixteen [[gnu::vector_size(16)]] = uint8_t;
    uint64_t letters = 0;
    for (size_t i = 0; i < kAsciiBlock; i += 16) {
        Sixteen given;
        memcpy(&given, text + i, sizeof(given));
        Sixteen lower = given | uint8_t{0x20};
        memcpy(folded + i, &lower, sizeof(lower));
        // The differences are unsigned: lesser characters wrap around to great numbers. A
        // comparison gives all ones or zeros.
        Sixteen found = Sixteen(lower - uint8_t{'a'} <= uint8_t{'z' - 'a'}) |
                        Sixteen(given - uint8_t{'0'} <= uint8_t{'9' - '0'});
#ifdef __SSE2__
        __m128i bytes;
        memcpy(&bytes, &found, sizeof(bytes));
        letters |= uint64_t(uint32_t(_mm_movemask_epi8(bytes))) << i;
#else
        // Each of eight bytes keeps the bit of its place, and a multiplication adds them up.
        found &= Sixteen{1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        uint64_t halves[2];
        memcpy(halves, &found, sizeof(halves));
        letters |= (halves[0] * 0x0101010101010101 >> 56) << i;
        letters |= (halves[1] * 0x0101010101010101 >> 56) << (i + 8);
#endif
    }
    return letters;
}

// The same for `count` <= kAsciiBlock characters; `folded` has room for kAsciiBlock.
inline uint64_t letters_of(const uint8_t* text, size_t count, uint8_t* folded) {
    if (count == kAsciiBlock)
        return letters_of(text, folded);
    // A 0 is no letter. The copy keeps the reading inside of the text.
    uint8_t padded[kAsciiBlock] = {};
    memcpy(padded, text, count);
    return letters_of(padded, folded);
}

} // namespace simhash
