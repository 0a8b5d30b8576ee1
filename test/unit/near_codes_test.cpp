// Near pairs of codes equal brute force, whatever the number of lanes and the data.
#include "core/pairs/near_codes.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "core/pairs/fingerprint_array.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr Pause kNoPause = {[](void*) {}, nullptr};

using Pair = std::pair<uint64_t, uint64_t>;
using CodeLanes = std::array<uint64_t, kMaxCodeLanes>;
using Codes = std::vector<CodeLanes>;

// One set or two. Candidates are verified in batches, as where the codes are in files, or at once.
class Sets {
  public:
    Sets(const Codes* a, const Codes* b, int lanes, bool at_once)
        : codes_{a, b}, lanes_(lanes), at_once_(at_once) {}

    bool between() const { return codes_[1] != nullptr; }
    size_t count(int set) const { return codes_[set]->size(); }
    void read(int set, size_t number, uint64_t* lanes) const {
        ASSERT_LT(number, count(set));
        std::copy_n((*codes_[set])[number].begin(), lanes_, lanes);
    }

    void begin_lane(int lane) {
        lanes_begun++;
        for (int set = 0; set <= int(between()); set++) {
            places_[set].clear();
            for (size_t i = 0; i < count(set); i++)
                places_[set].push_back({(*codes_[set])[i][lane], i});
            std::sort(places_[set].begin(), places_[set].end());
        }
    }

    Pair place(int set, size_t place) const { return places_[set][place]; }

    size_t place_of(int set, uint64_t lane) const {
        auto found = std::lower_bound(places_[set].begin(), places_[set].end(), Pair{lane, 0});
        EXPECT_EQ(found->first, lane);
        return size_t(found - places_[set].begin());
    }

    void find_pairs(int radius, const PairReceiver& receiver) const {
        std::vector<uint64_t> lanes[2];
        FingerprintArray arrays[2] = {};
        for (int set = 0; set <= int(between()); set++) {
            for (const Pair& place : places_[set])
                if (lanes[set].empty() || lanes[set].back() != place.first)
                    lanes[set].push_back(place.first);
            size_t size = lanes[set].size();
            lanes[set].resize(2 * size);
            arrays[set] = {lanes[set].data(), lanes[set].data() + size, size};
        }
        if (between())
            find_pairs_between(arrays[0], arrays[1], radius, receiver, kNoPause);
        else
            find_near_pairs(arrays[0], radius, receiver, kNoPause);
    }

    template <typename Verify>
    void take(uint32_t a, uint32_t b, const Verify& verify) {
        taken++;
        if (at_once_)
            verify(a, b);
        else
            waiting_.emplace_back(a, b);
    }

    template <typename Verify>
    void verify_rest(const Verify& verify) {
        for (auto [a, b] : waiting_)
            verify(a, b);
        waiting_.clear();
    }

    int lanes_begun = 0;
    size_t taken = 0; // pairs that were near in a lane

  private:
    const Codes* codes_[2];
    int lanes_;
    bool at_once_;
    std::vector<Pair> places_[2];
    std::vector<std::pair<uint32_t, uint32_t>> waiting_;
};

int distance(const CodeLanes& a, const CodeLanes& b) {
    int distance = 0;
    for (size_t i = 0; i < a.size(); i++)
        distance += hamming_distance(a[i], b[i]);
    return distance;
}

// What a search finds. It ends after `most` pairs.
struct Found {
    const Codes *a, *b;
    std::vector<Pair> pairs;
    size_t most = SIZE_MAX;

    CodePairReceiver receiver() { return {add, this}; }

    static bool add(void* found, size_t a, size_t b, int bits) {
        auto* self = static_cast<Found*>(found);
        EXPECT_EQ(bits, distance((*self->a)[a], (*self->b)[b]));
        EXPECT_LT(self->pairs.size(), self->most);
        self->pairs.emplace_back(a, b);
        return self->pairs.size() < self->most;
    }
};

// Distances of all pairs, computed once for several radii.
struct Distances {
    Distances(const Codes& a, const Codes* b) {
        for (size_t i = 0; i < a.size(); i++)
            for (size_t j = b == nullptr ? i + 1 : 0; j < (b == nullptr ? a : *b).size(); j++)
                all.push_back({uint32_t(i), uint32_t(j), distance(a[i], (b ? *b : a)[j])});
    }

    std::vector<Pair> within(int radius) const {
        std::vector<Pair> pairs;
        for (const Distance& d : all)
            if (d.bits <= radius)
                pairs.emplace_back(d.a, d.b);
        return pairs;
    }

    struct Distance {
        uint32_t a, b;
        int bits;
    };
    std::vector<Distance> all;
};

