// The lanes of a document, and how near one of them must be: what near_duplicate(), the index on
// texts and the calls for whole tables agree on.
//
// A lane is a fingerprint of 64 bits, one bit of each of 64 minima (minhash.hpp): lane 0 has those
// of minima 0 .. 63 and is minhash(), lane 1 has the next 64. Two documents are near-duplicates for
// a similarity s where
//
//   - they share at least s of their shingles, and
//   - one of their lanes lies within near_radius(s).
//
// The second condition makes an index exact: it finds by lanes, and the documents decide. It also
// leaves pairs out. The distance of a lane is binomial, of 64 bits that each differ with the
// probability (1 - s) / 2 (minhash.hpp), and lanes are independent. So where a lane misses a pair
// with the probability m, all of them do with m^2:
//
//   s     radius of a lane   a lane finds   one of two finds
//   1             0              1.000            1.0000
//   .9            7               .986             .9998
//   .8           11               .976             .9994
//   .7           15               .975             .9994
//   .6           19               .978             .9995
//   .5           22               .966             .9989
//
// Real documents come in families, such as files with one licence, whose pairs are missed together:
// docs/choosing.md has what is found of them. A single lane would need a radius of 15 at .8 to find
// as many. To search within it takes longer than two searches within 11, as each further bit lets
// in about five times as many strangers.
#pragma once

#include <algorithm>

#include "core/bits/fingerprint.hpp"
#include "core/text/minhash.hpp"

namespace simhash {

constexpr size_t kLanesOfDocument = 2;
using DocumentMinima = MinimaOf<kLanesOfDocument * kFingerprintBits>;
using DocumentLanes = DocumentMinima::Words;

// Sets `lanes` to those of a document. Returns false where it has no feature.
inline bool document_lanes(FeatureKind features, int width, TextSource source,
                           DocumentLanes* lanes) {
    DocumentMinima minima;
    add_document(features, width, source, minima);
    *lanes = minima.words();
    return minima.any();
}

// With what probability a single lane finds a pair of exactly the similarity that is asked for, at
// least. All together then miss (1 - .96)^2 = .0016 of these pairs at most.
constexpr double kLaneRecall = 0.96;

// The radius of each lane for a similarity from 0 to 1.
inline int near_radius(double similarity) { return minhash_radius(similarity, kLaneRecall); }

// The similarity that is taken unless a caller asks for another one, and its radius.
constexpr double kAlikeSimilarity = 0.8;
constexpr int kAlikeRadius = 11; // near_radius(kAlikeSimilarity)

// The distance of the lanes that are nearest to each other.
inline int nearest_lane(const DocumentLanes& a, const DocumentLanes& b) {
    int nearest = hamming_distance(a[0], b[0]);
    for (size_t lane = 1; lane < kLanesOfDocument; lane++)
        nearest = std::min(nearest, hamming_distance(a[lane], b[lane]));
    return nearest;
}

} // namespace simhash
