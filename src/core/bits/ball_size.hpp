// The number of bit strings in a ball: the sum of C(bits, i) for i = 0 .. radius. Doubles, because
// it can be 2^64.
#pragma once

#include <cmath>

#include "core/bits/fingerprint.hpp"

namespace simhash {

// sizes[n][r]: strings of n bits within r of a given one. share[n]: one string's share, 2^-n.
struct BallSizes {
    double sizes[kFingerprintBits + 1][kFingerprintBits + 1];
    double share[kFingerprintBits + 1];

    constexpr BallSizes() : sizes(), share() {
        double row[kFingerprintBits + 1] = {1}; // row n of Pascal's triangle
        double share_of_one = 1;
        for (int n = 0; n <= kFingerprintBits; n++) {
            double sum = 0;
            for (int r = 0; r <= kFingerprintBits; r++)
                sizes[n][r] = sum += row[r];
            share[n] = share_of_one;
            share_of_one /= 2;
            for (int r = kFingerprintBits; r > 0; r--)
                row[r] += row[r - 1];
        }
    }
};
inline constexpr BallSizes kBallSizes;

// The strings of `bits` bits (0..64) within any radius of a given one: their number, and share.
constexpr double ball_size(int bits, int radius) {
    return radius < 0 ? 0 : kBallSizes.sizes[bits][radius < bits ? radius : bits];
}
constexpr double ball_share(int bits, int radius) {
    return ball_size(bits, radius) * kBallSizes.share[bits];
}

// The share of uniformly distributed fingerprints that lie in a ball.
constexpr double ball_share(int radius) { return ball_share(kFingerprintBits, radius); }

// The share of all codes of `bits` bits (any number) that lie within a radius (any integer) of a
// given one: the sum of C(bits, i) / 2^bits. Terms of up to half of the bits grow with i, so the
// sum begins with the last one, and ends where the others do not count any more.
inline double ball_share_of_code(int bits, int radius) {
    if (bits <= kFingerprintBits)
        return ball_share(bits < 0 ? 0 : bits, radius);
    if (radius < 0 || radius >= bits)
        return radius < 0 ? 0 : 1;
    if (radius >= (bits + 1) / 2)
        return 1 - ball_share_of_code(bits, bits - radius - 1);
    double n = bits;
    double term = std::exp(std::lgamma(n + 1) - std::lgamma(radius + 1.0) -
                           std::lgamma(n - radius + 1) - n * std::log(2.0));
    double sum = 0;
    for (int i = radius; i >= 0 && term > sum * 1e-12; i--) {
        sum += term;
        term *= i / (n - i + 1);
    }
    return sum;
}

} // namespace simhash
