// Permutations equal their definition by parallel bit extraction, and can be undone.
#include "core/bits/permutation.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "core/layout/layout.hpp"
#include "random.hpp"

namespace {

using simhash::Permutation;
using simhash::test::Random;

uint64_t pext(uint64_t word, uint64_t mask) {
    uint64_t extracted = 0;
    for (int bit = 63; bit >= 0; bit--)
        if (mask >> bit & 1)
            extracted = extracted << 1 | (word >> bit & 1);
    return extracted;
}

uint64_t by_definition(uint64_t fingerprint, uint64_t mask) {
    if (mask == 0)
        return fingerprint;
    uint64_t front = pext(fingerprint, mask) << (64 - std::popcount(mask));
    uint64_t after = (mask & -mask) - 1, before = ~mask & ~after;
    return front | pext(fingerprint, after) << std::popcount(before) | pext(fingerprint, before);
}

std::vector<uint64_t> masks_to_try() {
    Random random(20240601);
    std::vector<uint64_t> masks = {0,
                                   ~uint64_t{0},
                                   1,
                                   uint64_t{1} << 63,
                                   0x5555555555555555,
                                   0xaaaaaaaaaaaaaaaa,
                                   0xffff000000000000,
                                   0x00000000ffff0000,
                                   0x7fffffffffffffff,
                                   0xfffffffffffffffe,
                                   0xf0f0f0f0f0f0f0f0};
    for (int ones = 0; ones <= 64; ones++)
        masks.push_back(random.with_ones(ones));
    for (int tables : {1, 2, 3, 4, 7, 10, 16, 20, 64}) {
        simhash::Layout layout = simhash::make_layout(3, tables);
        masks.insert(masks.end(), layout.masks, layout.masks + layout.table_count);
    }
    return masks;
}

TEST(Permutation, BringsTheMaskedBitsToTheFrontAndBack) {
    Random random(7);
    for (uint64_t mask : masks_to_try()) {
        Permutation permutation(mask);
        for (int i = 0; i < 200; i++) {
            uint64_t word = i < 64 ? uint64_t{1} << i : random.next();
            ASSERT_EQ(permutation.apply(word), by_definition(word, mask)) << mask;
            ASSERT_EQ(permutation.invert(permutation.apply(word)), word) << mask;
        }
    }
}

} // namespace
