// Passages: runs of words that two texts have in common, and the hashes by which such texts are
// found.
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

#include <algorithm>
#include <span>

#include "core/bits/hash_table.hpp"
#include "core/bits/memory.hpp"
#include "core/bits/pause.hpp"
#include "core/text/feature_hash.hpp"
#include "core/text/feature_set.hpp"

namespace simhash {

using Words = std::span<const uint64_t>; // hashes, in the order of the text

inline void add_words(TextSource source, GrowingArray<uint64_t>* words) {
    auto add = [words](const uint8_t* text, size_t bytes) {
        words->add(hash_feature(HashKind::kXxh3, text, bytes));
    };
    each_word(source, add);
}

// ---- passages ----

constexpr int kPassageWords = 16; // the fewest of a passage, unless another number is asked for

struct Passage {
    uint32_t a, b;  // numbers of the first words, from 0
    uint32_t words; // how many
};

// The passages of at least `least` words, 1 or more, in their order in `a`. The time is linear but
// for a factor of the logarithm. The memory, some 100 bytes for each word that is in a common run,
// is the caller's to release at once.
std::span<const Passage> common_passages(Words a, Words b, size_t least, Memory memory,
                                         Pause pause);

// The length of the longest run of words that both texts have; 0 if it is less than `least`, 1 or
// more. Time and memory are as above.
size_t longest_common_run(Words a, Words b, size_t least, Memory memory, Pause pause);

// Sets is_shared[i] for the words of `a` that are in a run of `length` words, 1 or more, which `b`
// has, too. Other elements stay. Time and memory are as above.
void mark_shared_runs(Words a, Words b, size_t length, bool* is_shared, Memory memory, Pause pause);

// The passages of at least `least` words, 1 or more, that stand in the text before: Passage::a is
// the first word of the repeat, Passage::b of where its first `least` words stand first. It goes on
// as long as both do, so it may overlap its model ("ha ha ha"), but no other repeat. They are in
// their order in the text. Time and memory are as above.
std::span<const Passage> repeated_passages(Words text, size_t least, Memory memory, Pause pause);

// The hashes of all runs of `length` words, 1 or more, in the order of the text.
void hash_runs(Words words, size_t length, GrowingArray<uint64_t>* hashes, Pause pause);

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
    HashTable<uint32_t> beginnings_; // of a run with that hash
};

// ---- winnowing ----

// The winnowed hashes of a text are few of its shingles' hashes, chosen so that two texts with a
// long run of words in common have one in common (Schleimer, Wilkerson and Aiken, SIGMOD 2003).
//
// Every shingle, a run of a few words, has a hash. Of adjacent hashes, a window, the least is kept.
// With shingles of 2 words and windows of 3:
//
//     words      the  boat  house  is  closed  in  march
//     hashes       71    23     58   40      65   19
//     windows    [71    23     58]                        keeps 23
//                      [23     58   40]                   keeps 23
//                             [58   40      65]           keeps 40
//                                  [40      65   19]      keeps 19
//
// A run of shingle + window - 1 words has the hashes of one whole window. What a window keeps
// depends on nothing outside of it, so both texts keep the same hash. Of equal hashes it does not
// matter which is kept: the hashes are a set, without places.
//
// A shorter text has no window, and no hash. The hashes are stored in indexes, for runs of the
// length that the index is made for.
constexpr int kLeastWinnowedRun = 6, kMostWinnowedRun = 64;

// The words of a shingle, in the hashes by which every common run of `words` words, 1 to
// kMostWinnowedRun, shows: the window is what is left of the run. A long window keeps few hashes, 2
// of window + 1. A long shingle is in few other texts: an entry of a dictionary shares one of 6
// words with 1.4 times as many others as one of 8, of 4 words with six times as many.
constexpr size_t shingle_of_runs(size_t words) {
    return std::min(words, std::clamp<size_t>((words + 1) / 2, 6, 8));
}

// Adds to the set the winnowed hashes of a text by which its runs of `run` words, 1 or more, show.
void winnow(Words words, size_t run, FeatureSet* set, Pause pause);

} // namespace simhash
