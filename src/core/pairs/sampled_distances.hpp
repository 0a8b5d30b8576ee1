// How far apart the words of codes that have nothing to do with each other are, and from that the
// radius in which each word is searched.
//
// Two codes within `radius` bits of each other are within t bits of each other in one word at least
// if the (t + 1) of all words add up to radius + 1: otherwise they would differ in more bits. Which
// words get how much of it is free. A bit more in a word brings more strangers, pairs that are near
// in that word only. So each bit goes to the word in which it brings the fewest:
//
//     256 random bits, radius 31            7  7  7  7
//     65 bits, radius 8                     8  -             the second word has one bit
//     two words are 0 in each fourth code   -  15  -  15
//
// How many that are is the sum of two estimates, for a sample of pairs: the share of them that are
// that near, and, for what is too rare for a sample, the binomial distribution with their mean.
// Codes that have the same word are compared faster than others, so a stranger there counts less.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bits/bit_words.hpp"
#include "core/bits/distance.hpp"

namespace simhash {

constexpr int kNotSearched = -1;

struct CodeRadii {
    int of_word[kMaxCodeWords]; // or kNotSearched
    double strangers; // the share of all pairs that are within the radius of a word, so counted
};

class SampledDistances {
  public:
    explicit SampledDistances(int words) : words_(words) {}

    // Adds a pair. a, b: [words]
    void add(const uint64_t* a, const uint64_t* b) {
        for (int word = 0; word < words_; word++)
            counts_[word][hamming_distance(a[word], b[word])]++;
        pairs_++;
    }

    // Where all words together have fewer bits than the radius, each has kFingerprintBits.
    CodeRadii radii(int radius) const;

  private:
    double mean(int word) const;

    int words_;
    size_t pairs_ = 0;
    uint32_t counts_[kMaxCodeWords][kFingerprintBits + 1] = {}; // pairs at each distance
};

} // namespace simhash
