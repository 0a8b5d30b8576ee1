// What the functions for the x86 levels share (simd.hpp).
#pragma once

#include "core/bits/simd.hpp"

#ifdef SIMHASH_X86

#include <immintrin.h>

namespace simhash {

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

} // namespace simhash

#endif
