// The radix sort gives what the standard library's sorts give.
#include "core/whole/radix_sort.hpp"

#include <gtest/gtest.h>
#include <vector>

#include "random.hpp"

namespace {

using simhash::KeyedValue;
using simhash::radix_sort;
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
            std::vector<KeyedValue> records(size), scratch(size);
            for (size_t i = 0; i < size; ++i)
                records[i] = {random.next() & random.next() & random.next() & varying, i};
            std::vector<KeyedValue> expected = records;
            std::stable_sort(expected.begin(), expected.end(),
                             [](auto& a, auto& b) { return a.key < b.key; });
            radix_sort<KeyedValue>(records, scratch, [] {});
            for (size_t i = 0; i < size; ++i) {
                ASSERT_EQ(records[i].key, expected[i].key);
                ASSERT_EQ(records[i].value, expected[i].value);
            }
        }
}

} // namespace
