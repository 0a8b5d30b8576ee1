// The innermost loop of the search for near pairs. The wide forms take several columns at a time,
// and first compute their least distance from any of the rows. Mostly that is beyond the radius,
// and nothing more is to be done.
#include "core/pairs/near_pairs.hpp"

#include <algorithm>
#include <bit>

#include "core/bits/fingerprint.hpp"
#include "core/bits/vectors.hpp"

namespace simhash {
namespace {

// The first column that a row is compared with.
[[gnu::always_inline]] inline size_t first_column(const uint64_t* these, size_t row,
                                                  const uint64_t* those) {
    return these == those ? row + 1 : 0;
}

// One column at a time, from column `begin` on; `found` matches are already there. Always inlined,
// so that it is compiled for its callers' processors.
[[gnu::always_inline]] inline size_t match_row(const uint64_t* these, size_t row,
                                               const uint64_t* those, size_t begin, size_t columns,
                                               int radius, Match* matches, size_t found) {
    for (size_t column = begin; column < columns; column++)
        if (hamming_distance(these[row], those[column]) <= radius)
            matches[found++] = {uint16_t(row), uint16_t(column)};
    return found;
}

[[gnu::always_inline]] inline size_t match_rows(const uint64_t* these, size_t rows,
                                                const uint64_t* those, size_t begin, size_t columns,
                                                int radius, Match* matches, size_t found) {
    for (size_t row = 0; row < rows; row++) {
        size_t first = std::max(begin, first_column(these, row, those));
        found = match_row(these, row, those, first, columns, radius, matches, found);
    }
    return found;
}

size_t match_portable(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns,
                      int radius, Match* matches) {
    return match_rows(these, rows, those, 0, columns, radius, matches, 0);
}

#if defined(SIMHASH_X86)

SIMHASH_TARGET(SIMHASH_POPCNT)
size_t match_popcnt(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns,
                    int radius, Match* matches) {
    return match_rows(these, rows, those, 0, columns, radius, matches, 0);
}

// The matches of a row: a bit for each column, from `begin` on.
[[gnu::always_inline]] inline size_t add_hits(unsigned hits, const uint64_t* these, size_t row,
                                              const uint64_t* those, size_t begin, Match* matches,
                                              size_t found) {
    size_t first = first_column(these, row, those);
    // Within one set a row is compared only with those behind it.
    if (first > begin)
        hits &= ~0u << (first - begin);
    for (; hits != 0; hits &= hits - 1)
        matches[found++] = {uint16_t(row), uint16_t(begin + size_t(std::countr_zero(hits)))};
    return found;
}

// Four columns at once.
SIMHASH_TARGET(SIMHASH_AVX2)
[[gnu::always_inline]] inline __m256i distances_of_four(__m256i words, uint64_t row) {
    // The ones of each byte are added up to the eight bytes of each word.
    __m256i ones = ones_of_bytes(_mm256_xor_si256(words, _mm256_set1_epi64x(int64_t(row))));
    return _mm256_sad_epu8(ones, _mm256_setzero_si256());
}

SIMHASH_TARGET(SIMHASH_AVX2)
size_t match_avx2(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns,
                  int radius, Match* matches) {
    __m256i beyond = _mm256_set1_epi64x(radius + 1);
    size_t found = 0, begin = 0;
    for (; begin + 4 <= columns; begin += 4) {
        __m256i words = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(those + begin));
        // This is greater than any distance. A distance is in the lowest byte of its word, and the
        // others are 0: so the minimum by bytes is that of the distances.
        __m256i least = _mm256_set1_epi64x(kFingerprintBits + 1);
        for (size_t row = 0; row < rows; row++)
            least = _mm256_min_epu8(least, distances_of_four(words, these[row]));
        __m256i any_within = _mm256_cmpgt_epi64(beyond, least);
        if (_mm256_testz_si256(any_within, any_within))
            continue;
        for (size_t row = 0; row < rows; row++) {
            __m256i within = _mm256_cmpgt_epi64(beyond, distances_of_four(words, these[row]));
            auto hits = unsigned(_mm256_movemask_pd(_mm256_castsi256_pd(within)));
            found = add_hits(hits, these, row, those, begin, matches, found);
        }
    }
    // Fewer than four columns are left.
    return match_rows(these, rows, those, begin, columns, radius, matches, found);
}

// Eight columns at once, with all rows; if there are fewer rows, the first one is repeated.
SIMHASH_TARGET(SIMHASH_AVX512)
size_t match_avx512(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns,
                    int radius, Match* matches) {
    __m512i limit = _mm512_set1_epi64(radius);
    __m512i row_words[kMaxMatchRows];
#pragma GCC unroll 8
    for (size_t row = 0; row < kMaxMatchRows; row++)
        row_words[row] = _mm512_set1_epi64(int64_t(these[row < rows ? row : 0]));
    // _mm512_min_epu32 would do, but GCC 12 warns of its implementation
    constexpr __mmask16 kAll = 0xffff;
    size_t found = 0;
    for (size_t begin = 0; begin < columns; begin += 8) {
        size_t left = columns - begin;
        // The mask has the columns that there are; the others are not read.
        auto present = __mmask8(left >= 8 ? 0xff : (1u << left) - 1);
        __m512i words = _mm512_maskz_loadu_epi64(present, those + begin);
        __m512i least = _mm512_set1_epi64(kFingerprintBits + 1);
#pragma GCC unroll 8
        for (size_t row = 0; row < kMaxMatchRows; row++)
            least = _mm512_maskz_min_epu32(
                kAll, least, _mm512_popcnt_epi64(_mm512_xor_si512(words, row_words[row])));
        if (_mm512_mask_cmple_epu64_mask(present, least, limit) == 0)
            continue;
        for (size_t row = 0; row < rows; row++) {
            __m512i row_word = _mm512_set1_epi64(int64_t(these[row]));
            __m512i distances = _mm512_popcnt_epi64(_mm512_xor_si512(words, row_word));
            unsigned hits = _mm512_mask_cmple_epu64_mask(present, distances, limit);
            found = add_hits(hits, these, row, those, begin, matches, found);
        }
    }
    return found;
}

#elif defined(SIMHASH_NEON)

// Sixteen columns at once.
size_t match_neon(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns,
                  int radius, Match* matches) {
    size_t found = 0;
    for (size_t row = 0; row < rows; row++) {
        uint8x16_t row_word = vreinterpretq_u8_u64(vdupq_n_u64(these[row]));
        size_t begin = first_column(these, row, those);
        for (; begin + 16 <= columns; begin += 16) {
            auto* words = reinterpret_cast<const uint8_t*>(those + begin);
            uint64_t hits = mask_within(distances_of_sixteen<8>(words, row_word), radius);
            for (; hits != 0; hits &= hits - 1) {
                size_t place = size_t(std::countr_zero(hits) / kMaskBits);
                matches[found++] = {uint16_t(row), uint16_t(begin + place)};
            }
        }
        found = match_row(these, row, those, begin, columns, radius, matches, found);
    }
    return found;
}

#endif

constexpr Matcher kMatchers[kSimdLevels] = {
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

Matcher best_matcher(SimdLevel highest) { return kMatchers[int(best_level(highest))]; }

} // namespace simhash
