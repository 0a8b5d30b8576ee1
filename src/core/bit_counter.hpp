// How many of a long stream of 64-bit words have a 1 at each bit: the vote where every feature
// weighs the same. Two streams are counted side by side, in the two halves of a SIMD register.
//
// Sixteen words are added bit by bit with carry-save adders, all positions at once (three words a,
// b, c make a sum word a^b^c and a carry word of twice its worth), so that the 64 counters are
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
    // At most 2^32 - 1 words to each stream.
    void add(uint64_t first, uint64_t second) {
        pending[length++] = Words{first, second};
        if (length == kBatch)
            add_batch();
    }

    // For each bit of a stream the number of words with a 1 less the number with a 0.
    void sums(int stream, int64_t (&out)[64]) const;

  private:
    static constexpr int kBatch = 16;
    typedef uint64_t Words __attribute__((vector_size(16), aligned(8)));
    typedef uint32_t Lanes __attribute__((vector_size(16), aligned(8)));

    void add_batch();

    Words pending[kBatch];
    int length = 0;     // of `pending`, in words
    uint32_t words = 0; // in batches
    Words ones = {}, twos = {}, fours = {}, eights = {};
    Lanes sixteens[2][16] = {};
};

} // namespace simhash