// By lanes and as is cheaper, at once and in batches.
void expect_pairs_of_brute_force(const Codes& a, const Codes* b, int lanes,
                                 const std::vector<int>& radii) {
    Distances distances(a, b);
    for (int radius : radii)
        for (bool at_once : {true, false})
            for (bool by_lanes : {true, false}) {
                Sets sets(&a, b, lanes, at_once);
                Found found = {&a, b ? b : &a, {}};
                NearCodesSearch search(&sets, lanes, radius, found.receiver(), kNoPause);
                if (by_lanes && std::min(a.size(), (b ? *b : a).size()) > 1)
                    search.run_by_lanes();
                else
                    search.run();
                std::sort(found.pairs.begin(), found.pairs.end());
                ASSERT_EQ(found.pairs, distances.within(radius))
                    << lanes << " lanes, radius " << radius;
            }
}

void make_distinct(Codes& codes) {
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
}

CodeLanes random_code(Random& random, int lanes) {
    CodeLanes code = {};
    for (int i = 0; i < lanes; i++)
        code[i] = random.next();
    return code;
}

// Changes up to `most` bits.
CodeLanes near_code(Random& random, CodeLanes code, int lanes, int most) {
    for (uint64_t left = random.below(uint64_t(most) + 1); left > 0; left--)
        code[random.below(uint64_t(lanes))] ^= uint64_t{1} << random.below(64);
    return code;
}

// A third of them are near an earlier one.
Codes random_and_near(uint64_t seed, int lanes, size_t size) {
    Random random(seed);
    Codes codes;
    while (codes.size() < size) {
        bool is_near = !codes.empty() && random.below(3) == 0;
        codes.push_back(
            is_near ? near_code(random, codes[random.below(codes.size())], lanes, 20 * lanes)
                    : random_code(random, lanes));
    }
    make_distinct(codes);
    return codes;
}

std::vector<int> radii_up_to_a_quarter(int lanes) {
    return {0, 1, 4 * lanes, 8 * lanes - 1, 12 * lanes + 1, 16 * lanes};
}

TEST(NearCodes, EqualBruteForceForAllNumbersOfLanes) {
    for (int lanes = 1; lanes <= kMaxCodeLanes; lanes++) {
        Codes codes = random_and_near(uint64_t(lanes), lanes, 600);
        expect_pairs_of_brute_force(codes, nullptr, lanes, radii_up_to_a_quarter(lanes));
    }
}

TEST(NearCodes, BetweenTwoSetsEqualBruteForceForAllNumbersOfLanes) {
    for (int lanes = 1; lanes <= kMaxCodeLanes; lanes++) {
        Random random{uint64_t(lanes) + 100};
        Codes a = random_and_near(uint64_t(lanes), lanes, 300), b;
        for (size_t i = 0; i < 700; i++)
            b.push_back(i % 3 ? random_code(random, lanes)
                              : near_code(random, a[random.below(a.size())], lanes, 18 * lanes));
        b.insert(b.end(), a.begin(), a.begin() + 50);
        make_distinct(b);
        expect_pairs_of_brute_force(a, &b, lanes, radii_up_to_a_quarter(lanes));
        expect_pairs_of_brute_force(b, &a, lanes, {8 * lanes - 1});
    }
}

TEST(NearCodes, EqualBruteForceWhereLanesAreShared) {
    for (int lanes : {2, 3, 4, 9}) {
        Random random{uint64_t(lanes)};
        Codes codes;
        for (size_t i = 0; i < 800; i++) {
            CodeLanes code = random_code(random, lanes);
            for (int lane = 0; lane < lanes; lane++) // many have few values, some have one
                if (lane % 3 == 0)
                    code[lane] = random.below(4);
                else if (lane % 3 == 1 && random.below(2) == 0)
                    code[lane] = 0;
            codes.push_back(i % 2 ? code : near_code(random, code, lanes, 3));
        }
        make_distinct(codes);
        expect_pairs_of_brute_force(codes, nullptr, lanes, radii_up_to_a_quarter(lanes));
    }
}

// As of 65 bits, or of a column that is mostly empty.
TEST(NearCodes, EqualBruteForceWhereALaneHasFewBits) {
    for (uint64_t mask : {uint64_t{0}, uint64_t{1} << 63, uint64_t{0xff} << 56}) {
        Codes codes = random_and_near(5, 2, 700);
        for (CodeLanes& code : codes)
            code[1] &= mask;
        make_distinct(codes);
        expect_pairs_of_brute_force(codes, nullptr, 2, {1, 8, 14, 16});
        for (CodeLanes& code : codes)
            std::swap(code[0], code[1]);
        make_distinct(codes);
        expect_pairs_of_brute_force(codes, nullptr, 2, {1, 8, 14, 16});
    }
}

TEST(NearCodes, EqualBruteForceInClusters) {
    Random random(6);
    Codes codes;
    for (int cluster = 0; cluster < 12; cluster++) {
        CodeLanes center = random_code(random, 4);
        for (int i = 0; i < 80; i++)
            codes.push_back(near_code(random, center, 4, 40));
    }
    make_distinct(codes);
    expect_pairs_of_brute_force(codes, nullptr, 4, {7, 31, 64});
}

