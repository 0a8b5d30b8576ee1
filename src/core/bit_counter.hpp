// How many of a long stream of 64-bit words have a 1 at each bit: the vote where every feature
// weighs the same.
//
// Sixteen words are added bit by bit with carry-save adders, all 64 positions at once (three words
// a, b, c make a sum word a^b^c and a carry word of twice its worth), so that the 64 counters are
// touched once in sixteen words:
//
//   16 words -> ones, twos, fours, eights stay in registers; one word of "sixteens" goes to the
//   counters
#pragma once

#include <cstddef>
#include <cstdint>

namespace simhash {

class BitCounter {
  public:
    // At most 2^32 - 1 words.
    void add(uint64_t word) {
        pending[length++] = word;
        if (length == kBatch)
            add_batch();
    }

    // For each bit the number of words with a 1 less the number with a 0; returns the number of
    // words.
    uint32_t sums(int64_t (&out)[64]);

  private:
    static constexpr int kBatch = 16;
    typedef uint32_t Lanes __attribute__((vector_size(16)));
    struct Planes {
        uint64_t ones = 0, twos = 0, fours = 0, eights = 0;
    };

    void add_batch();

    uint64_t pending[kBatch];
    int length = 0;     // of `pending`, in words
    uint32_t words = 0; // in batches
    Planes planes;
    Lanes sixteens[16] = {};
};

} // namespace simhash
