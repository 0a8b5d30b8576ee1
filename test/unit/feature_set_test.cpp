// Sets of features: early answers are those of the similarity itself.
#include "core/text/feature_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <set>
#include <vector>

#include "random.hpp"

namespace simhash::test {

namespace {

std::vector<uint64_t> some_of(Random& random, uint64_t universe, size_t count) {
    std::set<uint64_t> chosen;
    while (chosen.size() < count)
        chosen.insert(random.below(universe));
    return {chosen.begin(), chosen.end()};
}

TEST(FeatureSet, ThresholdsAgreeWithTheSimilarity) {
    Random random(7);
    int compared = 0, similar = 0;
    for (int turn = 0; turn < 4000; turn++) {
        // Of a small universe, so that sets share much or little; empty ones and equal ones, too.
        uint64_t universe = 1 + random.below(300);
        std::vector<uint64_t> a = some_of(random, universe, random.below(universe + 1));
        std::vector<uint64_t> b = some_of(random, universe, random.below(universe + 1));
        std::vector<uint64_t> shared;
        std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(shared));
        double similarity = -1;
        ASSERT_EQ(set_similarity(a, b, &similarity), !a.empty() || !b.empty());
        if (a.empty() && b.empty())
            continue;
        double expected = double(shared.size()) / double(a.size() + b.size() - shared.size());
        ASSERT_EQ(similarity, expected);
        for (double threshold : {0.0, 0.5, 0.8, 1.0, similarity, std::nextafter(similarity, 2),
                                 std::nextafter(similarity, -1)}) {
            ASSERT_EQ(is_set_similarity_at_least(a, b, threshold), similarity >= threshold)
                << a.size() << " " << b.size() << " " << shared.size() << " " << threshold;
            compared++;
            similar += similarity >= threshold;
        }
    }
    EXPECT_GT(similar, compared / 5);
    EXPECT_LT(similar, compared * 4 / 5);
}

} // namespace

} // namespace simhash::test
