// How much each word of a document weighs, in integers: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/text/feature_counts.hpp"

namespace simhash {

// The weight of a feature that occurs f times. docs/fingerprints.md gives the reasons for the
// default, docs/choosing.md the measurements.
enum class Weighting : uint8_t {
    kBalanced, // log2(1 + f)^(9/4), times the square root of the feature's bytes, at most 12; half
               // of that if it begins with a digit; at most an eighth of all weights
    kTf,       // f
    kSqrt,     // square root of f
    kLog,      // 1 + ln f
    kBinary,   // 1
};

// A feature's weight before it is bounded. Weightings that are not whole numbers have kWeightBits
// bits after the point: only the ratios of the weights of one document matter.
constexpr int kWeightBits = 8;
uint32_t feature_weight(Weighting weighting, const FeatureCount& feature);

// Replaces each feature's frequency by its weight.
void weigh(Weighting weighting, FeatureCount* features, size_t count);

} // namespace simhash
