// The distances of all pairs of a corpus's fingerprints.
#pragma once

#include <array>
#include <vector>

#include "documents.hpp"
#include "resample.hpp"
#include "truth.hpp"

namespace quality {

using Histogram = std::array<long, 65>; // pairs by distance

Histogram histogram(const Fingerprints& fps, const Pairs& pairs);

// Counts every pair of one of `a` and one of `b`.
void add_distances(const Fingerprints& a, const Fingerprints& b, Histogram& counted);

class Distances {
  public:
    Distances(const Fingerprints& fps, const Truth& truth);

    Counts counts() const;
    Counts resampled(const std::vector<int>& times) const;

    Histogram near{}, between{}, all{};

  private:
    const Fingerprints& fps_;
    const Truth& truth_;
    std::vector<std::array<int, kRadii>> partners_; // of a document at each distance, of any truth
    std::vector<std::array<int, kRadii>> true_partners_; // the same, near and between
};

} // namespace quality
