// See fingerprint_array.hpp.
#include "core/pairs/fingerprint_array.hpp"

#include <algorithm>
#include <utility>

namespace simhash {

// If the data is larger than the cache, digits are short: each one's writes stay within one page.
void BlockSort::sort(const FingerprintArray& array, uint64_t block, Pause pause) {
    // Up to this count the fingerprints take 512 kB. A digit of 8 bits writes to 256 places at
    // once, one of 11 bits to 2 048.
    constexpr size_t kInCache = size_t{1} << 16;
    if (array.count < 2)
        return;
    int bits = std::popcount(block);
    int longest = array.count > kInCache ? 8 : kMaxDigitBits;
    // As few passes as the longest digit allows, and digits of equal length: in the cache, 16 bits
    // are 8 + 8, not 11 + 5.
    int passes = (bits + longest - 1) / longest;
    int digit_bits = (bits + passes - 1) / passes;
    uint32_t digit_mask = (uint32_t{1} << digit_bits) - 1;
    BlockBits number(block);
    count_digits(array, number, passes, digit_bits, pause);
    uint64_t* from = array.fingerprints;
    uint64_t* to = array.scratch;
    for (int pass = 0; pass < passes; pass++) {
        uint32_t* next = counts_[pass];
        int shift = pass * digit_bits;
        auto deal = [&](size_t i) { to[next[number(from[i]) >> shift & digit_mask]++] = from[i]; };
        one_by_one(array.count, deal, pause);
        std::swap(from, to);
    }
    // An odd number of passes ends in the scratch.
    if (from != array.fingerprints)
        one_by_one(
            array.count, [&](size_t i) { array.fingerprints[i] = from[i]; }, pause);
}

// Sets counts_ to the place of the first entry of each digit.
void BlockSort::count_digits(const FingerprintArray& array, const BlockBits& number, int passes,
                             int digit_bits, Pause pause) {
    uint32_t digit_mask = (uint32_t{1} << digit_bits) - 1;
    for (int pass = 0; pass < passes; pass++)
        // One reading of the fingerprints counts the digits of all passes.
        std::fill_n(counts_[pass], digit_mask + 1, 0);
    one_by_one(
        array.count,
        [&](size_t i) {
            uint32_t key = number(array.fingerprints[i]);
            for (int pass = 0; pass < passes; pass++)
                counts_[pass][key >> (pass * digit_bits) & digit_mask]++;
        },
        pause);
    for (int pass = 0; pass < passes; pass++) {
        uint32_t start = 0;
        for (uint32_t digit = 0; digit <= digit_mask; digit++)
            start += std::exchange(counts_[pass][digit], start);
    }
}

} // namespace simhash
