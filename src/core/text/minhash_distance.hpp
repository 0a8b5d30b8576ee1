// Relates the distance of two fingerprints of minhash() to the documents' similarity J. Each of the
// 64 bits differs with probability (1 - J) / 2, independently of the others. So the distance has
// the binomial distribution, from which everything here is computed. The code uses only sums,
// products and quotients, and no function of a library, so the results are the same on every
// machine.
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
