// Permutations bring a block to the front, and can be undone.
#include "core/layout/layout.hpp"

#include <gtest/gtest.h>

#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

TEST(Permutation, BringsTheBlockToTheFrontAndBack) {
    Random random(7);
    for (int tables = 1; tables <= kMaxTables; tables++) {
        Layout layout = make_layout(kMaxLayoutRadius, tables);
        for (int table = 0; table < tables; table++) {
            Permutation permutation = layout.permutation(table);
            uint64_t mask = layout.mask(table);
            ASSERT_EQ(permutation.apply(mask), leading_mask(layout.prefix_bits(table)));
            for (int i = 0; i < 20; i++) {
                uint64_t a = random.next(), b = a ^ (random.next() & ~mask);
                uint64_t differing = permutation.apply(a) ^ permutation.apply(b);
                ASSERT_EQ(differing & permutation.apply(mask), 0) << "of the block's bits";
                ASSERT_EQ(hamming_distance(permutation.apply(a), permutation.apply(b)),
                          hamming_distance(a, b));
                ASSERT_EQ(permutation.invert(permutation.apply(a)), a);
            }
        }
    }
}

} // namespace
