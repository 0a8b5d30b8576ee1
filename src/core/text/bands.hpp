// Bands of minima: which documents of many are candidates (Leskovec, Rajaraman, Ullman, Mining of
// Massive Datasets, 3.4). A document's 128 minima are cut into bands, and a band has a key, a hash
// of its minima. Two documents are a candidate where they have the key of one band in common:
//
//     minima of a   12  7 31  4 | 88  2 19 60 | ...      keys   5f3a  0c71  ...
//     minima of b   12  9 31  4 | 88  2 19 60 | ...             91e2  0c71  ...
//
// A minimum is common to documents of similarity s with the probability s, so a band of r minima is
// with s^r, and none of b bands is with (1 - s^r)^b. Longer bands have fewer strangers in common,
// and each band takes a sort. So the plan for a similarity has the longest bands, and as few, that
// miss no more than kMostMissed of the pairs at that very similarity, and less of the others:
//
//     s     minima of a band   bands   missed at s
//     .95          8             15      8.1e-8
//     .9           5             19      4.3e-8
//     .8           4             31      8.0e-8
//     .7           3             39      7.7e-8
//     .5           2             57      7.6e-8
//     .3           1             46      7.5e-8
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/text/document_lanes.hpp"

namespace simhash {

constexpr int kMinimaOfDocument = kLanesOfDocument * kFingerprintBits;
constexpr double kMostMissed = 1e-7;

struct BandPlan {
    int minima; // of a band; 0: all documents have the one key in common
    int bands;

    // The share of the pairs of this similarity that have no key in common.
    double missed(double similarity) const;
    // Writes the keys of the bands.
    void keys(const DocumentMinima::Mixed& minima, uint32_t* keys) const;
};

// For a similarity from 0 to 1.
BandPlan band_plan(double similarity);

} // namespace simhash
