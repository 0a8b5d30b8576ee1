// WordsAt (simd.hpp) with the vectors of x86 and of AArch64.
#pragma once

#include <bit>
#include <cstddef>

#include "core/bits/fingerprint.hpp"
#include "core/bits/simd.hpp"

#if defined(SIMHASH_X86)
#include <immintrin.h>
#elif defined(SIMHASH_NEON)
#include <arm_neon.h>
#endif

namespace simhash {

#if defined(SIMHASH_X86)

template <>
struct WordsAt<SimdLevel::kAvx2> : WordsAt<SimdLevel::kPortable> {
    static constexpr size_t kWords = 4;
    static constexpr int kMaskBits = 1;

    SIMHASH_TARGET(SIMHASH_AVX2)
    static unsigned near_words(const void* words, const uint64_t* targets, size_t count,
                               int radius) {
        __m256i given = _mm256_loadu_si256(static_cast<const __m256i*>(words));
        // This is greater than any distance. A distance is in the lowest byte of its word, and the
        // others are 0: so the minimum by bytes is that of the distances.
        __m256i least = _mm256_set1_epi64x(kFingerprintBits + 1);
        for (size_t i = 0; i < count; i++) {
            __m256i ones =
                ones_of_bytes(_mm256_xor_si256(given, _mm256_set1_epi64x(int64_t(targets[i]))));
            least = _mm256_min_epu8(least, _mm256_sad_epu8(ones, _mm256_setzero_si256()));
        }
        __m256i within = _mm256_cmpgt_epi64(_mm256_set1_epi64x(radius + 1), least);
        return unsigned(_mm256_movemask_pd(_mm256_castsi256_pd(within)));
    }

    SIMHASH_TARGET(SIMHASH_AVX2)
    static unsigned near_halves(const uint8_t* halves, uint32_t target, int radius) {
        unsigned near = 0;
        for (int i = 0; i < 16; i += 8) {
            __m256i given = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves + 4 * i));
            __m256i ones = ones_of_bytes(_mm256_xor_si256(given, _mm256_set1_epi32(int(target))));
            // The ones of bytes are added up to pairs, and these to the four bytes of a half.
            __m256i pairs = _mm256_maddubs_epi16(ones, _mm256_set1_epi8(1));
            __m256i distances = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
            __m256i within = _mm256_cmpgt_epi32(_mm256_set1_epi32(radius + 1), distances);
            near |= unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(within))) << i;
        }
        return near;
    }

  private:
    // The number of ones in each byte, looked up for each half of it.
    SIMHASH_TARGET(SIMHASH_AVX2)
    [[gnu::always_inline]] static __m256i ones_of_bytes(__m256i bytes) {
        __m256i low_half = _mm256_set1_epi8(0x0f);
        __m256i ones_of_half = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0,
                                                1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        __m256i low = _mm256_and_si256(bytes, low_half);
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_half);
        return _mm256_add_epi8(_mm256_shuffle_epi8(ones_of_half, low),
                               _mm256_shuffle_epi8(ones_of_half, high));
    }
};

template <>
struct WordsAt<SimdLevel::kAvx512> {
    static constexpr size_t kWords = 8;
    static constexpr int kMaskBits = 1;

    SIMHASH_TARGET(SIMHASH_AVX512)
    static unsigned near_words(const void* words, const uint64_t* targets, size_t count,
                               int radius) {
        constexpr __mmask16 kAll = 0xffff; // _mm512_min_epu32 would do, but GCC 12 warns of it
        __m512i given = _mm512_loadu_si512(words);
        __m512i least = _mm512_set1_epi64(kFingerprintBits + 1);
#pragma GCC unroll 8
        for (size_t i = 0; i < count; i++) {
            __m512i differing = _mm512_xor_si512(given, _mm512_set1_epi64(int64_t(targets[i])));
            least = _mm512_maskz_min_epu32(kAll, least, _mm512_popcnt_epi64(differing));
        }
        return _mm512_cmple_epi64_mask(least, _mm512_set1_epi64(radius));
    }

    SIMHASH_TARGET(SIMHASH_AVX512)
    static unsigned near_halves(const uint8_t* halves, uint32_t target, int radius) {
        __m512i differing =
            _mm512_xor_si512(_mm512_loadu_si512(halves), _mm512_set1_epi32(int(target)));
        return _mm512_cmple_epi32_mask(_mm512_popcnt_epi32(differing), _mm512_set1_epi32(radius));
    }

    SIMHASH_TARGET(SIMHASH_AVX512) static int nth_one(uint64_t bits, uint64_t n) {
        return std::countr_zero(_pdep_u64(uint64_t{1} << (n - 1), bits));
    }
};

#elif defined(SIMHASH_NEON)

template <>
struct WordsAt<SimdLevel::kNeon> : WordsAt<SimdLevel::kPortable> {
    static constexpr size_t kWords = 16;
    static constexpr int kMaskBits = 4;

    static uint64_t near_words(const void* words, const uint64_t* targets, size_t count,
                               int radius) {
        uint8x16_t least = vdupq_n_u8(kFingerprintBits + 1);
        for (size_t i = 0; i < count; i++)
            least = vminq_u8(
                least, distances_of_sixteen<8>(static_cast<const uint8_t*>(words),
                                               vreinterpretq_u8_u64(vdupq_n_u64(targets[i]))));
        return mask_within(least, radius);
    }

    static uint64_t near_halves(const uint8_t* halves, uint32_t target, int radius) {
        return mask_within(
            distances_of_sixteen<4>(halves, vreinterpretq_u8_u32(vdupq_n_u32(target))), radius);
    }

  private:
    // The distances of sixteen adjacent words of word_bytes bytes from the word that `target`
    // repeats, a byte for each. Ones are counted byte by byte; neighbouring counts are added until
    // each word has one count.
    template <int word_bytes>
    [[gnu::always_inline]] static uint8x16_t distances_of_sixteen(const uint8_t* words,
                                                                  uint8x16_t target) {
        if constexpr (word_bytes == 1)
            return vcntq_u8(veorq_u8(vld1q_u8(words), target));
        else
            return vpaddq_u8(distances_of_sixteen<word_bytes / 2>(words, target),
                             distances_of_sixteen<word_bytes / 2>(words + 8 * word_bytes, target));
    }

    [[gnu::always_inline]] static uint64_t mask_within(uint8x16_t distances, int radius) {
        uint8x16_t within = vcleq_s8(vreinterpretq_s8_u8(distances), vdupq_n_s8(int8_t(radius)));
        uint8x8_t mask = vshrn_n_u16(vreinterpretq_u16_u8(within), kMaskBits);
        return vget_lane_u64(vreinterpret_u64_u8(mask), 0) & 0x1111111111111111;
    }
};

#endif

} // namespace simhash
