// The distinct ones of many hashes, beside a set of the standard library.
#include "core/text/distinct_hashes.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <set>
#include <vector>

#include "random.hpp"
#include "text_fixture.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr Memory kMalloc = {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                            [](void*, void* memory) { free(memory); }};

void expect_equal(DistinctHashes& hashes, const std::set<uint64_t>& expected) {
    EXPECT_EQ(hashes.size(), expected.size());
    EXPECT_EQ(hashes.sum(), std::accumulate(expected.begin(), expected.end(), uint64_t{0}));
    auto sorted = hashes.sorted();
    EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), expected.begin(), expected.end()));
}

// One object for documents of all sizes, in which each hash comes once to four times.
TEST(DistinctHashes, AreThoseOfASet) {
    DistinctHashes hashes(kMalloc);
    Random random(7);
    for (size_t count : {0, 1, 2, 511, 512, 513, 3, 100000, 5, 1024, 20000, 0, 600}) {
        std::set<uint64_t> expected;
        hashes.clear();
        for (size_t i = 0; i < count; i++) {
            uint64_t hash = random.next();
            expected.insert(hash);
            for (size_t times = 0; times <= hash % 4; times++)
                hashes.add(hash);
        }
        expect_equal(hashes, expected);
    }
}

// All want the last place, or the first one.
TEST(DistinctHashes, MayCrowdOnePlace) {
    for (uint64_t begin : {uint64_t{1}, UINT64_MAX - 3000}) {
        DistinctHashes hashes(kMalloc);
        std::set<uint64_t> expected;
        for (uint64_t hash = begin + 3000; hash > begin; hash--) {
            expected.insert(hash);
            hashes.add(hash);
            hashes.add(hash);
        }
        expect_equal(hashes, expected);
    }
}

TEST(DistinctHashes, TakeZeroForOne) {
    DistinctHashes hashes(kMalloc);
    hashes.add(0);
    hashes.add(1);
    expect_equal(hashes, {1});
}

} // namespace
