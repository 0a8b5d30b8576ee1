// The search by temporary files finds what the search in memory finds, however little it may hold.
#include "core/pairs/spilled_pairs.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "core/pairs/clusters.hpp"
#include "core/pairs/fingerprint_array.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr Pause kNoPause = {[](void*) {}, nullptr};

using Pair = std::pair<uint64_t, uint64_t>;
using Fingerprints = std::vector<uint64_t>;

// A file in memory that insists on being used as files are.
struct File {
    Fingerprints fingerprints;
    size_t position = 0;
    bool is_read = false;
};

int files_open = 0;
size_t most_on_disk = 0, on_disk = 0, written = 0;

constexpr FingerprintFiles kFiles = {
    nullptr,
    [](void*) {
        files_open++;
        return static_cast<void*>(new File);
    },
    [](void* file, const uint64_t* fingerprints, size_t count) {
        auto* to = static_cast<File*>(file);
        ASSERT_FALSE(to->is_read);
        to->fingerprints.insert(to->fingerprints.end(), fingerprints, fingerprints + count);
        most_on_disk = std::max(most_on_disk, on_disk += count);
        written += count;
    },
    [](void* file) {
        static_cast<File*>(file)->position = 0;
        static_cast<File*>(file)->is_read = true;
    },
    [](void* file, uint64_t* fingerprints, size_t count) {
        auto* from = static_cast<File*>(file);
        ASSERT_TRUE(from->is_read);
        ASSERT_LE(from->position + count, from->fingerprints.size());
        std::copy_n(from->fingerprints.begin() + ptrdiff_t(from->position), count, fingerprints);
        from->position += count;
    },
    [](void* file) {
        files_open--;
        on_disk -= static_cast<File*>(file)->fingerprints.size();
        delete static_cast<File*>(file);
    }};

bool add_pair(void* pairs, uint64_t a, uint64_t b) {
    static_cast<std::vector<Pair>*>(pairs)->emplace_back(a, b);
    return true;
}

// Adds them in batches, each sorted and without repetitions, as a collector does.
void add_all(const Fingerprints& fingerprints, size_t batch, SpilledSet* set) {
    for (size_t begin = 0; begin < fingerprints.size(); begin += batch) {
        size_t end = std::min(begin + batch, fingerprints.size());
        Fingerprints part(fingerprints.begin() + ptrdiff_t(begin),
                          fingerprints.begin() + ptrdiff_t(end));
        Fingerprints scratch(part.size());
        part.resize(sort_distinct(part, scratch, kNoPause));
        set->add({part.data(), scratch.data(), part.size()}, kNoPause);
    }
}

void make_distinct(Fingerprints& fingerprints) {
    Fingerprints scratch(fingerprints.size());
    fingerprints.resize(sort_distinct(fingerprints, scratch, kNoPause));
}

// All pairs by files: within a, or between a and b.
void find_spilled(const Fingerprints& a, const Fingerprints* b, size_t memory, int radius,
                  const PairReceiver& receiver) {
    Fingerprints room(memory, 77), scratch(memory, 77);
    FingerprintArray array = {room.data(), scratch.data(), memory};
    SpilledSet of_a(kFiles), of_b(kFiles);
    most_on_disk = 0;
    add_all(a, memory, &of_a);
    if (b != nullptr)
        add_all(*b, memory, &of_b);
    find_spilled_pairs(&of_a, b == nullptr ? nullptr : &of_b, array, radius, receiver, kNoPause);
    of_a.release();
    of_b.release();
    EXPECT_EQ(files_open, 0);
}

