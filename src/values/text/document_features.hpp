// A document's set of features, and the fingerprint that minhash() makes of it: a text is cut once
// where both are needed.
#pragma once

#include "server/pg.hpp"

#include "core/text/feature_set.hpp"

namespace simhash {

// The features by which near-duplicates are told: shingles of three words.
constexpr FeatureKind kShingles = FeatureKind::kWords;
constexpr int kShingleWidth = 3;

// The set of a document's features. The caller releases it.
// Allocates in the current memory context. Cuts by the definition of docs/fingerprints.md.
FeatureSet features_of(text* document, FeatureKind features, int width);

// The fingerprint by minhash() of a set. False if it is empty.
bool minhash_of(FeatureHashes hashes, uint64_t* fingerprint);

} // namespace simhash
