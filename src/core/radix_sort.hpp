// Radix sort of 64-bit keys, least significant byte first: a pass per byte, none for a byte that is
// the same in all keys. Stable. The caller gives a scratch of the same size; the result ends in the
// first array.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace simhash {

struct KeyedValue {
    uint64_t key;
    uint64_t value;
};

inline uint64_t radix_key(uint64_t key) {
    return key;
}
inline uint64_t radix_key(const KeyedValue& record) {
    return record.key;
}

// entries and scratch: the same number of entries, not overlapping.
template <typename Entry>
void radix_sort(std::span<Entry> entries, std::span<Entry> scratch) {
    constexpr int kPasses = 8;
    constexpr int kDigits = 256;
    size_t counts[kPasses][kDigits] = {};
    for (const Entry& entry : entries)
        for (int pass = 0; pass < kPasses; ++pass)
            ++counts[pass][radix_key(entry) >> (8 * pass) & 0xff];

    Entry* from = entries.data();
    Entry* to = scratch.data();
    size_t size = entries.size();
    for (int pass = 0; pass < kPasses; ++pass) {
        size_t* next = counts[pass]; // counts become positions
        size_t start = 0;
        bool constant = false;
        for (int digit = 0; digit < kDigits; ++digit) {
            constant |= next[digit] == size;
            size_t count = next[digit];
            next[digit] = start;
            start += count;
        }
        if (constant)
            continue;
        for (size_t i = 0; i < size; ++i)
            to[next[radix_key(from[i]) >> (8 * pass) & 0xff]++] = from[i];
        std::swap(from, to);
    }
    if (from != entries.data())
        std::copy_n(from, size, entries.data());
}

} // namespace simhash
