// Radix sort of 64-bit keys, least significant byte first: a pass per byte, none for a byte that is
// the same in all keys. Stable. The caller gives a scratch of the same size; the result ends in the
// first array. A long sort calls `pause` now and then, which may leave by longjmp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "core/bits/pause.hpp"

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
template <typename Entry, typename AnyPause>
void radix_sort(std::span<Entry> entries, std::span<Entry> scratch, const AnyPause& pause) {
    constexpr int kPasses = 8;
    constexpr int kDigits = 256;
    size_t counts[kPasses][kDigits] = {};
    Entry* from = entries.data();
    Entry* to = scratch.data();
    size_t size = entries.size();
    in_pieces(
        size,
        [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i)
                for (int pass = 0; pass < kPasses; ++pass)
                    ++counts[pass][radix_key(from[i]) >> (8 * pass) & 0xff];
        },
        pause);

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
        in_pieces(
            size,
            [&](size_t begin, size_t end) {
                for (size_t i = begin; i < end; ++i)
                    to[next[radix_key(from[i]) >> (8 * pass) & 0xff]++] = from[i];
            },
            pause);
        std::swap(from, to);
    }
    if (from != entries.data())
        one_by_one(
            size, [&](size_t i) { entries[i] = from[i]; }, pause);
}

} // namespace simhash
