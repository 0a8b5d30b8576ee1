// How far apart the words of two values may be that lie within a radius of each other.
#pragma once

namespace simhash {

constexpr int kMaxWords = 16; // of a value: 1024 bits

// Returns the radius within which word `word` (from 0) of `word_count` is searched, so that every
// value within `radius` is found by one word at least; -1: the word is not searched. The radii t
// have the sum of (t + 1) = radius + 1. If each word differed in more bits than its radius, the
// values would differ in more than `radius` (the pigeonhole principle).
constexpr int word_radius(int radius, int word_count, int word) {
    if (radius < 0)
        return -1;
    int shares = radius + 1;
    // Radius 31 and four words: 32 shares, 8 for each word, so each is searched within 7. Radius
    // 32: 8, 7, 7, 7.
    return shares / word_count + (word < shares % word_count) - 1;
}

} // namespace simhash
