// ASCII text, 64 characters at a time: finds the letters and digits, and folds them.
//
// Most text is largely ASCII, and there words are found by bits: the mask has a 1 for each letter
// or digit, and a word begins or ends where neighbouring bits differ.
//
//   "It's 5 o'clock"  ->  11010101011111        (shown from left to right)
//
// The forms with SSE2, which every x86-64 processor has, and with NEON, which every AArch64
// processor has, give the same results as the portable one; a test compares them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/bits/neon.hpp"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace simhash {

constexpr size_t kAsciiBlock = 64; // characters

// Reads kAsciiBlock ASCII characters and writes as many: letters in lower case, digits as they are,
// any byte for the rest. Bit i of the result is set if character i is a letter or digit.
inline uint64_t letters_of_portable(const uint8_t* text, uint8_t* folded) {
    constexpr uint64_t kOnes = 0x0101010101010101;
    uint64_t letters = 0;
    for (size_t i = 0; i < kAsciiBlock; i += 8) {
        uint64_t eight;
        memcpy(&eight, text + i, 8);
        uint64_t lower = eight | 0x20 * kOnes;
        memcpy(folded + i, &lower, 8);
        // In each byte the highest bit of c + (128 - first) is set if c >= first.
        uint64_t letter = (lower + (128 - 'a') * kOnes) & ~(lower + (128 - ('z' + 1)) * kOnes);
        uint64_t digit = (eight + (128 - '0') * kOnes) & ~(eight + (128 - ('9' + 1)) * kOnes);
        uint64_t top = ((letter | digit) & 0x80 * kOnes) >> 7;
        if constexpr (std::endian::native == std::endian::big)
            top = __builtin_bswap64(top);
        // The multiplication gathers the lowest bits of eight bytes into the highest byte: bit i is
        // that of byte i.
        letters |= (top * 0x0102040810204080 >> 56) << i;
    }
    return letters;
}

#if defined(__SSE2__)
inline uint64_t letters_of_sse2(const uint8_t* text, uint8_t* folded) {
    uint64_t letters = 0;
    for (size_t i = 0; i < kAsciiBlock; i += 16) {
        // ASCII has no negative bytes, so signed comparisons will do.
        __m128i given = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + i));
        __m128i lower = _mm_or_si128(given, _mm_set1_epi8(0x20));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(folded + i), lower);
        __m128i letter = _mm_and_si128(_mm_cmpgt_epi8(lower, _mm_set1_epi8('a' - 1)),
                                       _mm_cmplt_epi8(lower, _mm_set1_epi8('z' + 1)));
        __m128i digit = _mm_and_si128(_mm_cmpgt_epi8(given, _mm_set1_epi8('0' - 1)),
                                      _mm_cmplt_epi8(given, _mm_set1_epi8('9' + 1)));
        letters |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_or_si128(letter, digit)))) << i;
    }
    return letters;
}
#elif defined(SIMHASH_NEON)
inline uint64_t letters_of_neon(const uint8_t* text, uint8_t* folded) {
    // For a letter or digit, the bit of its place among eight neighbours; otherwise 0.
    auto bits_of_sixteen = [=](size_t i) {
        uint8x16_t given = vld1q_u8(text + i);
        uint8x16_t lower = vorrq_u8(given, vdupq_n_u8(0x20));
        vst1q_u8(folded + i, lower);
        uint8x16_t letter = vcltq_u8(vsubq_u8(lower, vdupq_n_u8('a')), vdupq_n_u8('z' - 'a' + 1));
        uint8x16_t digit = vcltq_u8(vsubq_u8(given, vdupq_n_u8('0')), vdupq_n_u8('9' - '0' + 1));
        constexpr uint8x16_t kBits = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
        return vandq_u8(vorrq_u8(letter, digit), kBits);
    };
    // Neighbours are added until eight of them are in one byte.
    uint8x16_t pairs_of_first = vpaddq_u8(bits_of_sixteen(0), bits_of_sixteen(16));
    uint8x16_t pairs_of_second = vpaddq_u8(bits_of_sixteen(32), bits_of_sixteen(48));
    uint8x16_t fours = vpaddq_u8(pairs_of_first, pairs_of_second);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(fours, fours)), 0);
}
#endif

inline uint64_t letters_of(const uint8_t* text, uint8_t* folded) {
#if defined(__SSE2__)
    return letters_of_sse2(text, folded);
#elif defined(SIMHASH_NEON)
    return letters_of_neon(text, folded);
#else
    return letters_of_portable(text, folded);
#endif
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
