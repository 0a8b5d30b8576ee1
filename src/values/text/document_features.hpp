// The features by which near-duplicates are told, and a document's set of them.
#pragma once

#include "server/pg.hpp"

#include "core/text/feature_set.hpp"

namespace simhash {

// Shingles of three words.
constexpr FeatureKind kShingles = FeatureKind::kWords;
constexpr int kShingleWidth = 3;

// The set of a document's features. The caller releases it.
// Allocates in the current memory context. Cuts by the definition of docs/fingerprints.md.
FeatureSet features_of(text* document, FeatureKind features, int width);

} // namespace simhash
