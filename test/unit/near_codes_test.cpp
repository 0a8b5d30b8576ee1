// Near pairs of codes equal brute force, whatever the number of words and the data.
#include "core/pairs/near_codes.hpp"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "core/pairs/distinct.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr Pause kNoPause = {[](void*) {}, nullptr};

using Pair = std::pair<uint64_t, uint64_t>;
using CodeWords = std::array<uint64_t, kMaxCodeWords>;
using Codes = std::vector<CodeWords>;

// One set or two. Candidates are verified in batches, as where the codes are in files, or at once.
class Sets {
  public:
    Sets(const Codes* a, const Codes* b, int words, bool at_once)
        : codes_{a, b}, words_(words), at_once_(at_once) {}

    bool between() const { return codes_[1] != nullptr; }
    size_t count(int set) const { return codes_[set]->size(); }
    void read(int set, size_t number, uint64_t* words) const {
        ASSERT_LT(number, count(set));
        std::copy_n((*codes_[set])[number].begin(), words_, words);
    }

    void begin_word(int word) {
        words_begun++;
        for (int set = 0; set <= int(between()); set++) {
            places_[set].clear();
            for (size_t i = 0; i < count(set); i++)
                places_[set].push_back({(*codes_[set])[i][word], i});
            std::sort(places_[set].begin(), places_[set].end());
        }
    }

    Entry place(int set, size_t place) const { return places_[set][place]; }

    size_t place_of(int set, uint64_t word) const {
        auto found = std::lower_bound(places_[set].begin(), places_[set].end(), Entry{word, 0});
        EXPECT_EQ(found->key, word);
        return size_t(found - places_[set].begin());
    }

