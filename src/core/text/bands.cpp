// Plans bands of minima, and computes their keys. See bands.hpp.
#include "core/text/bands.hpp"

namespace simhash {
namespace {

// Repeated products give the same number on every machine, unlike a library's pow().
double power(double base, int exponent) {
    double result = 1;
    for (int i = 0; i < exponent; i++)
        result *= base;
    return result;
}

} // namespace

double BandPlan::missed(double similarity) const {
    return power(1 - power(similarity, minima), bands);
}

// The hash of a minimum depends on its place, so the sum for a band depends on their order.
void BandPlan::keys(const DocumentMinima::Mixed& minima, uint32_t* keys) const {
    const uint64_t* at = minima.data();
    for (int band = 0; band < bands; band++) {
        keys[band] = 0;
        for (int i = 0; i < this->minima; i++)
            keys[band] += uint32_t(*at++);
    }
}

BandPlan band_plan(double similarity) {
    for (int minima = kMinimaOfDocument; minima > 0; minima--)
        for (int bands = 1; bands <= kMinimaOfDocument / minima; bands++)
            if (BandPlan plan{minima, bands}; plan.missed(similarity) <= kMostMissed)
                return plan;
    return {0, 1};
}

} // namespace simhash
