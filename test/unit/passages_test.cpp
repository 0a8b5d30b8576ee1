// Passages and winnowed hashes beside brute force.
#include "core/text/passages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/text/placed_words.hpp"
#include "random.hpp"
#include "text_fixture.hpp"

namespace simhash::test {

namespace {

using Text = std::vector<uint64_t>; // words

constexpr auto kNoPause = [] {};

// Memory that goes at once.
class Arena {
  public:
    Memory memory() {
        return {this,
                [](void* arena, size_t bytes) -> void* {
                    auto* self = static_cast<Arena*>(arena);
                    self->held_.push_back(std::make_unique<char[]>(bytes));
                    return self->held_.back().get();
                },
                [](void*, void*) {}};
    }

  private:
    std::vector<std::unique_ptr<char[]>> held_;
};

Text random_text(Random& random, size_t most, uint64_t alphabet) {
    Text text(random.below(most + 1));
    for (uint64_t& word : text)
        word = random.below(alphabet);
    return text;
}

// A text of parts of another one, with other words between them.
Text rearranged(Random& random, const Text& of, size_t parts, uint64_t alphabet) {
    Text text;
    for (size_t part = 0; part < parts; part++) {
        for (uint64_t more = random.below(4); more > 0; more--)
            text.push_back(random.below(alphabet));
        if (of.empty())
            continue;
        size_t begin = random.below(of.size()), length = random.below(of.size() - begin + 1);
        text.insert(text.end(), of.begin() + begin, of.begin() + begin + length);
    }
    return text;
}

// ---- winnowing ----

// Indexes of earlier releases hold the hashes of these, in windows of 9.
static_assert(shingle_of_runs(kPassageWords) == 8);

std::set<uint64_t> winnowed(const Text& text, size_t run = kPassageWords) {
    FeatureSet set(malloc_memory());
    winnow(text, run, &set, kNoPause);
    FeatureHashes hashes = set.finish();
    std::set<uint64_t> result(hashes.begin(), hashes.end());
    EXPECT_EQ(result.size(), hashes.size());
    set.release();
    return result;
}

// The hash of a run by itself.
uint64_t hash_of(Words run) {
    uint64_t sum = 0;
    for (uint64_t word : run)
        sum = sum * 0x9e3779b97f4a7c15 + word;
    return mix(sum);
}

// The definition: every shingle is hashed by itself, and every window looked through.
std::set<uint64_t> winnowed_by_definition(const Text& text, size_t run) {
    run = std::min<size_t>(run, kMostWinnowedRun);
    const size_t shingle = shingle_of_runs(run), window = run - shingle + 1;
    Text shingles;
    for (size_t i = 0; i + shingle <= text.size(); i++)
        shingles.push_back(hash_of(Words(text).subspan(i, shingle)));
    std::set<uint64_t> result;
    for (size_t i = 0; i + window <= shingles.size(); i++)
        result.insert(*std::min_element(shingles.begin() + i, shingles.begin() + i + window));
    return result;
}

bool have_common(const std::set<uint64_t>& a, const std::set<uint64_t>& b) {
    return std::any_of(a.begin(), a.end(), [&](uint64_t hash) { return b.count(hash) > 0; });
}

TEST(Winnowing, KeepsTheLeastHashOfEachWindow) {
    Random random(1);
    for (int turn = 0; turn < 5000; turn++) {
        Text text = random_text(random, turn % 3 == 0 ? 80 : 300, 1 + random.below(4));
        size_t run = 1 + random.below(70);
        ASSERT_EQ(winnowed(text, run), winnowed_by_definition(text, run));
        ASSERT_EQ(winnowed(text, run).empty(),
                  text.size() < std::min<size_t>(run, kMostWinnowedRun));
    }
}

// The theorem: a common run of shingle + window - 1 words leaves a common hash, whatever is around
// it. Of one or two different words, shingles and windows repeat themselves, and hashes are equal.
TEST(Winnowing, EveryLongRunShows) {
    Random random(2);
    for (uint64_t alphabet : {1, 2, 3, 1000})
        for (size_t length = 1; length <= kMostWinnowedRun + 2; length++)
            for (int turn = 0; turn < 200; turn++) {
                Text run(length), a = random_text(random, 40, alphabet), b;
                for (uint64_t& word : run)
                    word = random.below(alphabet);
                b = random_text(random, 40, alphabet);
                a.insert(a.begin() + random.below(a.size() + 1), run.begin(), run.end());
                b.insert(b.begin() + random.below(b.size() + 1), run.begin(), run.end());
                ASSERT_TRUE(have_common(winnowed(a, length), winnowed(b, length))) << length;
            }
}

// All texts of kPassageWords words of two kinds, each at the end of one text and at the beginning of
// another.
TEST(Winnowing, EveryRunOfTwoWordsShows) {
    for (unsigned bits = 0; bits < 1u << kPassageWords; bits++) {
        Text a = {7, 8, 9}, b;
        for (int i = 0; i < kPassageWords; i++)
            b.push_back(bits >> i & 1);
        a.insert(a.end(), b.begin(), b.end());
        b.push_back(5);
        ASSERT_TRUE(have_common(winnowed(a), winnowed(b))) << bits;
    }
}

TEST(Winnowing, KeepsOneOfFiveOrSo) {
    Random random(3);
    Text text(100000);
    for (uint64_t& word : text)
        word = random.next();
    // 2 / (window + 1) of the hashes of shingles.
    EXPECT_NEAR(double(winnowed(text).size()) / double(text.size()), .2, .005);
}

// ---- passages ----

using Triple = std::vector<uint32_t>; // a, b, words

// The definition, step by step.
std::vector<Triple> tiles_by_definition(const Text& a, const Text& b, size_t least) {
    std::vector<bool> taken_a(a.size()), taken_b(b.size());
    std::vector<Triple> result;
    for (;;) {
        Triple best = {0, 0, 0};
        for (uint32_t i = 0; i < a.size(); i++)
            for (uint32_t j = 0; j < b.size(); j++) {
                uint32_t length = 0;
                while (i + length < a.size() && j + length < b.size() &&
                       a[i + length] == b[j + length] && !taken_a[i + length] &&
                       !taken_b[j + length])
                    length++;
                if (length > best[2])
                    best = {i, j, length};
            }
        if (best[2] < least)
            break;
        std::fill_n(taken_a.begin() + best[0], best[2], true);
        std::fill_n(taken_b.begin() + best[1], best[2], true);
        result.push_back(best);
    }
    // Not by the vectors: up to GCC 12 the library compares these wrongly on big-endian machines.
    std::sort(result.begin(), result.end(),
              [](const Triple& x, const Triple& y) { return x[0] < y[0]; });
    return result;
}

std::vector<Triple> tiles(const Text& a, const Text& b, size_t least) {
    Arena arena;
    std::vector<Triple> result;
    for (const Passage& passage : common_passages(a, b, least, arena.memory(), kNoPause))
        result.push_back({passage.a, passage.b, passage.words});
    return result;
}

size_t longest_by_definition(const Text& a, const Text& b) {
    size_t longest = 0;
    for (size_t i = 0; i < a.size(); i++)
        for (size_t j = 0; j < b.size(); j++) {
            size_t length = 0;
            while (i + length < a.size() && j + length < b.size() && a[i + length] == b[j + length])
                length++;
            longest = std::max(longest, length);
        }
    return longest;
}

bool shares(const Text& a, const Text& b, size_t length) {
    if (length > a.size() || length > b.size())
        return false;
    Arena arena;
    return RunFinder(a, length, arena.memory(), kNoPause).has_run_of(b, arena.memory(), kNoPause);
}

TEST(Passages, AreThoseOfGreedyTiling) {
    Random random(6);
    size_t found = 0;
    for (int turn = 0; turn < 10000; turn++) {
        uint64_t alphabet = 1 + random.below(turn % 2 == 0 ? 3 : 30);
        Text a = random_text(random, 40, alphabet);
        Text b = turn % 3 == 0 ? random_text(random, 40, alphabet)
                               : rearranged(random, a, random.below(4), alphabet);
        size_t least = 1 + random.below(6);
        std::vector<Triple> expected = tiles_by_definition(a, b, least);
        ASSERT_EQ(tiles(a, b, least), expected) << turn;
        found += expected.size();
        size_t longest = longest_by_definition(a, b);
        for (size_t length = 1; length <= 8; length++) {
            ASSERT_EQ(shares(a, b, length), longest >= length) << turn;
            ASSERT_EQ(shares(b, a, length), longest >= length) << turn;
        }
        Arena arena;
        ASSERT_EQ(longest_common_run(a, b, least, arena.memory(), kNoPause),
                  longest >= least ? longest : 0);
    }
    EXPECT_GT(found, 10000u);
}

// Runs of one word of many lengths are where candidates are many.
TEST(Passages, OfTextsThatRepeatThemselves) {
    Random random(7);
    for (int turn = 0; turn < 1000; turn++) {
        auto runs = [&] {
            Text text;
            for (uint64_t more = random.below(8); more > 0; more--) {
                text.insert(text.end(), random.below(12), 0);
                text.push_back(random.below(3) == 0 ? 1 : random.next());
            }
            return text;
        };
        Text a = runs(), b = runs();
        size_t least = 1 + random.below(4);
        ASSERT_EQ(tiles(a, b, least), tiles_by_definition(a, b, least)) << turn;
    }
}

// Linear in practice: each of these would take hours if all pairs of places were looked at.
TEST(Passages, OfLongTexts) {
    constexpr size_t kWords = 100000;
    Text one_word(kWords, 0), other_words(kWords), runs, longer_runs;
    Random random(8);
    for (uint64_t& word : other_words)
        word = random.next();
    while (runs.size() < kWords) {
        runs.insert(runs.end(), 20, 0);
        runs.push_back(random.next());
        longer_runs.insert(longer_runs.end(), 16 + random.below(200), 0);
        longer_runs.push_back(random.next());
    }
    EXPECT_EQ(tiles(one_word, one_word, 16), (std::vector<Triple>{{0, 0, kWords}}));
    EXPECT_EQ(tiles(other_words, other_words, 16), (std::vector<Triple>{{0, 0, kWords}}));
    EXPECT_EQ(tiles(one_word, other_words, 16).size(), 0u);
    EXPECT_EQ(tiles(runs, runs, 16).size(), 1u);
    EXPECT_EQ(tiles(runs, longer_runs, 16).size(), (kWords + 20) / 21);
    EXPECT_TRUE(shares(one_word, longer_runs, 100));
    EXPECT_FALSE(shares(one_word, other_words, 1));
}

// ---- words in common runs, and repeats ----

std::vector<bool> shared_by_definition(const Text& a, const Text& b, size_t length) {
    std::vector<bool> result(a.size());
    for (size_t i = 0; i + length <= a.size(); i++)
        for (size_t j = 0; j + length <= b.size(); j++)
            if (std::equal(a.begin() + i, a.begin() + i + length, b.begin() + j))
                std::fill_n(result.begin() + i, length, true);
    return result;
}

std::vector<bool> shared(const Text& a, const Text& b, size_t length) {
    Arena arena;
    auto marks = std::make_unique<bool[]>(a.size());
    mark_shared_runs(a, b, length, marks.get(), arena.memory(), kNoPause);
    return std::vector<bool>(marks.get(), marks.get() + a.size());
}

std::vector<Triple> repeats_by_definition(const Text& text, size_t least) {
    auto is_equal = [&](size_t i, size_t j, size_t length) {
        return std::max(i, j) + length <= text.size() &&
               std::equal(text.begin() + i, text.begin() + i + length, text.begin() + j);
    };
    std::vector<Triple> result;
    for (size_t i = 0; i < text.size();) {
        size_t model = 0, length = least;
        while (model < i && !is_equal(i, model, least))
            model++;
        if (model == i) {
            i++;
            continue;
        }
        while (is_equal(i, model, length + 1))
            length++;
        result.push_back({uint32_t(i), uint32_t(model), uint32_t(length)});
        i += length;
    }
    return result;
}

std::vector<Triple> repeats(const Text& text, size_t least) {
    Arena arena;
    std::vector<Triple> result;
    for (const Passage& passage : repeated_passages(text, least, arena.memory(), kNoPause))
        result.push_back({passage.a, passage.b, passage.words});
    return result;
}

TEST(SharedRuns, AreThoseOfBruteForce) {
    Random random(10);
    size_t found = 0;
    for (int turn = 0; turn < 10000; turn++) {
        uint64_t alphabet = 1 + random.below(turn % 2 == 0 ? 3 : 30);
        Text a = random_text(random, 40, alphabet);
        Text b = turn % 3 == 0 ? random_text(random, 40, alphabet)
                               : rearranged(random, a, random.below(4), alphabet);
        for (size_t length = 1; length <= 8; length++) {
            std::vector<bool> expected = shared_by_definition(a, b, length);
            ASSERT_EQ(shared(a, b, length), expected) << turn;
            found += size_t(std::count(expected.begin(), expected.end(), true));
        }
    }
    EXPECT_GT(found, 100000u);
}

TEST(Repeats, AreThoseOfBruteForce) {
    Random random(11);
    size_t found = 0;
    for (int turn = 0; turn < 10000; turn++) {
        uint64_t alphabet = 1 + random.below(turn % 2 == 0 ? 3 : 30);
        Text part = random_text(random, 30, alphabet);
        Text text = rearranged(random, part, random.below(5), alphabet);
        for (size_t least = 1; least <= 8; least++) {
            std::vector<Triple> expected = repeats_by_definition(text, least);
            ASSERT_EQ(repeats(text, least), expected) << turn;
            found += expected.size();
        }
    }
    EXPECT_GT(found, 50000u);
}

// Each of these would take hours if runs were compared word by word, or all pairs of places.
TEST(Repeats, AndSharedRunsOfLongTexts) {
    constexpr size_t kWords = 100000;
    Text one_word(kWords, 0), others(kWords), twice;
    Random random(12);
    for (uint64_t& word : others)
        word = random.next();
    for (int i = 0; i < 2; i++)
        twice.insert(twice.end(), others.begin(), others.end());
    EXPECT_EQ(repeats(one_word, 50000), (std::vector<Triple>{{1, 0, kWords - 1}}));
    EXPECT_EQ(repeats(others, 1).size(), 0u);
    EXPECT_EQ(repeats(twice, 16), (std::vector<Triple>{{kWords, 0, kWords}}));
    EXPECT_EQ(shared(one_word, one_word, 50000), std::vector<bool>(kWords, true));
    EXPECT_EQ(shared(twice, others, 90000), std::vector<bool>(2 * kWords, true));
    EXPECT_EQ(shared(others, one_word, 1), std::vector<bool>(kWords, false));
}

// Where hashes of runs are equal and the runs are not. The polynomial modulo 2^64 of a Thue-Morse
// row equals that of its complement, from a length of 2^11 on, whatever the factor.
TEST(Passages, OfRunsWithEqualHashes) {
    Text thue_morse, complement;
    for (unsigned i = 0; i < 2048; i++) {
        thue_morse.push_back(__builtin_parity(i));
        complement.push_back(1 - __builtin_parity(i));
    }
    ASSERT_EQ(hash_of(thue_morse), hash_of(complement));
    EXPECT_FALSE(shares(thue_morse, complement, 2048));
    EXPECT_EQ(shares(thue_morse, complement, 2047),
              longest_by_definition(thue_morse, complement) >= 2047);
    Text both = complement;
    both.insert(both.end(), thue_morse.begin(), thue_morse.end());
    EXPECT_TRUE(shares(both, thue_morse, 2048));
    EXPECT_EQ(shared(thue_morse, complement, 2048), std::vector<bool>(2048, false));
    EXPECT_EQ(repeats(both, 2048), repeats_by_definition(both, 2048));
}

// ---- places ----

struct CollectPlaces {
    std::vector<WordPlace> places;
    void operator()(const WordPlace& place) { places.push_back(place); }
};

// Every code point is a character of its own.
std::vector<WordPlace> places_of(const std::string& text) {
    CollectPlaces collected;
    PlacedWords<CollectPlaces> words(collected);
    auto *begin = reinterpret_cast<const uint8_t*>(text.data()), *end = begin + text.size();
    size_t characters = 0;
    for (const uint8_t* at = begin; at < end; characters++) {
        const uint8_t* character = at;
        decode_utf8(at, end);
        words.code_point(
            character, size_t(at - character),
            {{characters, size_t(character - begin)}, {characters + 1, size_t(at - begin)}});
    }
    words.finish();
    return collected.places;
}

Strings placed(const std::string& text) {
    Strings result;
    for (const WordPlace& place : places_of(text))
        result.push_back(text.substr(place.begin.byte, place.end.byte - place.begin.byte));
    return result;
}

TEST(PlacedWords, StandWhereTheTextHasThem) {
    EXPECT_EQ(placed("It's 5 o'clock."), (Strings{"It", "s", "5", "o", "clock"}));
    EXPECT_EQ(placed("東京都 x 年"), (Strings{"東京", "京都", "x", "年"}));
    EXPECT_EQ(placed("Cafe\u0301, na\u00efve"), (Strings{"Cafe\u0301", "na\u00efve"}));
    EXPECT_EQ(placed("so\u00adft \u00ad hyphen\u00ad"), (Strings{"so\u00adft", "hyphen"}));
    EXPECT_EQ(placed("so\u00ad\r\n ft so\u00acft so\u00ad ft"),
              (Strings{"so\u00ad\r\n ft", "so", "ft", "so", "ft"}));
    EXPECT_EQ(placed("\u0645\u200c\u0645 x\u200c\u0645 x\u200cy\u200c"),
              (Strings{"\u0645", "\u0645", "x", "\u0645", "x\u200cy"}));
    EXPECT_EQ(placed("a\U0001F600\U0001F3FDb"), (Strings{"a", "\U0001F600\U0001F3FD", "b"}));
    EXPECT_EQ(placed("\u6771.\n\u4EAC"), (Strings{"\u6771.\n\u4EAC"}));
    EXPECT_EQ(placed("\ufdfa"), (Strings{"\ufdfa", "\ufdfa", "\ufdfa", "\ufdfa"}));
    EXPECT_EQ(placed(std::string(300, 'x')),
              (Strings{std::string(255, 'x'), std::string(45, 'x')}));
    EXPECT_EQ(placed(""), Strings{});
}

// They are the words of the cutter, and each place, read by itself, gives its word.
TEST(PlacedWords, AreTheWordsOfTheCutter) {
    const char* const pieces[] = {
        "a",  "B",      "9",      " ",      ".",      "\u0301",     "\u00e9", "東",     "京",
        "ก",  "\u0e33", "\u30ab", "\u3099", "\u00ad", "\U0001F600", "\u3000", "\ufdfa", "\u00bd",
        "가", "\u0915", "\u094d", "word",   "\n",     "\u00ac",     "\u200c", "\u0645", "\u0d7b"};
    Random random(9);
    for (int turn = 0; turn < 20000; turn++) {
        std::string text;
        for (uint64_t more = random.below(30); more > 0; more--)
            text += pieces[random.below(std::size(pieces))];
        Strings words = features(text);
        std::vector<WordPlace> places = places_of(text);
        ASSERT_EQ(places.size(), words.size()) << text;
        for (size_t i = 0; i < words.size(); i++) {
            Strings alone = features(
                text.substr(places[i].begin.byte, places[i].end.byte - places[i].begin.byte));
            ASSERT_TRUE(std::count(alone.begin(), alone.end(), words[i]) > 0)
                << text << ": " << words[i];
            if (i > 0) {
                ASSERT_LE(places[i - 1].begin.byte, places[i].begin.byte);
                ASSERT_LE(places[i - 1].end.byte, places[i].end.byte);
            }
        }
    }
}

} // namespace

} // namespace simhash::test
