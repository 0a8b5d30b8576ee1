// Counting ones with the vectors of x86 and of AArch64 (simd.hpp).
#pragma once

#include "core/bits/simd.hpp"

#if defined(SIMHASH_X86)
#include <immintrin.h>
#elif defined(SIMHASH_NEON)
#include <arm_neon.h>
#endif

namespace simhash {

#if defined(SIMHASH_X86)

// The number of ones in each byte, looked up for each half of it.
SIMHASH_TARGET(SIMHASH_AVX2) [[gnu::always_inline]] inline __m256i ones_of_bytes(__m256i bytes) {
    __m256i low_half = _mm256_set1_epi8(0x0f);
    __m256i ones_of_half = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1,
                                            2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    __m256i low = _mm256_and_si256(bytes, low_half);
    __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
    return _mm256_add_epi8(_mm256_shuffle_epi8(ones_of_half, low),
                           _mm256_shuffle_epi8(ones_of_half, high));
}

#elif defined(SIMHASH_NEON)

// The distances of sixteen adjacent words of word_bytes bytes from the word that `target` repeats,
// a byte for each. Ones are counted byte by byte; neighbouring counts are added until each word has
// one count.
template <int word_bytes>
[[gnu::always_inline]] inline uint8x16_t distances_of_sixteen(const uint8_t* words,
                                                              uint8x16_t target) {
    if constexpr (word_bytes == 1)
        return vcntq_u8(veorq_u8(vld1q_u8(words), target));
    else
        return vpaddq_u8(distances_of_sixteen<word_bytes / 2>(words, target),
                         distances_of_sixteen<word_bytes / 2>(words + 8 * word_bytes, target));
}

// Which of sixteen distances are within a radius (-64 .. 64, none below 0). The mask has kMaskBits
// bits for each distance; the lowest of them is set if it is within.
constexpr int kMaskBits = 4;
[[gnu::always_inline]] inline uint64_t mask_within(uint8x16_t distances, int radius) {
    uint8x16_t within = vcleq_s8(vreinterpretq_s8_u8(distances), vdupq_n_s8(int8_t(radius)));
    uint8x8_t mask = vshrn_n_u16(vreinterpretq_u16_u8(within), kMaskBits);
    return vget_lane_u64(vreinterpret_u64_u8(mask), 0) & 0x1111111111111111;
}

#endif

} // namespace simhash
