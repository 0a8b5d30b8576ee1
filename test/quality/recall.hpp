// How many near-duplicates near_duplicate() finds: the pairs of real documents that share enough of
// their word 3-shingles, of which those within the radius in one of the lanes are found. MinHash
// with 16 bands of 8 stands beside it.
//
// Where documents have been dressed (script-*), near-duplicates are those that were so before; a
// pair is found only if it still is one.
#pragma once

#include "documents.hpp"

namespace quality {

// Prints, of one corpus:
//   recall   CORPUS  METHOD   pairs of J >= 0.8  found of these  pairs compared
//   similar  CORPUS  PERCENT  pairs that share this many and less than 2 more  found of these
//   dressed  CORPUS  -        documents, of script-*  those with the same shingles as before
//   edited   CORPUS  WORDS    texts of so many words, each with a near-duplicate  found  by MinHash
void print_recall(const Corpus& corpus);

// Prints, of a corpus of any size, for each similarity that may be asked for and each method:
//   found    PERCENT  METHOD  pairs of that similarity or more  found of these  pairs of it and up to
//                             .025 more  found of these  pairs compared
void print_found(const std::string& path);

} // namespace quality
