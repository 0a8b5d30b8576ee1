// The radii of lanes bring few strangers, and add up to that of the code.
#include "core/pairs/sampled_distances.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

using CodeLanes = std::array<uint64_t, kMaxCodeLanes>;
using Codes = std::vector<CodeLanes>;

CodeLanes random_code(Random& random, int lanes) {
    CodeLanes code = {};
    for (int i = 0; i < lanes; i++)
        code[i] = random.next();
    return code;
}

LaneRadii radii_of(const Codes& codes, int lanes, int radius) {
    SampledDistances distances(lanes);
    for (size_t i = 1; i < codes.size(); i++)
        distances.add(codes[i - 1].data(), codes[i].data());
    return distances.radii(radius);
}

std::vector<int> first_radii(const LaneRadii& radii, int lanes) {
    return {radii.begin(), radii.begin() + lanes};
}

Codes random_codes(uint64_t seed, int lanes, size_t size) {
    Random random(seed);
    Codes codes;
    while (codes.size() < size)
        codes.push_back(random_code(random, lanes));
    return codes;
}

TEST(SampledDistances, RadiiOfEqualLanesAreEqual) {
    Codes codes = random_codes(1, 4, 10000);
    EXPECT_EQ(first_radii(radii_of(codes, 4, 31), 4), (std::vector<int>{7, 7, 7, 7}));
    for (int radius = 0; radius <= 256; radius++) {
        std::vector<int> radii = first_radii(radii_of(codes, 4, radius), 4);
        EXPECT_EQ(std::accumulate(radii.begin(), radii.end(), 4), std::min(radius + 1, 4 * 65));
    }
}

TEST(SampledDistances, LanesOfFewBitsAreNotSearched) {
    Codes codes = random_codes(2, 3, 10000);
    for (CodeLanes& code : codes) {
        code[1] &= 1;
        code[2] = 5;
    }
    EXPECT_EQ(first_radii(radii_of(codes, 3, 8), 3), (std::vector<int>{8, -1, -1}));
}

TEST(SampledDistances, LanesThatManyShareAreNotSearched) {
    Codes codes = random_codes(3, 4, 10000);
    for (size_t i = 0; i < codes.size(); i++)
        if (i / 2 % 2 == 0)
            codes[i][0] = codes[i][2] = 0;
    std::vector<int> radii = first_radii(radii_of(codes, 4, 31), 4);
    EXPECT_EQ(radii, (std::vector<int>{-1, 15, -1, 15}));
}

TEST(SampledDistances, AllPairsAreWithinTheWidthOfTheLanes) {
    LaneRadii radii = radii_of(random_codes(4, 2, 1000), 2, 1024);
    EXPECT_EQ(first_radii(radii, 2), (std::vector<int>{64, 64}));
}

} // namespace
