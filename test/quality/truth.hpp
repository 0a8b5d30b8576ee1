// Which documents are near-duplicates: the exact Jaccard similarity of their sets of shingles.
#pragma once

#include <utility>
#include <vector>

#include "documents.hpp"

namespace quality {

using Pairs = std::vector<std::pair<int, int>>; // numbers of documents

struct SimilarPair {
    int a, b; // a < b
    double similarity;
};

struct Truth {
    Pairs near;    // J >= 0.8
    Pairs between; // 0.5 <= J < 0.8
};

// Of 3 words.
Shingles word_shingles(std::string_view document);
std::vector<Shingles> word_shingles(const Documents& documents);
// Of 3 words, or of 5 characters where words are written without spaces.
std::vector<Shingles> shingles_of(const Corpus& corpus);

double jaccard(const Shingles& a, const Shingles& b);

// All pairs with J >= least, which is above 0. A set without shingles resembles none.
std::vector<SimilarPair> similar_pairs(const std::vector<Shingles>& sets, double least);

Truth find_truth(const std::vector<Shingles>& sets);

} // namespace quality