TEST(NearCodes, OfFewCodesEqualBruteForce) {
    for (size_t size : {1, 2, 3, 63, 64, 65, 130}) {
        Codes codes = random_and_near(7, 4, size);
        expect_pairs_of_brute_force(codes, nullptr, 4, {0, 1, 31, 64, 256});
        expect_pairs_of_brute_force(codes, &codes, 4, {0, 1, 31, 64, 256});
    }
    Codes none, one = random_and_near(8, 4, 1);
    expect_pairs_of_brute_force(none, nullptr, 4, {31});
    expect_pairs_of_brute_force(none, &one, 4, {31});
    expect_pairs_of_brute_force(one, &none, 4, {31});
}

TEST(NearCodes, PauseOnTheWay) {
    Codes codes = random_and_near(9, 2, 4000);
    int pauses = 0;
    Pause count = {[](void* pauses) { ++*static_cast<int*>(pauses); }, &pauses};
    CodePairReceiver nobody = {[](void*, size_t, size_t, int) { return true; }, nullptr};
    Sets sets(&codes, nullptr, 2, true);
    NearCodesSearch(&sets, 2, 60, nobody, count).run_by_lanes();
    EXPECT_GE(pauses, 20);
}

TEST(NearCodes, EndWhereTheReceiverSaysSo) {
    Random random(13);
    Codes codes = random_and_near(13, 2, 1000);
    for (int i = 0; i < 200; i++) { // that have one lane
        codes.push_back(random_code(random, 2));
        codes.back()[1] = 7;
    }
    make_distinct(codes);
    for (size_t most : {1, 2, 100})
        for (bool at_once : {true, false})
            for (bool by_lanes : {true, false})
                for (int radius : {50, 128}) {
                    Sets sets(&codes, nullptr, 2, at_once);
                    Found found = {&codes, &codes, {}, most};
                    NearCodesSearch search(&sets, 2, radius, found.receiver(), kNoPause);
                    by_lanes ? search.run_by_lanes() : search.run();
                    EXPECT_EQ(found.pairs.size(), most);
                }
}

// 1 of 16 pairs has the same lane, which is far from all.
TEST(NearCodes, CompareThoseThatHaveOneWord) {
    Random random(12);
    Codes codes;
    for (int i = 0; i < 1000; i++) {
        CodeLanes code = random_code(random, 2);
        if (i % 4 < 2)
            code[i % 4] = 0;
        codes.push_back(i % 3 ? code : near_code(random, code, 2, 9));
    }
    make_distinct(codes);
    expect_pairs_of_brute_force(codes, nullptr, 2, {3, 8, 18, 40});
    Codes others(codes.begin(), codes.begin() + 500);
    for (CodeLanes& code : others)
        code[1] ^= 5;
    make_distinct(others);
    expect_pairs_of_brute_force(codes, &others, 2, {3, 8, 18, 40});
}

// Without that, half of all pairs would be candidates.
TEST(NearCodes, DoNotSearchALaneThatManyShare) {
    Random random(10);
    Codes codes;
    for (int i = 0; i < 5000; i++) {
        CodeLanes code = random_code(random, 4);
        if (i % 4 != 0)
            code[2] = 0;
        codes.push_back(code);
    }
    make_distinct(codes);
    Sets sets(&codes, nullptr, 4, true);
    Found found = {&codes, &codes, {}};
    NearCodesSearch(&sets, 4, 31, found.receiver(), kNoPause).run_by_lanes();
    EXPECT_EQ(sets.lanes_begun, 3);
    EXPECT_LT(sets.taken, 1000U);
}

// ---- the lanes' radii ----

CodeRadii radii_of(const Codes& codes, int lanes, int radius) {
    SampledDistances distances(lanes);
    for (size_t i = 1; i < codes.size(); i++)
        distances.add(codes[i - 1].data(), codes[i].data());
    return distances.radii(radius);
}

std::vector<int> first_radii(const CodeRadii& radii, int lanes) {
    return {radii.of_lane, radii.of_lane + lanes};
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
    EXPECT_LT(radii_of(codes, 4, 31).strangers, 1e-8);
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
    EXPECT_EQ(first_radii(radii_of(codes, 3, 8), 3),
              (std::vector<int>{8, kNotSearched, kNotSearched}));
}

TEST(SampledDistances, LanesThatManyShareAreNotSearched) {
    Codes codes = random_codes(3, 4, 10000);
    for (size_t i = 0; i < codes.size(); i++)
        if (i / 2 % 2 == 0)
            codes[i][0] = codes[i][2] = 0;
    std::vector<int> radii = first_radii(radii_of(codes, 4, 31), 4);
    EXPECT_EQ(radii, (std::vector<int>{kNotSearched, 15, kNotSearched, 15}));
}

TEST(SampledDistances, AllPairsAreWithinTheWidthOfTheLanes) {
    CodeRadii radii = radii_of(random_codes(4, 2, 1000), 2, 1024);
    EXPECT_EQ(first_radii(radii, 2), (std::vector<int>{64, 64}));
    EXPECT_GE(radii.strangers, 1);
}

} // namespace
