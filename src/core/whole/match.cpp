// Each kernel is the same loop; what differs is how many distances are counted at once. See
// match.hpp.
#include "core/whole/match.hpp"

#include <bit>

#include "core/bits/distance.hpp"
#include "core/bits/neon.hpp"
#include "core/bits/x86.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {
namespace {

// One at a time, from number `begin` on; `found` matches stand before. Part of its callers, for the
// processors that these are made for.
[[gnu::always_inline]] inline size_t match_singly(uint64_t query, const uint64_t* fingerprints,
                                                  size_t begin, size_t count, int radius,
                                                  uint16_t* matches, size_t found) {
    for (size_t i = begin; i < count; ++i)
        if (hamming_distance(query, fingerprints[i]) <= radius)
            matches[found++] = uint16_t(i);
    return found;
}

size_t match_portable(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                      uint16_t* matches) {
    return match_singly(query, fingerprints, 0, count, radius, matches, 0);
}

#if defined(SIMHASH_X86)

SIMHASH_TARGET(SIMHASH_POPCNT)
size_t match_popcnt(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                    uint16_t* matches) {
    return match_singly(query, fingerprints, 0, count, radius, matches, 0);
}

// Four at once.
SIMHASH_TARGET(SIMHASH_AVX2)
size_t match_avx2(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                  uint16_t* matches) {
    const __m256i queries = _mm256_set1_epi64x(int64_t(query));
    const __m256i beyond = _mm256_set1_epi64x(radius + 1);
    size_t found = 0, i = 0;
    for (; i + 4 <= count; i += 4) {
        __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(fingerprints + i));
        __m256i ones = ones_of_bytes(_mm256_xor_si256(words, queries));
        __m256i distances = _mm256_sad_epu8(ones, _mm256_setzero_si256());
        __m256i within = _mm256_cmpgt_epi64(beyond, distances);
        auto hits = unsigned(_mm256_movemask_pd(_mm256_castsi256_pd(within)));
        for (; hits != 0; hits &= hits - 1)
            matches[found++] = uint16_t(i + std::countr_zero(hits));
    }
    return match_singly(query, fingerprints, i, count, radius, matches, found);
}

// Eight at once.
SIMHASH_TARGET(SIMHASH_AVX512)
size_t match_avx512(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                    uint16_t* matches) {
    const __m512i queries = _mm512_set1_epi64(int64_t(query));
    const __m512i limit = _mm512_set1_epi64(radius);
    size_t found = 0;
    for (size_t i = 0; i < count; i += 8) {
        auto present = __mmask8(count - i >= 8 ? 0xff : (1u << (count - i)) - 1);
        __m512i words = _mm512_maskz_loadu_epi64(present, fingerprints + i);
        __m512i distances = _mm512_popcnt_epi64(_mm512_xor_si512(words, queries));
        unsigned hits = _mm512_mask_cmple_epu64_mask(present, distances, limit);
        for (; hits != 0; hits &= hits - 1)
            matches[found++] = uint16_t(i + std::countr_zero(hits));
    }
    return found;
}

#elif defined(SIMHASH_NEON)

// Sixteen at once.
size_t match_neon(uint64_t query, const uint64_t* fingerprints, size_t count, int radius,
                  uint16_t* matches) {
    const uint8x16_t queries = vreinterpretq_u8_u64(vdupq_n_u64(query));
    size_t found = 0, i = 0;
    for (; i + 16 <= count; i += 16) {
        auto* words = reinterpret_cast<const uint8_t*>(fingerprints + i);
        uint64_t hits = mask_within(distances_of_sixteen<8>(words, queries), radius);
        for (; hits != 0; hits &= hits - 1)
            matches[found++] = uint16_t(i + std::countr_zero(hits) / kMaskBits);
    }
    return match_singly(query, fingerprints, i, count, radius, matches, found);
}

#endif

constexpr Matcher kMatchers[] = {
    match_portable,
#if defined(SIMHASH_X86)
    match_popcnt,
    match_avx2,
    match_avx512,
#elif defined(SIMHASH_NEON)
    match_neon,
#endif
};

} // namespace

Matcher best_matcher(SimdLevel highest) {
    return best_form(highest, kMatchers);
}

} // namespace simhash
