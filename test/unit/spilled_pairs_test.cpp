// The search by temporary files finds what the search in memory finds, however little it may hold.
#include "core/pairs/spilled_pairs.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>

#include "links.hpp"
#include "random.hpp"

namespace {

using namespace simhash;
using simhash::test::Random;

constexpr auto kNoPause = [] {};

using Pair = std::pair<uint64_t, uint64_t>;
using Fingerprints = std::vector<uint64_t>;

size_t most_on_disk = 0, on_disk = 0;

// Files and sorts in memory.
struct Storage {
    using File = Fingerprints*;

    class Sort {
      public:
        explicit Sort(unsigned low_bit) : low_bit_(low_bit) {}
        void add(uint64_t key) { keys_.push_back(key); }
        void finish() {
            most_on_disk = std::max(most_on_disk, on_disk += keys_.size());
            std::stable_sort(keys_.begin(), keys_.end(), [this](uint64_t a, uint64_t b) {
                return a >> low_bit_ < b >> low_bit_;
            });
        }
        bool next(uint64_t* key) {
            if (at_ == keys_.size())
                return false;
            *key = keys_[at_++];
            return true;
        }
        void release() {
            on_disk -= keys_.size();
            keys_ = {};
        }

      private:
        unsigned low_bit_;
        Fingerprints keys_;
        size_t at_ = 0;
    };

    int files_open = 0;

    static Sort sort(size_t, unsigned low_bit) { return Sort(low_bit); }
    void append(File* file, const uint64_t* fingerprints, size_t count) {
        ASSERT_GT(count, 0U);
        files_open += *file == nullptr;
        if (*file == nullptr)
            *file = new Fingerprints;
        (*file)->insert((*file)->end(), fingerprints, fingerprints + count);
        most_on_disk = std::max(most_on_disk, on_disk += count);
    }
    static void read(File file, uint64_t at, uint64_t* fingerprints, size_t count) {
        ASSERT_LE(at + count, size(file));
        std::copy_n(file->begin() + ptrdiff_t(at), count, fingerprints);
    }
    static uint64_t size(File file) { return file == nullptr ? 0 : file->size(); }
    void remove(File* file) {
        files_open -= *file != nullptr;
        on_disk -= size(*file);
        delete *file;
        *file = nullptr;
    }
};

// Adds pairs as they are found.
auto adding_to(std::vector<Pair>* pairs) {
    return [pairs](uint64_t a, uint64_t b) {
        pairs->emplace_back(a, b);
        return true;
    };
}

void make_distinct(Fingerprints& fingerprints) {
    std::sort(fingerprints.begin(), fingerprints.end());
    fingerprints.erase(std::unique(fingerprints.begin(), fingerprints.end()), fingerprints.end());
}

// All pairs by files: within a, or between a and b.
void find_spilled(Fingerprints a, const Fingerprints* b, size_t memory, int radius,
                  const PairReceiver& receiver) {
    Fingerprints room(memory, 77), scratch(memory, 77), of_b;
    Storage storage;
    Storage::File files[2] = {};
    most_on_disk = 0;
    make_distinct(a);
    if (!a.empty())
        storage.append(&files[0], a.data(), a.size());
    if (b != nullptr) {
        make_distinct(of_b = *b);
        if (!of_b.empty())
            storage.append(&files[1], of_b.data(), of_b.size());
    }
    if (!a.empty() && (b == nullptr ? radius > 0 : !of_b.empty()))
        SpilledPairsSearch(&storage, {room.data(), scratch.data(), memory}, b != nullptr, radius,
                           receiver, kNoPause)
            .search(files, 1 << 20);
    storage.remove(&files[0]);
    storage.remove(&files[1]);
    EXPECT_EQ(storage.files_open, 0);
    EXPECT_EQ(on_disk, 0);
}

std::vector<Pair> spilled_pairs(const Fingerprints& a, const Fingerprints* b, size_t memory,
                                int radius) {
    std::vector<Pair> pairs;
    find_spilled(a, b, memory, radius, {adding_to(&pairs)});
    std::sort(pairs.begin(), pairs.end());
    return pairs;
}

std::vector<Pair> pairs_in_memory(Fingerprints a, Fingerprints* b, int radius) {
    std::vector<Pair> pairs;
    auto add = adding_to(&pairs);
    PairReceiver receiver = {add};
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
    Fingerprints chain(20000), prefix;
    std::iota(chain.begin(), chain.end(), uint64_t{1} << 40);
    Random random(8);
    for (int i = 0; i < 20000; i++)
        prefix.push_back(random.next() & 0xffff0000);
    for (Fingerprints fingerprints : {random_and_near(9, 20000), chain, prefix})
        for (int radius : {1, 3, 16}) {
            simhash::test::Links expected, found;
            make_distinct(fingerprints);
            Fingerprints scratch(fingerprints.size()), copy = fingerprints;
            find_near_pairs({copy.data(), scratch.data(), copy.size()}, radius, expected.receiver(),
                            kNoPause);
            find_spilled(fingerprints, nullptr, kLeastSpilledMemory, radius, found.receiver());
            ASSERT_EQ(found.names(fingerprints), expected.names(fingerprints));
        }
}

// In memory, by files, and where files are compared piece by piece. No file stays open.
TEST(SpilledPairs, EndWhereTheReceiverSaysSo) {
    Fingerprints fingerprints = random_and_near(11, 20000);
    make_distinct(fingerprints);
    for (int radius : {3, 26})
        for (size_t memory : {kLeastSpilledMemory, size_t{5000}, size_t{40000}}) {
            int left = 10;
            auto count = [&](uint64_t, uint64_t) {
                EXPECT_GT(left, 0);
                return --left > 0;
            };
            PairReceiver ten = {count};
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

// A block's sort, and for a while the file of a large group and its sort.
TEST(SpilledPairs, KeepHardlyMoreThanTwiceTheFingerprintsOnDisk) {
    Fingerprints fingerprints = random_and_near(10, 50000);
    spilled_pairs(fingerprints, nullptr, 5000, 3);
    EXPECT_LE(most_on_disk, fingerprints.size() * 22 / 10);
}

TEST(SpilledPairs, BlocksComeFirst) {
    Random random(12);
    for (int i = 0; i < 1000; i++) {
        uint64_t block = random.with_ones(1 + int(random.below(24)));
        uint64_t a = random.next(), b = random.next();
        BlockFirst order(block);
        unsigned low_bit = unsigned(64 - std::popcount(block));
        ASSERT_EQ(order.invert(order.apply(a)), a);
        b = (b & ~block) | (i % 2 ? a & block : b & block);
        ASSERT_EQ(order.apply(a) >> low_bit == order.apply(b) >> low_bit, ((a ^ b) & block) == 0);
        ASSERT_EQ(order.number(a), order.apply(a) >> low_bit);
    }
}

} // namespace
