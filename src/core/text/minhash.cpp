// One bit of each of 64 minima, or of more. See minhash.hpp.
#include "core/text/minhash.hpp"

#include <cstring>

#include "core/bits/x86.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {

namespace {

using LowerMinima = void (*)(const uint32_t* numbers, size_t count, const uint32_t* factors,
                             const uint32_t* addends, uint32_t* lowered, size_t minima);

// Each lane of a vector has one minimum. Four vectors of minima, of factors and of addends each fit
// the registers of every processor. The function is inlined into its callers, each of which is
// compiled for one kind of processor. The arrays are aligned to 4 bytes only, so it copies vectors
// in and out.
template <typename Vector>
[[gnu::always_inline]] inline void lower_in(const uint32_t* numbers, size_t count,
                                            const uint32_t* factors, const uint32_t* addends,
                                            uint32_t* lowered, size_t minima) {
    constexpr size_t kVectors = 4, kLanes = kVectors * sizeof(Vector) / sizeof(uint32_t);
    static_assert(64 % kLanes == 0);
    for (size_t lane = 0; lane < minima; lane += kLanes) {
        Vector factor[kVectors], addend[kVectors], least[kVectors];
        memcpy(factor, factors + lane, sizeof factor);
        memcpy(addend, addends + lane, sizeof addend);
        memcpy(least, lowered + lane, sizeof least);
        for (size_t i = 0; i < count; i++) {
            Vector number = Vector{} + numbers[i];
#pragma GCC unroll 4 // or the vectors would not stay in registers
            for (size_t part = 0; part < kVectors; part++) {
                Vector place = factor[part] * number + addend[part];
                least[part] = place < least[part] ? place : least[part];
            }
        }
        memcpy(lowered + lane, least, sizeof least);
    }
}

// The compiler makes SSE2 or NEON of this where the processor's kind always has it, and plain code
// elsewhere.
using Four [[gnu::vector_size(16)]] = uint32_t;
void lower_in_fours(const uint32_t* numbers, size_t count, const uint32_t* factors,
                    const uint32_t* addends, uint32_t* lowered, size_t minima) {
    lower_in<Four>(numbers, count, factors, addends, lowered, minima);
}

#ifdef SIMHASH_X86
using Eight [[gnu::vector_size(32)]] = uint32_t;
SIMHASH_TARGET(SIMHASH_AVX2)
void lower_in_eights(const uint32_t* numbers, size_t count, const uint32_t* factors,
                     const uint32_t* addends, uint32_t* lowered, size_t minima) {
    lower_in<Eight>(numbers, count, factors, addends, lowered, minima);
}

using Sixteen [[gnu::vector_size(64)]] = uint32_t;
SIMHASH_TARGET(SIMHASH_AVX512)
void lower_in_sixteens(const uint32_t* numbers, size_t count, const uint32_t* factors,
                       const uint32_t* addends, uint32_t* lowered, size_t minima) {
    lower_in<Sixteen>(numbers, count, factors, addends, lowered, minima);
}
#endif

constexpr LowerMinima kForms[] = {
    lower_in_fours,
#if defined(SIMHASH_X86)
    lower_in_fours,
    lower_in_eights,
    lower_in_sixteens,
#elif defined(SIMHASH_NEON)
    lower_in_fours,
#endif
};

} // namespace

void lower_minima(const uint32_t* numbers, size_t count, const uint32_t* factors,
                  const uint32_t* addends, uint32_t* lowered, size_t minima, SimdLevel highest) {
    best_form(highest, kForms)(numbers, count, factors, addends, lowered, minima);
}

void add_document(FeatureKind features, int width, TextSource source, FeatureBatches& minima) {
    each_feature(features, width, source, minima);
}

} // namespace simhash