std::vector<Pair> spilled_pairs(const Fingerprints& a, const Fingerprints* b, size_t memory,
                                int radius) {
    std::vector<Pair> pairs;
    find_spilled(a, b, memory, radius, {add_pair, nullptr, &pairs});
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

std::vector<Pair> pairs_in_memory(Fingerprints a, Fingerprints* b, int radius) {
    std::vector<Pair> pairs;
    PairReceiver receiver = {add_pair, nullptr, &pairs};
    make_distinct(a);
    Fingerprints a_scratch(a.size());
    FingerprintArray of_a = {a.data(), a_scratch.data(), a.size()};
    if (b == nullptr) {
        find_near_pairs(of_a, radius, receiver, kNoPause);
    } else {
        Fingerprints distinct = *b;
        make_distinct(distinct);
        Fingerprints b_scratch(distinct.size());
        find_pairs_between(of_a, {distinct.data(), b_scratch.data(), distinct.size()}, radius,
                           receiver, kNoPause);
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

void expect_equal_pairs(const Fingerprints& fingerprints, std::initializer_list<int> radii) {
    for (int radius : radii) {
        std::vector<Pair> expected = pairs_in_memory(fingerprints, nullptr, radius);
        for (size_t memory : {kLeastSpilledMemory, size_t{4000}, size_t{15000}})
            ASSERT_EQ(spilled_pairs(fingerprints, nullptr, memory, radius), expected)
                << "radius " << radius << ", memory " << memory;
    }
}

Fingerprints random_and_near(uint64_t seed, size_t size) {
    Random random(seed);
    Fingerprints fingerprints = {0, ~uint64_t{0}, 1, uint64_t{1} << 63};
    while (fingerprints.size() < size) {
        uint64_t earlier = fingerprints[random.below(fingerprints.size())];
        bool near = random.below(10) < 3;
        fingerprints.push_back(near ? earlier ^ random.with_ones(int(random.below(9)))
                                    : random.next());
    }
    return fingerprints;
}

TEST(SpilledPairs, AreThoseFoundInMemory) {
    expect_equal_pairs(random_and_near(1, 30000), {0, 1, 2, 3, 5, 8, 13});
}

TEST(SpilledPairs, AreThoseFoundInMemoryWhereManyShareAPrefix) {
    Random random(2);
    Fingerprints fingerprints;
    for (size_t i = 0; i < 30000; i++) {
        uint64_t shared = i % 3 == 0 ? 0 : 0xabcdef0123000000;
        fingerprints.push_back(shared | (random.next() & 0xffffffff));
    }
    expect_equal_pairs(fingerprints, {1, 3, 8});
}

TEST(SpilledPairs, AreThoseFoundInMemoryWhereFewScatteredBitsVary) {
    Random random(3);
    Fingerprints fingerprints;
    for (size_t i = 0; i < 30000; i++)
        fingerprints.push_back(random.next() & 0x1101010110110101); // 18 bits
    expect_equal_pairs(fingerprints, {1, 3, 4});
}

TEST(SpilledPairs, AreThoseFoundInMemoryOfAllWordsOfAFewBits) {
    Fingerprints fingerprints(1 << 14);
    std::iota(fingerprints.begin(), fingerprints.end(), uint64_t{0});
    expect_equal_pairs(fingerprints, {1, 2, 3});
}

// Where blocks divide no better than comparing all, files are compared piece by piece.
TEST(SpilledPairs, AreThoseFoundInMemoryWhereAllAreCompared) {
    Random random(4);
    Fingerprints fingerprints;
    for (size_t i = 0; i < 6000; i++)
        fingerprints.push_back(random.next());
    expect_equal_pairs(fingerprints, {20, 26});
}

TEST(SpilledPairs, IgnoreRepetitions) {
    Fingerprints fingerprints(10000, 5);
    EXPECT_TRUE(spilled_pairs(fingerprints, nullptr, kLeastSpilledMemory, 3).empty());
    fingerprints.push_back(4);
    EXPECT_EQ(spilled_pairs(fingerprints, nullptr, kLeastSpilledMemory, 3),
              (std::vector<Pair>{{4, 5}}));
    SpilledSet set(kFiles);
    Fingerprints scratch(5000), fives(5000, 5), fours(5000, 4), room(kLeastSpilledMemory);
    set.add({fives.data(), scratch.data(), fives.size()}, kNoPause);
    set.add({fours.data(), scratch.data(), fours.size()}, kNoPause);
    std::vector<Pair> found;
    find_spilled_pairs(&set, nullptr, {room.data(), scratch.data(), room.size()}, 3,
                       {add_pair, nullptr, &found}, kNoPause);
    EXPECT_EQ(found, (std::vector<Pair>{{4, 5}}));
    fingerprints = random_and_near(5, 3000);
    Fingerprints repeated;
    for (int i = 0; i < 20; i++)
        repeated.insert(repeated.end(), fingerprints.begin(), fingerprints.end());
    EXPECT_EQ(spilled_pairs(repeated, nullptr, kLeastSpilledMemory, 4),
              pairs_in_memory(fingerprints, nullptr, 4));
}

TEST(SpilledPairs, OfNothingAreNone) {
    EXPECT_TRUE(spilled_pairs({}, nullptr, kLeastSpilledMemory, 3).empty());
    Fingerprints some = {1, 2, 3}, none;
    EXPECT_TRUE(spilled_pairs(some, &none, kLeastSpilledMemory, 3).empty());
    EXPECT_TRUE(spilled_pairs(none, &some, kLeastSpilledMemory, 3).empty());
}

TEST(SpilledPairs, BetweenTwoSetsAreThoseFoundInMemory) {
    Random random(6);
    Fingerprints many = random_and_near(7, 20000), few, other;
    for (size_t i = 0; i < 300; i++)
        few.push_back(many[random.below(many.size())] ^ random.with_ones(int(random.below(6))));
    for (size_t i = 0; i < 9000; i++)
        other.push_back(i % 2 ? random.next()
                              : many[random.below(many.size())] ^ random.with_ones(i % 7));
    for (Fingerprints* those : {&few, &other, &many})
        for (int radius : {0, 1, 3, 8, 26}) {
            if (radius > 8 && those != &few)
                continue;
            std::vector<Pair> expected = pairs_in_memory(many, those, radius);
            for (size_t memory : {kLeastSpilledMemory, size_t{5000}, size_t{40000}})
                ASSERT_EQ(spilled_pairs(many, those, memory, radius), expected)
                    << "radius " << radius << ", memory " << memory;
        }
}

TEST(SpilledPairs, LinkTheClustersFoundInMemory) {
    Memory heap = {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                   [](void*, void* memory) { free(memory); }};
    Clusters::Full full = {[](void*, size_t) { FAIL(); }, nullptr};
    Fingerprints chain(20000), prefix;
    std::iota(chain.begin(), chain.end(), uint64_t{1} << 40);
    Random random(8);
    for (int i = 0; i < 20000; i++)
        prefix.push_back(random.next() & 0xffff0000);
    for (const Fingerprints& fingerprints : {random_and_near(9, 20000), chain, prefix})
        for (int radius : {1, 3, 16}) {
            size_t bytes = Clusters::bytes_for(fingerprints.size());
            Clusters expected(heap, bytes, full, kNoPause), found(heap, bytes, full, kNoPause);
            Fingerprints distinct = fingerprints;
            make_distinct(distinct);
            Fingerprints scratch(distinct.size()), copy = distinct;
            find_near_pairs({copy.data(), scratch.data(), copy.size()}, radius, expected.receiver(),
                            kNoPause);
            find_spilled(fingerprints, nullptr, kLeastSpilledMemory, radius, found.receiver());
            expected.finish();
            found.finish();
            Fingerprints expected_names = distinct, found_names = distinct;
            expected.replace_by_names(expected_names);
            found.replace_by_names(found_names);
            ASSERT_EQ(found_names, expected_names);
            expected.release();
            found.release();
        }
}

// In memory, by files, and where files are compared piece by piece. No file stays open.
TEST(SpilledPairs, EndWhereTheReceiverSaysSo) {
    Fingerprints fingerprints = random_and_near(11, 20000);
    make_distinct(fingerprints);
    for (int radius : {3, 26})
        for (size_t memory : {kLeastSpilledMemory, size_t{5000}, size_t{40000}}) {
            int left = 10;
            PairReceiver ten = {[](void* left, uint64_t, uint64_t) {
                                    EXPECT_GT(*static_cast<int*>(left), 0);
                                    return --*static_cast<int*>(left) > 0;
                                },
                                nullptr, &left};
            find_spilled(fingerprints, nullptr, memory, radius, ten);
            EXPECT_EQ(left, 0);
            left = 10;
            find_spilled(fingerprints, &fingerprints, memory, radius, ten);
            EXPECT_EQ(left, 0);
            left = 10;
            Fingerprints copy = fingerprints, scratch(copy.size());
            find_near_pairs({copy.data(), scratch.data(), copy.size()}, radius, ten, kNoPause);
            EXPECT_EQ(left, 0);
        }
}

// Each block's files replace those of the one before.
TEST(SpilledPairs, KeepHardlyMoreThanTwiceTheFingerprintsOnDisk) {
    Fingerprints fingerprints = random_and_near(10, 50000);
    spilled_pairs(fingerprints, nullptr, 5000, 3);
    EXPECT_LE(most_on_disk, fingerprints.size() * 12 / 10);
}

// Once as they come, and once without the repeated ones.
TEST(SpilledPairs, AreWrittenTwiceWhereFewPartsFitIntoMemory) {
    Fingerprints fingerprints = random_and_near(12, 50000);
    written = 0;
    spilled_pairs(fingerprints, nullptr, 20000, 8);
    EXPECT_GT(written, fingerprints.size());
    EXPECT_LE(written, fingerprints.size() * 2);
}

} // namespace
