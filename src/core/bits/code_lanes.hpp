// How the bits of a code, a bit string, are dealt to the 64-bit lanes that the index keeps of it.
//
// Neighbouring bits of a picture's hash often go together, and so do bits at other regular
// distances, such as those of one column of pixels. Lanes of such bits take few values, and many
// strangers share a lane. So the bits are scattered first: bit j goes to place j * step mod n, with
// a step next to n (sqrt(2) - 1), which no such distance divides. The places are cut into lanes of
// equal size. A lane of m < 64 bits has them spread evenly over its 64 positions, so that every
// block of a layout has its share:
//
//   256 bits, step 107     places 0, 1, 2, ... have the bits 0, 67, 134, ...; lane 0 has 64 places
//   100 bits, step 43      lanes of 50 bits, at positions 0, 1, 2, 3, 5, ... from the top
//
// Within 31 of 256 bits a search reads the rows with a lane within 7 of the query's, and looks at
// those that agree in a block of 16 bits but for one. Of a million pairs of strangers (`make
// pictures`) 16 have such a lane and 278 such a block by PDQ, 1 049 and 1 606 by a difference hash,
// 2 775 and 3 280 by an average hash; 259 have such a block by chance.
//
// This is a format: what an index holds depends on it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <utility>

#include "core/bits/fingerprint.hpp"

namespace simhash {

constexpr int kMaxCodeBits = 1024; // of which an index can keep the lanes

constexpr int lane_count_of_bits(int bit_count) {
    return (bit_count + kFingerprintBits - 1) / kFingerprintBits;
}

constexpr int kMaxCodeLanes = lane_count_of_bits(kMaxCodeBits);

// The number of bits that a lane has: of two lanes, the first has at most one more.
constexpr int bits_of_lane(int bit_count, int lane_count, int lane) {
    return bit_count / lane_count + (lane < bit_count % lane_count);
}

namespace internal {

// The least step from bit_count (sqrt(2) - 1) on that has no divisor in common with bit_count.
constexpr int scattering_step(int bit_count) {
    int step = bit_count * 29 / 70 + 1; // 29 / 70 is a convergent of sqrt(2) - 1
    while (std::gcd(step, bit_count) != 1)
        step++;
    return step;
}

// Returns by how much the number of the bit grows, modulo bit_count, from place to place: the
// inverse of the step (the extended Euclidean algorithm).
constexpr int bits_between_places(int bit_count) {
    int dividend = scattering_step(bit_count), divisor = bit_count;
    int inverse = 1, next = 0; // dividend is inverse * step, divisor next * step, modulo bit_count
    while (dividend > 1) {
        int quotient = dividend / divisor;
        dividend = std::exchange(divisor, dividend % divisor);
        inverse = std::exchange(next, inverse - quotient * next);
    }
    return inverse < 0 ? inverse + bit_count : inverse;
}

// Calls visit(bit, lane, position) for each bit of a code, in the order of places: position 63 is
// the highest bit of the lane.
constexpr void for_each_place(int bit_count, auto visit) {
    int lane_count = lane_count_of_bits(bit_count);
    int between = bits_between_places(bit_count), bit = 0;
    for (int lane = 0; lane < lane_count; lane++) {
        int count = bits_of_lane(bit_count, lane_count, lane);
        for (int k = 0; k < count; k++) {
            visit(bit, lane, kFingerprintBits - 1 - k * kFingerprintBits / count);
            bit += between;
            bit -= bit >= bit_count ? bit_count : 0;
        }
    }
}

} // namespace internal

// Writes the lanes of a code into lanes[lane_count_of_bits(bit_count)]. Bit 0 is the highest of
// byte 0, as the server stores bit strings.
constexpr void lanes_of_bits(const uint8_t* bits, int bit_count, uint64_t* lanes) {
    std::fill_n(lanes, lane_count_of_bits(bit_count), 0);
    internal::for_each_place(bit_count, [=](int bit, int lane, int position) {
        lanes[lane] |= uint64_t(bits[bit / 8] >> (7 - bit % 8) & 1) << position;
    });
}

// Computes the lanes of many codes of one length. A table has, for each half of a byte and each of
// its values, what they give to four lanes: the lanes of a code are the OR of bit_count / 4 rows.
// It has room for codes of kMaxCodeBits, 512 kB, and touches 32 kB of them for 256 bits.
class LaneTable {
  public:
    void fill(int bit_count) {
        bit_count_ = bit_count;
        std::fill_n(rows_.begin(), row_groups() * 2 * byte_count() * kHalves, Row{});
        internal::for_each_place(bit_count, [this](int bit, int lane, int position) {
            for (int half = 0; half < kHalves; half++)
                if (half >> (3 - bit % 4) & 1)
                    rows_[row(lane / kRow, bit / 4, half)][lane % kRow] |= uint64_t(1) << position;
        });
    }

    // Of the codes that the table is for; 0 before it is filled.
    int bit_count() const { return bit_count_; }

    // Does what the function of this name does, for a code of bit_count() bits.
    void lanes_of_bits(const uint8_t* bits, uint64_t* lanes) const {
        int lane_count = lane_count_of_bits(bit_count_);
        for (int group = 0; group < row_groups(); group++) {
            Row sum = {};
            for (int byte = 0; byte < byte_count(); byte++) {
                const Row& high = rows_[row(group, 2 * byte, bits[byte] >> 4)];
                const Row& low = rows_[row(group, 2 * byte + 1, bits[byte] & 15)];
                for (size_t i = 0; i < kRow; i++)
                    sum[i] |= high[i] | low[i];
            }
            std::copy_n(sum.begin(), std::min(kRow, lane_count - group * kRow),
                        lanes + group * kRow);
        }
    }

  private:
    static constexpr int kRow = 4;     // lanes
    static constexpr int kHalves = 16; // values of half a byte
    using Row = std::array<uint64_t, kRow>;

    int byte_count() const { return (bit_count_ + 7) / 8; }
    int row_groups() const { return (lane_count_of_bits(bit_count_) + kRow - 1) / kRow; }

    // Number of the row of a group of lanes, of one of the 2 byte_count() halves of bytes, and of
    // its value.
    size_t row(int group, int place, int half) const {
        return size_t((group * 2 * byte_count() + place) * kHalves + half);
    }

    std::array<Row, kMaxCodeLanes / kRow*(kMaxCodeBits / 4)* kHalves> rows_ = {};
    int bit_count_ = 0;
};

// The distance up to which two codes of this length count as near: linear between these points,
// rounded down. PDQ calls pictures equal within 31 of 256 bits.
constexpr int near_radius_of_bits(int bit_count) {
    constexpr struct { int bits, radius; } kPoints[] = {{0, 0}, {64, 8}, {128, 18}, {256, 31}};
    constexpr int kLast = int(std::size(kPoints)) - 1;
    if (bit_count >= kPoints[kLast].bits)
        return bit_count / 8 - 1;
    int above = 1;
    while (bit_count > kPoints[above].bits)
        above++;
    auto [bits, radius] = kPoints[above - 1];
    return radius + (std::max(bit_count, 0) - bits) * (kPoints[above].radius - radius) /
                        (kPoints[above].bits - bits);
}

} // namespace simhash
