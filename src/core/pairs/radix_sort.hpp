// Radix sort of 64-bit keys, least significant digit first: a pass per byte, none for a byte that
// is the same in all keys. Stable. The caller gives a scratch of the same size; the result ends in
// the first array. A long sort calls `pause` now and then, which may leave by longjmp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "core/bits/entry.hpp"
#include "core/bits/pair.hpp"
#include "core/bits/pause.hpp"
#include "core/bits/sort_ascending.hpp"

namespace simhash {

inline uint64_t radix_key(uint64_t key) {
    return key;
}
inline uint64_t radix_key(const Entry& entry) {
    return entry.key;
}
inline uint64_t radix_key(const Pair& pair) {
    return pair.first;
}

inline void exchange(Entry& entry) {
    std::swap(entry.key, entry.tid);
}
inline void exchange(Pair& pair) {
    std::swap(pair.first, pair.second);
}

// Sorts by the bits of the keys from `low_bit` up, and looks at no others. entries and scratch: the
// same number of entries, not overlapping.
template <typename AnyEntry, typename AnyPause>
void radix_sort(std::span<AnyEntry> entries, std::span<AnyEntry> scratch, const AnyPause& pause,
                unsigned low_bit = 0) {
    constexpr int kMaxPasses = 8;
    constexpr int kDigits = 256;
    size_t counts[kMaxPasses][kDigits] = {};
    int passes = int(64 - low_bit + 7) / 8;
    AnyEntry* from = entries.data();
    AnyEntry* to = scratch.data();
    size_t size = entries.size();
    in_pieces(
        size,
        [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; i++)
                for (int pass = 0; pass < passes; pass++)
                    counts[pass][radix_key(from[i]) >> (low_bit + 8 * pass) & 0xff]++;
        },
        pause);

    for (int pass = 0; pass < passes; pass++) {
        size_t* next = counts[pass]; // counts become positions
        size_t start = 0;
        bool constant = false;
        for (int digit = 0; digit < kDigits; digit++) {
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
                for (size_t i = begin; i < end; i++)
                    to[next[radix_key(from[i]) >> (low_bit + 8 * pass) & 0xff]++] = from[i];
            },
            pause);
        std::swap(from, to);
    }
    if (from != entries.data())
        one_by_one(
            size, [&](size_t i) { entries[i] = from[i]; }, pause);
}

// Sorts records of equal keys by their values.
template <typename AnyEntry, typename AnyPause>
void sort_values(std::span<AnyEntry> records, std::span<AnyEntry> scratch, const AnyPause& pause) {
    std::for_each(records.begin(), records.end(), [](AnyEntry& record) { exchange(record); });
    radix_sort(records, scratch, pause);
    std::for_each(records.begin(), records.end(), [](AnyEntry& record) { exchange(record); });
}

// Sorts keys, or records by (key, value). The leading bits of the keys, a few more than tell random
// keys apart, are sorted by radix. What they leave out of order is mostly a few here and there.
template <typename AnyEntry, typename AnyPause>
void sort_records(std::span<AnyEntry> records, std::span<AnyEntry> scratch, const AnyPause& pause) {
    constexpr unsigned kMoreBits = 7;
    constexpr size_t kFew = 64;
    if (records.size() < 2)
        return;
    uint64_t varying = 0;
    for (const AnyEntry& record : records)
        varying |= radix_key(record) ^ radix_key(records[0]);
    if (varying == 0) {
        if constexpr (!std::is_same_v<AnyEntry, uint64_t>)
            sort_values(records, scratch, pause);
        return;
    }
    unsigned highest = std::bit_width(varying);
    unsigned wanted = (unsigned(std::bit_width(records.size())) + kMoreBits + 7) / 8 * 8;
    unsigned low_bit = highest > wanted ? highest - wanted : 0;
    radix_sort(records, scratch, pause, low_bit);

    size_t paused = 0;
    for (size_t begin = 0; begin < records.size();) {
        size_t end = begin + 1;
        bool ordered = true;
        uint64_t bits = radix_key(records[begin]) >> low_bit;
        for (; end < records.size() && radix_key(records[end]) >> low_bit == bits; end++)
            ordered &= comes_before(records[end - 1], records[end]);
        auto same = records.subspan(begin, end - begin);
        if (!ordered && same.size() <= kFew)
            sort_ascending(same.begin(), same.end());
        else if (!ordered) // fewer bits vary in these, so this ends
            sort_records(same, scratch.first(same.size()), pause);
        begin = end;
        if (begin - paused > kEntriesPerPause) {
            pause();
            paused = begin;
        }
    }
}

} // namespace simhash
