// The radix sort gives what the standard library's sorts give.
#include "core/bits/sort.hpp"

#include <gtest/gtest.h>
#include <map>
#include <vector>

#include "random.hpp"

namespace {

using simhash::Entry;
using simhash::radix_sort;
using simhash::sort_records;
using simhash::sort_repeated;
using simhash::test::Random;

// Keys of which only the bits of a mask vary: passes are skipped, in even and in odd numbers.
constexpr uint64_t kVarying[] = {
    ~uint64_t{0}, 0, 0xff, 0xff00, uint64_t{0xff} << 56, 0xff0000000000ff00, 0x80, 0xffffff0000, 1};
constexpr size_t kSizes[] = {0, 1, 2, 3, 255, 256, 257, 5000};

TEST(RadixSort, SortsNumbers) {
    Random random(1);
    for (uint64_t varying : kVarying)
        for (size_t size : kSizes) {
            std::vector<uint64_t> keys(size), scratch(size);
            for (uint64_t& key : keys)
                key = (random.next() & varying) | (0x123456789abcdef0 & ~varying);
            std::vector<uint64_t> expected = keys;
            std::sort(expected.begin(), expected.end());
            radix_sort<uint64_t>(keys, scratch, [] {});
            ASSERT_EQ(keys, expected);
        }
}

TEST(RadixSort, KeepsTheOrderOfRecordsWithEqualKeys) {
    Random random(2);
    for (uint64_t varying : kVarying)
        for (size_t size : kSizes) {
            std::vector<Entry> records(size), scratch(size);
            for (size_t i = 0; i < size; i++)
                records[i] = {random.next() & random.next() & random.next() & varying, i};
            std::vector<Entry> expected = records;
            std::stable_sort(expected.begin(), expected.end(),
                             [](auto& a, auto& b) { return a.key < b.key; });
            radix_sort<Entry>(records, scratch, [] {});
            for (size_t i = 0; i < size; i++) {
                ASSERT_EQ(records[i].key, expected[i].key);
                ASSERT_EQ(records[i].tid, expected[i].tid);
            }
        }
}

TEST(RepeatedKeys, AreKeptInOrderAndFewOthers) {
    Random random(5);
    // Keys of all bits; of a part of the buckets or of the slots; one for all.
    for (uint32_t varying : {0xffffffffu, 0xfffffu, 0xfff00000u, 0xffu, 0u})
        for (size_t size : {0, 1, 2, 3, 1000, 5000, 300000}) {
            std::vector<uint64_t> entries(size), scratch(size);
            std::map<uint64_t, size_t> times;
            for (size_t i = 0; i < size; i++) {
                // Each tenth has the key of one before.
                uint64_t key =
                    i % 10 == 9 ? entries[random.next() % i] >> 32 : random.next() & varying;
                entries[i] = key << 32 | i;
                times[key]++;
            }
            std::vector<uint64_t> expected;
            for (uint64_t entry : entries)
                if (times[entry >> 32] > 1)
                    expected.push_back(entry);
            std::sort(expected.begin(), expected.end());
            entries.resize(sort_repeated(entries, scratch, [] {}));
            ASSERT_TRUE(std::is_sorted(entries.begin(), entries.end()));
            if (varying == 0xffffffff && size >= 1000) {
                ASSERT_LT(entries.size(), expected.size() + size / 5);
            }
            std::erase_if(entries, [&](uint64_t entry) { return times[entry >> 32] < 2; });
            ASSERT_EQ(entries, expected);
        }
}

TEST(RadixSort, SortsByTheBitsThatAreAskedFor) {
    Random random(3);
    for (size_t size : {5000, 70000}) // few have longer digits
        for (unsigned low_bit : {0, 5, 40, 47, 48, 63, 64}) {
            std::vector<uint64_t> keys(size), scratch(size);
            for (uint64_t& key : keys)
                key = random.next();
            std::vector<uint64_t> expected = keys;
            std::stable_sort(expected.begin(), expected.end(), [=](uint64_t a, uint64_t b) {
                return low_bit < 64 && a >> low_bit < b >> low_bit;
            });
            radix_sort<uint64_t>(
                keys, scratch, [] {}, low_bit);
            ASSERT_EQ(keys, expected) << low_bit;
        }
}

TEST(RadixSort, SortsRecordsByKeyAndValue) {
    Random random(4);
    for (uint64_t varying : kVarying)
        for (uint64_t crowd : {0, 1, 3}) // of how many records most have the same leading bits
            for (size_t size : {0, 1, 2, 64, 65, 1000, 100000}) {
                std::vector<Entry> records(size), scratch(size);
                for (Entry& record : records) {
                    record = {random.next() & varying, random.next() % size};
                    if (crowd > 0 && random.next() % (crowd + 1) > 0)
                        record.key &= 0xff;
                }
                std::vector<Entry> expected = records;
                std::sort(expected.begin(), expected.end());
                sort_records(std::span<Entry>(records), std::span<Entry>(scratch), [] {});
                for (size_t i = 0; i < size; i++) {
                    ASSERT_EQ(records[i].key, expected[i].key);
                    ASSERT_EQ(records[i].tid, expected[i].tid);
                }
            }
}

TEST(RadixSort, SortsKeysByTheBitsThatTellThemApart) {
    Random random(5);
    for (uint64_t varying : kVarying)
        for (size_t size : {0, 1, 2, 64, 65, 1000, 100000}) {
            std::vector<uint64_t> keys(size), scratch(size);
            for (uint64_t& key : keys)
                key = random.next() & varying;
            std::vector<uint64_t> expected = keys;
            std::sort(expected.begin(), expected.end());
            sort_records(std::span<uint64_t>(keys), std::span<uint64_t>(scratch), [] {});
            ASSERT_EQ(keys, expected);
        }
}

} // namespace
