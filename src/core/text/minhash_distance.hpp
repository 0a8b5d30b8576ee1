// What the distance of two fingerprints of minhash() says. Each of the 64 bits differs, each for
// itself, with probability (1 - J) / 2, where J is the documents' similarity; so the distance has
// the binomial distribution, and all here is computed from that. Only sums, products and quotients
// are used, no library's functions: the results are the same on every machine.
#pragma once

namespace simhash {

// The least radius within which a pair of documents of this similarity (0..1) lies with the
// probability `recall` (0..1) or more. More similar pairs lie within it more often.
int minhash_radius(double similarity, double recall);

// The similarity that a distance tells, and bounds of it.
struct SimilarityEstimate {
    double similarity, low, high; // 0 <= low <= similarity <= high <= 1
};

// For a distance of 0..64. The bounds are those of Clopper and Pearson: whatever the similarity is,
// it lies between them with the probability `confidence` (above 0, below 1) or more.
SimilarityEstimate minhash_similarity(int distance, double confidence);

} // namespace simhash
