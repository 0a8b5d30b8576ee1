// Random numbers for tests: the same on every machine.
#pragma once

#include <cstdint>

namespace simhash::test {

// splitmix64 (Steele, Lea, Flood 2014).
class Random {
  public:
    explicit Random(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
        z = (z ^ z >> 27) * 0x94d049bb133111eb;
        return z ^ z >> 31;
    }

    // 0 .. limit - 1
    uint64_t below(uint64_t limit) { return next() % limit; }

    // A word of the given width with exactly `ones` different bits set.
    uint64_t with_ones(int ones, int width = 64) {
        uint64_t word = 0;
        while (ones > 0) {
            uint64_t bit = uint64_t{1} << below(width);
            ones -= (word & bit) == 0;
            word |= bit;
        }
        return word;
    }

  private:
    uint64_t state_;
};

} // namespace simhash::test
