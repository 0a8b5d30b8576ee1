// How much each word of a document weighs, in integers: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/text/feature_counts.hpp"

namespace simhash {

// The weight of a feature that occurs f times. The default is what the quality bench found best
// (docs/quality.md): a word that occurs twice says more than two that occur once, but the
// hundredth time says little; long words are rare words, for which no corpus is needed to know;
// numbers change from edition to edition; and no word is the document.
enum class Weighting : uint8_t {
    kBalanced, // log2(1 + f)^(9/4), times the square root of the feature's bytes, at most 12; half
               // of that where it begins with a digit; and never more than an eighth of all weights
    kTf,       // f
    kSqrt,     // square root of f
    kLog,      // 1 + ln f
    kBinary,   // 1
};

// A feature's weight before it is bounded. Those that are not whole numbers have kWeightBits bits
// after the point: only what the weights of one document are to each other matters.
constexpr int kWeightBits = 8;
uint32_t feature_weight(Weighting weighting, const FeatureCount& feature);

// Puts each feature's weight in the place of its frequency.
void weigh(Weighting weighting, FeatureCount* features, size_t count);

} // namespace simhash
