// Passages: runs of words that two texts have in common.
//
//     a   the boat house is closed in march says the mayor
//     b   the mayor says the boat house is closed
//
//     passages of at least 2 words: "the boat house is closed", "the mayor"
//
// The passages of two texts are chosen as by greedy string tiling (Wise, 1993). The longest run of
// words that both have becomes a passage, then the longest of what is left, and so on: each word of
// each text is in one passage at most. Of runs of the same length the first in `a` comes first; of
// its places in `b`, the first.
//
// Two words are the same if their hashes are.
#pragma once

#include <span>

#include "core/bits/memory.hpp"
#include "core/bits/pause.hpp"
#include "core/text/feature_hash.hpp"
#include "core/text/hash_numbers.hpp"

namespace simhash {

using Words = std::span<const uint64_t>; // hashes, in the order of the text

// Collects the words of a text: a consumer of each_feature() for words of width 1.
class WordHashes {
  public:
    explicit WordHashes(Memory memory) : hashes_(memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        hashes_.add(hash_feature(HashKind::kXxh3, text, bytes));
    }
    // Valid until the next feature(), clear() or release().
    Words words() const { return {hashes_.data(), hashes_.size()}; }
    // Takes out all words, and keeps the room for those of another text.
    void clear() { hashes_.clear(); }
    void release() { hashes_.release(); }

  private:
    GrowingArray<uint64_t> hashes_;
};

constexpr int kPassageWords = 16; // the fewest of a passage, unless another number is asked for

struct Passage {
    uint32_t a, b;  // numbers of the first words, from 0
    uint32_t words; // how many
};

// The passages of at least `least` words, 1 or more, in their order in `a`. The time is linear but
// for a factor of the logarithm, unless the texts repeat themselves in different ways. The memory,
// some 100 bytes for each word that is in a common run, is the caller's to release at once.
std::span<const Passage> common_passages(Words a, Words b, size_t least, Memory memory,
                                         Pause pause);

// The length of the longest run of words that both texts have; 0 if it is less than `least`, 1 or
// more. The time is linear. The memory is the caller's to release at once.
size_t longest_common_run(Words a, Words b, size_t least, Memory memory, Pause pause);

// The runs of a certain length of one text, to be looked for in others.
class RunFinder {
  public:
    // Expects that the text has 1 <= length <= text.size(). Keeps the words of the text, which must
    // stay where they are.
    RunFinder(Words text, size_t length, Memory memory, Pause pause);

    // Whether another text has one of the runs. What is taken from `memory` is the caller's to
    // release at once.
    bool has_run_of(Words other, Memory memory, Pause pause) const;

    void release() { beginnings_.release(); }

  private:
    Words text_;
    size_t length_;
    HashNumbers beginnings_; // of a run with that hash
};

} // namespace simhash
