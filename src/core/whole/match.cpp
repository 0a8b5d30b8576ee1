// Kernels of match.hpp. Each is the same loop; what differs is how many differences are counted at
// once. The choice is made at run time, so that the build stays portable.
#include "core/whole/match.hpp"

#include <bit>

#include "core/bits/distance.hpp"
#include "core/bits/standalone.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMHASH_X86 1
#include <immintrin.h>
#endif

namespace simhash {
namespace {

size_t match_portable(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                      uint16_t* matches) {
    size_t found = 0;
    for (size_t i = 0; i < count; ++i)
        if (hamming_distance(query, fingerprints[i]) <= radius)
            matches[found++] = static_cast<uint16_t>(i);
    return found;
}

#ifdef SIMHASH_X86

__attribute__((target("popcnt"))) size_t match_popcnt(uint64_t query, const uint64_t* fingerprints,
                                                      size_t count, int radius, uint16_t* matches) {
    size_t found = 0;
    for (size_t i = 0; i < count; ++i)
        if (__builtin_popcountll(query ^ fingerprints[i]) <= radius)
            matches[found++] = static_cast<uint16_t>(i);
    return found;
}

// Counts four words at once by looking up the ones of each half byte.
__attribute__((target("avx2,popcnt"))) size_t match_avx2(uint64_t query,
                                                         const uint64_t* fingerprints, size_t count,
                                                         int radius, uint16_t* matches) {
    const __m256i queries = _mm256_set1_epi64x(static_cast<int64_t>(query));
    const __m256i beyond = _mm256_set1_epi64x(radius + 1);
    const __m256i low_half = _mm256_set1_epi8(0x0f);
    const __m256i ones_of_half = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0,
                                                  1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
    size_t found = 0, i = 0;
    for (; i + 4 <= count; i += 4) {
        __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(fingerprints + i));
        __m256i x = _mm256_xor_si256(words, queries);
        __m256i low = _mm256_and_si256(x, low_half);
        __m256i high = _mm256_and_si256(_mm256_srli_epi16(x, 4), low_half);
        __m256i bytes = _mm256_add_epi8(_mm256_shuffle_epi8(ones_of_half, low),
                                        _mm256_shuffle_epi8(ones_of_half, high));
        __m256i distances = _mm256_sad_epu8(bytes, _mm256_setzero_si256());
        __m256i within = _mm256_cmpgt_epi64(beyond, distances);
        unsigned hits = static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(within)));
        for (; hits != 0; hits &= hits - 1)
            matches[found++] = static_cast<uint16_t>(i + std::countr_zero(hits));
    }
    for (; i < count; ++i)
        if (__builtin_popcountll(query ^ fingerprints[i]) <= radius)
            matches[found++] = static_cast<uint16_t>(i);
    return found;
}

__attribute__((target("avx512f,avx512vpopcntdq"))) size_t match_avx512(uint64_t query,
                                                                       const uint64_t* fingerprints,
                                                                       size_t count, int radius,
                                                                       uint16_t* matches) {
    const __m512i queries = _mm512_set1_epi64(static_cast<int64_t>(query));
    const __m512i limit = _mm512_set1_epi64(radius);
    size_t found = 0;
    for (size_t i = 0; i < count; i += 8) {
        __mmask8 present = static_cast<__mmask8>(count - i >= 8 ? 0xff : (1u << (count - i)) - 1);
        __m512i words = _mm512_maskz_loadu_epi64(present, fingerprints + i);
        __m512i distances = _mm512_popcnt_epi64(_mm512_xor_si512(words, queries));
        unsigned hits = _mm512_mask_cmple_epu64_mask(present, distances, limit);
        for (; hits != 0; hits &= hits - 1)
            matches[found++] = static_cast<uint16_t>(i + std::countr_zero(hits));
    }
    return found;
}

#endif

} // namespace

int all_matchers(Matcher (&matchers)[4]) {
    int count = 0;
    matchers[count++] = match_portable;
#ifdef SIMHASH_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("popcnt"))
        matchers[count++] = match_popcnt;
    if (__builtin_cpu_supports("avx2"))
        matchers[count++] = match_avx2;
    if (__builtin_cpu_supports("avx512vpopcntdq"))
        matchers[count++] = match_avx512;
#endif
    return count;
}

Matcher best_matcher() {
    Matcher matchers[4];
    return matchers[all_matchers(matchers) - 1];
}

} // namespace simhash
