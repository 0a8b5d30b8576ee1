// Positional population count. See bit_counter.hpp.
#include "core/bit_counter.hpp"

namespace simhash {

namespace {

// low + 2 * returned = low + a + b, for each bit.
inline uint64_t carry_save(uint64_t& low, uint64_t a, uint64_t b) {
    const uint64_t half = low ^ a;
    const uint64_t carry = (low & a) | (half & b);
    low = half ^ b;
    return carry;
}

#define NIBBLE(n)                                                                                  \
    { (n) & 1, (n) >> 1 & 1, (n) >> 2 & 1, (n) >> 3 & 1 }
constexpr uint32_t kNibbles[16][4] __attribute__((aligned(16))) = {
    NIBBLE(0), NIBBLE(1), NIBBLE(2),  NIBBLE(3),  NIBBLE(4),  NIBBLE(5),  NIBBLE(6),  NIBBLE(7),
    NIBBLE(8), NIBBLE(9), NIBBLE(10), NIBBLE(11), NIBBLE(12), NIBBLE(13), NIBBLE(14), NIBBLE(15)};
#undef NIBBLE

} // namespace

void BitCounter::add_batch() {
    const uint64_t* w = pending;
    Planes p = planes;
    const uint64_t twos_a = carry_save(p.ones, w[0], w[1]);
    const uint64_t twos_b = carry_save(p.ones, w[2], w[3]);
    const uint64_t fours_a = carry_save(p.twos, twos_a, twos_b);
    const uint64_t twos_c = carry_save(p.ones, w[4], w[5]);
    const uint64_t twos_d = carry_save(p.ones, w[6], w[7]);
    const uint64_t fours_b = carry_save(p.twos, twos_c, twos_d);
    const uint64_t eights_a = carry_save(p.fours, fours_a, fours_b);
    const uint64_t twos_e = carry_save(p.ones, w[8], w[9]);
    const uint64_t twos_f = carry_save(p.ones, w[10], w[11]);
    const uint64_t fours_c = carry_save(p.twos, twos_e, twos_f);
    const uint64_t twos_g = carry_save(p.ones, w[12], w[13]);
    const uint64_t twos_h = carry_save(p.ones, w[14], w[15]);
    const uint64_t fours_d = carry_save(p.twos, twos_g, twos_h);
    const uint64_t eights_b = carry_save(p.fours, fours_c, fours_d);
    const uint64_t carry = carry_save(p.eights, eights_a, eights_b);
    planes = p;
    for (int nibble = 0; nibble < 16; nibble++)
        sixteens[nibble] += *(const Lanes*)kNibbles[carry >> (4 * nibble) & 15];
    words += kBatch;
    length = 0;
}

uint32_t BitCounter::sums(int64_t (&out)[64]) {
    const uint32_t total = words + (uint32_t)length;
    for (int bit = 0; bit < 64; bit++) {
        int64_t ones = 16 * (int64_t)sixteens[bit / 4][bit % 4];
        ones += (planes.ones >> bit & 1) + 2 * (planes.twos >> bit & 1) +
                4 * (planes.fours >> bit & 1) + 8 * (planes.eights >> bit & 1);
        for (int i = 0; i < length; i++)
            ones += pending[i] >> bit & 1;
        out[bit] = 2 * ones - total;
    }
    return total;
}

} // namespace simhash
