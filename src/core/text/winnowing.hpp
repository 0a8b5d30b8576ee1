// The winnowed hashes of a text: few of its shingles' hashes, chosen so that two texts with a long
// run of words in common have one in common (Schleimer, Wilkerson and Aiken, SIGMOD 2003).
//
// Every shingle of kWinnowedShingle words has a hash. Of every kWinnowedWindow adjacent hashes the
// least is kept. With shingles of 2 words and windows of 3:
//
//     words      the  boat  house  is  closed  in  march
//     hashes       71    23     58   40      65   19
//     windows    [71    23     58]                        keeps 23
//                      [23     58   40]                   keeps 23
//                             [58   40      65]           keeps 40
//                                  [40      65   19]      keeps 19
//
// A run of kWinnowedShingle + kWinnowedWindow - 1 words has the hashes of one whole window. What a
// window keeps depends on nothing outside of it, so both texts keep the same hash. Of equal hashes
// it does not matter which is kept: the hashes are a set, without places.
//
// A shorter text has no window, and no hash. The hashes are stored in indexes.
#pragma once

#include <algorithm>

#include "core/text/feature_hash.hpp"
#include "core/text/feature_set.hpp"

namespace simhash {

constexpr int kWinnowedShingle = 8; // words
constexpr int kWinnowedWindow = 9;  // hashes of shingles
// Every common run of this many words shows in the hashes.
constexpr int kWinnowedRun = kWinnowedShingle + kWinnowedWindow - 1;

// Words of a shingle, and shingles of a window: those of indexes, unless told otherwise.
struct WinnowedLengths {
    size_t shingle = kWinnowedShingle, window = kWinnowedWindow;

    // Those by which every common run of `words` words, 1 or more, shows in the hashes. Fewer than
    // kWinnowedRun give more hashes.
    static WinnowedLengths for_runs_of(size_t words) {
        size_t shingle = std::min<size_t>(words, kWinnowedShingle);
        return {shingle, std::min<size_t>(words - shingle + 1, kWinnowedWindow)};
    }
};

// The hash of the last `length` words in a row: a polynomial of their hashes, modulo 2^64, that
// takes a word in at one end and out at the other.
class RollingHash {
  public:
    explicit RollingHash(size_t length) {
        for (size_t i = 0; i < length; i++)
            oldest_ *= kFactor;
    }
    void add(uint64_t word) { sum_ = sum_ * kFactor + word; }
    // Expects that `length` other words have been added since.
    void take_out(uint64_t word) { sum_ -= oldest_ * word; }
    // The sum's lowest bits depend on little of each word.
    uint64_t hash() const { return mix(sum_); }

  private:
    static constexpr uint64_t kFactor = 0x9e3779b97f4a7c15; // odd: nothing is shifted out

    uint64_t sum_ = 0;
    uint64_t oldest_ = 1; // kFactor to the power of the length
};

// Winnows a text: a consumer of each_feature() for words of width 1.
class Winnower {
  public:
    explicit Winnower(Memory memory, WinnowedLengths lengths = {})
        : set_(memory), lengths_(lengths), shingle_(lengths.shingle) {}

    void feature(const uint8_t* text, size_t bytes) {
        word(hash_feature(HashKind::kXxh3, text, bytes));
    }

    void word(uint64_t hash) {
        shingle_.add(hash);
        // The ring holds the words of the last shingle.
        if (words_ >= lengths_.shingle)
            shingle_.take_out(word_[(words_ - lengths_.shingle) % kRing]);
        word_[words_++ % kRing] = hash;
        if (words_ >= lengths_.shingle)
            end_shingle(shingle_.hash());
    }

    // After the last word: the hashes, ascending, each once. Valid until clear() or release().
    FeatureHashes finish() { return set_.finish(); }
    // Takes out all words, and keeps the room for those of another text.
    void clear() {
        set_.clear();
        shingle_ = RollingHash(lengths_.shingle);
        words_ = shingles_ = least_ = kept_ = 0;
    }
    void release() { set_.release(); }

  private:
    static constexpr size_t kRing = 16; // a power of two: the places in a ring are cut out
    static_assert(kWinnowedShingle <= kRing && kWinnowedWindow <= kRing);

    void end_shingle(uint64_t hash) {
        uint64_t place = shingles_++;
        window_[place % kRing] = hash;
        if (least_ + lengths_.window <= place) {
            // The least one has left the window, so all that are in it are looked at.
            least_ = place;
            for (uint64_t i = place - lengths_.window + 1; i < place; i++)
                if (window_[i % kRing] < window_[least_ % kRing])
                    least_ = i;
        } else if (hash < window_[least_ % kRing]) {
            least_ = place;
        }
        if (shingles_ >= lengths_.window)
            keep(window_[least_ % kRing]);
    }

    // Adjacent windows mostly keep the same hash.
    void keep(uint64_t hash) {
        if (shingles_ == lengths_.window || hash != kept_)
            set_.add(hash);
        kept_ = hash;
    }

    FeatureSet set_;
    WinnowedLengths lengths_;
    RollingHash shingle_;
    uint64_t words_ = 0, shingles_ = 0;
    uint64_t word_[kRing];   // of the last shingle
    uint64_t window_[kRing]; // the last hashes
    uint64_t least_ = 0;     // place of the least hash of the window
    uint64_t kept_ = 0;      // by the window before
};

} // namespace simhash
