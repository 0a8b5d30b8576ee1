// The distances of all pairs of a corpus's fingerprints.
#pragma once

#include <array>
#include <vector>

#include "documents.hpp"
#include "resample.hpp"
#include "truth.hpp"

namespace quality {

using Histogram = std::array<long, 65>; // pairs by distance

// A distance is of 64 bits: in codes of several words it is the number of differing bits divided by
// that of words, rounded up.
int distance(const Codes& codes, int a, int b);

Histogram histogram(const Codes& codes, const Pairs& pairs);

// Counts every pair of one of `a` and one of `b`.
void add_distances(const Codes& a, const Codes& b, Histogram& counted);

class Distances {
  public:
    Distances(const Codes& codes, const Truth& truth);

    Counts counts() const;
    Counts resampled(const std::vector<int>& times) const;

    Histogram near{}, between{}, all{};

  private:
    const Codes& codes_;
    const Truth& truth_;
    std::vector<std::array<int, kRadii>> partners_; // of a document at each distance, of any truth
    std::vector<std::array<int, kRadii>> true_partners_; // the same, near and between
};

// What a constraint within `radius` does with the documents, inserted one after another: a document is
// refused where a row is near.
struct Refusals {
    int refused = 0;
    int wrongly = 0;  // of these, with no row of J >= 0.5
    int admitted = 0; // not refused, with a row of J >= 0.8
};
Refusals refusals(const Codes& codes, const Truth& truth, int radius);

} // namespace quality
