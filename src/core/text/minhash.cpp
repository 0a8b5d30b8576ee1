// One bit of each of 64 minima, or of more. See minhash.hpp.
#include "core/text/minhash.hpp"

#include <cstring>

#include "core/bits/standalone.hpp"

namespace simhash {

// Each lane of a vector has one minimum. Four vectors of minima, of factors and of addends each fit
// the registers of every processor. The arrays are aligned to 4 bytes only, so it copies vectors in
// and out.
void lower_minima(const uint32_t* numbers, size_t count, const uint32_t* factors,
                  const uint32_t* addends, uint32_t* lowered, size_t minima, SimdLevel highest) {
    at_best_level(
        highest, [=]<SimdLevel level>() __attribute__((always_inline)) {
            using Vector = typename VectorAt<level>::Type;
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
        });
}

void add_document(FeatureKind features, int width, TextSource source, FeatureBatches& minima) {
    each_feature(features, width, source, minima);
}

} // namespace simhash
