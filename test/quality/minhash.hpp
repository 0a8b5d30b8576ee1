// MinHash with locality-sensitive hashing, written from its description (Broder 1997; Leskovec,
// Rajaraman, Ullman, Mining of Massive Datasets, chapter 3): what fingerprints are measured beside.
//
// A signature has, for each of 128 permutations of the shingles, the least value of the document's
// shingles. Two documents agree in a permutation's value with the probability J. The values are
// put together in bands; two documents are candidates where they agree in all values of a band.
//
// A permutation is x -> a * x + b modulo 2^32, with a odd, so that a vector of the processor holds
// 4, 8 or 16 of them. This is the fast form: libraries multiply and add in 64 bits, several at once
// or one after another.
#pragma once

#include <array>
#include <vector>

#include "documents.hpp"
#include "truth.hpp"

namespace quality {

constexpr int kPermutations = 128;
using Signature = std::array<uint32_t, kPermutations>;

struct Banding {
    int bands, rows; // rows: values in a band
};

// The number of bands and rows for which the areas under both errors' curves (found although
// below the threshold, not found although above it) have the least sum: the usual choice.
Banding banding_for(double threshold);

// Repeated shingles do not change it, so they need not be a set.
Signature signature(const Shingles& shingles);
// Of its shingles of 3 words.
Signature signature(std::string_view document);

// Of a band's values.
uint64_t band_hash(const Signature& signature, const Banding& banding, int band);

// Candidates, each pair once, the smaller number first.
Pairs candidates(const std::vector<Signature>& signatures, const Banding& banding);

// Share of values in which two signatures agree: an estimate of J.
double estimate(const Signature& a, const Signature& b);

} // namespace quality
