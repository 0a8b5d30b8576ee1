// The forms of fingerprints that are measured.
#pragma once

#include <string>
#include <vector>

#include "documents.hpp"

namespace quality {

struct Form {
    std::string name;
    simhash::DocumentOptions options; // of a vote
    int minima = 0;                   // or minhash() of word 3-shingles: 64, 128 or 256 bits
};

// The default first, then what others do, each written from its description, then more of ours.
std::vector<Form> forms();

Codes codes(const Documents& documents, const Form& form);

// A weighting of words that might be the default. Which of them is best is asked of all kinds of
// documents but one, and answered with the figures of that one.
struct Trial {
    double exponent;     // a word that occurs f times weighs log2(1 + f)^exponent ...
    int greatest_length; // ... times the square root of its bytes up to this many (1: not at all)
    double number;       // ... times this, where the word begins with a digit
    int least_share;     // ... and no more than one such share of all weights (0: no bound)

    std::string name() const;
};

std::vector<Trial> trials();

// The trials' fingerprints with other hashes than the library's, so that the choice does not
// follow the luck of one hash. In floating point: equal to what the library would compute, but for
// sums that are nearly 0.
constexpr int kTrialHashes = 2;
std::vector<Fingerprints> trial_fingerprints(const Documents& documents,
                                             const std::vector<Trial>& trials, int hash);

} // namespace quality
