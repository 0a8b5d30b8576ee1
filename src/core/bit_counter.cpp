// Positional population count. See bit_counter.hpp.
#include "core/bit_counter.hpp"

namespace simhash {

namespace {

// A BitCounter's words in a register.
typedef uint64_t Vector __attribute__((vector_size(16)));

// low + 2 * returned = low + a + b, for each bit.
inline Vector carry_save(Vector& low, Vector a, Vector b) {
    const Vector half = low ^ a;
    const Vector carry = (low & a) | (half & b);
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
    const Words* w = pending;
    Vector one = ones, two = twos, four = fours, eight = eights;
    const Vector twos_a = carry_save(one, w[0], w[1]);
    const Vector twos_b = carry_save(one, w[2], w[3]);
    const Vector fours_a = carry_save(two, twos_a, twos_b);
    const Vector twos_c = carry_save(one, w[4], w[5]);
    const Vector twos_d = carry_save(one, w[6], w[7]);
    const Vector fours_b = carry_save(two, twos_c, twos_d);
    const Vector eights_a = carry_save(four, fours_a, fours_b);
    const Vector twos_e = carry_save(one, w[8], w[9]);
    const Vector twos_f = carry_save(one, w[10], w[11]);
    const Vector fours_c = carry_save(two, twos_e, twos_f);
    const Vector twos_g = carry_save(one, w[12], w[13]);
    const Vector twos_h = carry_save(one, w[14], w[15]);
    const Vector fours_d = carry_save(two, twos_g, twos_h);
    const Vector eights_b = carry_save(four, fours_c, fours_d);
    const Vector carry = carry_save(eight, eights_a, eights_b);
    ones = one, twos = two, fours = four, eights = eight;
    for (int stream = 0; stream < 2; stream++)
        for (int nibble = 0; nibble < 16; nibble++)
            sixteens[stream][nibble] += *(const Lanes*)kNibbles[carry[stream] >> (4 * nibble) & 15];
    words += kBatch;
    length = 0;
}

void BitCounter::sums(int stream, int64_t (&out)[64]) const {
    const int64_t total = (int64_t)words + length;
    for (int bit = 0; bit < 64; bit++) {
        const auto at = [=](Words plane) { return (int64_t)(plane[stream] >> bit & 1); };
        int64_t count = 16 * (int64_t)sixteens[stream][bit / 4][bit % 4];
        count += at(ones) + 2 * at(twos) + 4 * at(fours) + 8 * at(eights);
        for (int i = 0; i < length; i++)
            count += at(pending[i]);
        out[bit] = 2 * count - total;
    }
}

} // namespace simhash