    void find_pairs(int radius, const PairReceiver& receiver) const {
        std::vector<uint64_t> words[2];
        FingerprintArray arrays[2] = {};
        for (int set = 0; set <= int(between()); set++) {
            for (const Entry& place : places_[set])
                if (words[set].empty() || words[set].back() != place.key)
                    words[set].push_back(place.key);
            size_t size = words[set].size();
            words[set].resize(2 * size);
            arrays[set] = {words[set].data(), words[set].data() + size, size};
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

    int words_begun = 0;
    size_t taken = 0; // pairs that were near in a word

  private:
    const Codes* codes_[2];
    int words_;
    bool at_once_;
    std::vector<Entry> places_[2];
    std::vector<std::pair<uint32_t, uint32_t>> waiting_;
};

void add_pair(void* pairs, uint64_t a, uint64_t b) {
    static_cast<std::vector<Pair>*>(pairs)->emplace_back(a, b);
}

int distance(const CodeWords& a, const CodeWords& b) {
    int distance = 0;
    for (size_t i = 0; i < a.size(); i++)
        distance += hamming_distance(a[i], b[i]);
    return distance;
}

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

// By words and as is cheaper, at once and in batches.
void expect_pairs_of_brute_force(const Codes& a, const Codes* b, int words,
                                 const std::vector<int>& radii) {
    Distances distances(a, b);
    for (int radius : radii)
        for (bool at_once : {true, false})
            for (bool by_words : {true, false}) {
                Sets sets(&a, b, words, at_once);
                std::vector<Pair> found;
                NearCodesSearch search(&sets, words, radius, {add_pair, nullptr, &found}, kNoPause);
                if (by_words && std::min(a.size(), (b ? *b : a).size()) > 1)
                    search.run_by_words();
                else
                    search.run();
                std::sort(found.begin(), found.end());
                ASSERT_EQ(found, distances.within(radius)) << words << " words, radius " << radius;
            }
}

void make_distinct(Codes& codes) {
    std::sort(codes.begin(), codes.end());
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
}

CodeWords random_code(Random& random, int words) {
    CodeWords code = {};
    for (int i = 0; i < words; i++)
        code[i] = random.next();
    return code;
}

// Changes up to `most` bits.
CodeWords near_code(Random& random, CodeWords code, int words, int most) {
    for (uint64_t left = random.below(uint64_t(most) + 1); left > 0; left--)
        code[random.below(uint64_t(words))] ^= uint64_t{1} << random.below(64);
    return code;
}

// A third of them are near an earlier one.
Codes random_and_near(uint64_t seed, int words, size_t size) {
    Random random(seed);
    Codes codes;
    while (codes.size() < size) {
        bool is_near = !codes.empty() && random.below(3) == 0;
        codes.push_back(
            is_near ? near_code(random, codes[random.below(codes.size())], words, 20 * words)
                    : random_code(random, words));
    }
    make_distinct(codes);
    return codes;
}

std::vector<int> radii_up_to_a_quarter(int words) {
    return {0, 1, 4 * words, 8 * words - 1, 12 * words + 1, 16 * words};
}

TEST(NearCodes, EqualBruteForceForAllNumbersOfWords) {
    for (int words = 1; words <= kMaxCodeWords; words++) {
        Codes codes = random_and_near(uint64_t(words), words, 600);
        expect_pairs_of_brute_force(codes, nullptr, words, radii_up_to_a_quarter(words));
    }
}

TEST(NearCodes, BetweenTwoSetsEqualBruteForceForAllNumbersOfWords) {
    for (int words = 1; words <= kMaxCodeWords; words++) {
        Random random{uint64_t(words) + 100};
        Codes a = random_and_near(uint64_t(words), words, 300), b;
        for (size_t i = 0; i < 700; i++)
            b.push_back(i % 3 ? random_code(random, words)
                              : near_code(random, a[random.below(a.size())], words, 18 * words));
        b.insert(b.end(), a.begin(), a.begin() + 50);
        make_distinct(b);
        expect_pairs_of_brute_force(a, &b, words, radii_up_to_a_quarter(words));
        expect_pairs_of_brute_force(b, &a, words, {8 * words - 1});
    }
}

TEST(NearCodes, EqualBruteForceWhereWordsAreShared) {
    for (int words : {2, 3, 4, 9}) {
        Random random{uint64_t(words)};
        Codes codes;
        for (size_t i = 0; i < 800; i++) {
            CodeWords code = random_code(random, words);
            for (int word = 0; word < words; word++) // many have few values, some have one
                if (word % 3 == 0)
                    code[word] = random.below(4);
                else if (word % 3 == 1 && random.below(2) == 0)
                    code[word] = 0;
            codes.push_back(i % 2 ? code : near_code(random, code, words, 3));
        }
        make_distinct(codes);
        expect_pairs_of_brute_force(codes, nullptr, words, radii_up_to_a_quarter(words));
    }
}

// As of 65 bits, or of a column that is mostly empty.
TEST(NearCodes, EqualBruteForceWhereAWordHasFewBits) {
    for (uint64_t mask : {uint64_t{0}, uint64_t{1} << 63, uint64_t{0xff} << 56}) {
        Codes codes = random_and_near(5, 2, 700);
        for (CodeWords& code : codes)
            code[1] &= mask;
        make_distinct(codes);
        expect_pairs_of_brute_force(codes, nullptr, 2, {1, 8, 14, 16});
        for (CodeWords& code : codes)
            std::swap(code[0], code[1]);
        make_distinct(codes);
        expect_pairs_of_brute_force(codes, nullptr, 2, {1, 8, 14, 16});
    }
}

TEST(NearCodes, EqualBruteForceInClusters) {
    Random random(6);
    Codes codes;
    for (int cluster = 0; cluster < 12; cluster++) {
        CodeWords center = random_code(random, 4);
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
    PairReceiver nobody = {[](void*, uint64_t, uint64_t) {}, nullptr, nullptr};
    Sets sets(&codes, nullptr, 2, true);
    NearCodesSearch(&sets, 2, 60, nobody, count).run_by_words();
    EXPECT_GE(pauses, 20);
}

// 1 of 16 pairs has the same word, which is far from all.
TEST(NearCodes, CompareThoseThatHaveOneWord) {
    Random random(12);
    Codes codes;
    for (int i = 0; i < 1000; i++) {
        CodeWords code = random_code(random, 2);
        if (i % 4 < 2)
            code[i % 4] = 0;
        codes.push_back(i % 3 ? code : near_code(random, code, 2, 9));
    }
    make_distinct(codes);
    expect_pairs_of_brute_force(codes, nullptr, 2, {3, 8, 18, 40});
    Codes others(codes.begin(), codes.begin() + 500);
    for (CodeWords& code : others)
        code[1] ^= 5;
    make_distinct(others);
    expect_pairs_of_brute_force(codes, &others, 2, {3, 8, 18, 40});
}

// Without that, half of all pairs would be candidates.
TEST(NearCodes, DoNotSearchAWordThatManyShare) {
    Random random(10);
    Codes codes;
    for (int i = 0; i < 5000; i++) {
        CodeWords code = random_code(random, 4);
        if (i % 4 != 0)
            code[2] = 0;
        codes.push_back(code);
    }
    make_distinct(codes);
    Sets sets(&codes, nullptr, 4, true);
    std::vector<Pair> found;
    NearCodesSearch(&sets, 4, 31, {add_pair, nullptr, &found}, kNoPause).run_by_words();
    EXPECT_EQ(sets.words_begun, 3);
    EXPECT_LT(sets.taken, 1000U);
}

// ---- the words' radii ----

CodeRadii radii_of(const Codes& codes, int words, int radius) {
    SampledDistances distances(words);
    for (size_t i = 1; i < codes.size(); i++)
        distances.add(codes[i - 1].data(), codes[i].data());
    return distances.radii(radius);
}

std::vector<int> first_radii(const CodeRadii& radii, int words) {
    return {radii.of_word, radii.of_word + words};
}

Codes random_codes(uint64_t seed, int words, size_t size) {
    Random random(seed);
    Codes codes;
    while (codes.size() < size)
        codes.push_back(random_code(random, words));
    return codes;
}

TEST(SampledDistances, RadiiOfEqualWordsAreEqual) {
    Codes codes = random_codes(1, 4, 10000);
    EXPECT_EQ(first_radii(radii_of(codes, 4, 31), 4), (std::vector<int>{7, 7, 7, 7}));
    EXPECT_LT(radii_of(codes, 4, 31).strangers, 1e-8);
    for (int radius = 0; radius <= 256; radius++) {
        std::vector<int> radii = first_radii(radii_of(codes, 4, radius), 4);
        EXPECT_EQ(std::accumulate(radii.begin(), radii.end(), 4), std::min(radius + 1, 4 * 65));
    }
}

TEST(SampledDistances, WordsOfFewBitsAreNotSearched) {
    Codes codes = random_codes(2, 3, 10000);
    for (CodeWords& code : codes) {
        code[1] &= 1;
        code[2] = 5;
    }
    EXPECT_EQ(first_radii(radii_of(codes, 3, 8), 3),
              (std::vector<int>{8, kNotSearched, kNotSearched}));
}

TEST(SampledDistances, WordsThatManyShareAreNotSearched) {
    Codes codes = random_codes(3, 4, 10000);
    for (size_t i = 0; i < codes.size(); i++)
        if (i / 2 % 2 == 0)
            codes[i][0] = codes[i][2] = 0;
    std::vector<int> radii = first_radii(radii_of(codes, 4, 31), 4);
    EXPECT_EQ(radii, (std::vector<int>{kNotSearched, 15, kNotSearched, 15}));
}

TEST(SampledDistances, AllPairsAreWithinTheWidthOfTheWords) {
    CodeRadii radii = radii_of(random_codes(4, 2, 1000), 2, 1024);
    EXPECT_EQ(first_radii(radii, 2), (std::vector<int>{64, 64}));
    EXPECT_GE(radii.strangers, 1);
}

} // namespace
