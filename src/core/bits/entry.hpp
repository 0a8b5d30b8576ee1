// What sorts, sorted runs and merges pass on: the entries that a tree holds, and pairs of numbers.
#pragma once

#include <compare>
#include <cstdint>
#include <cstring>

namespace simhash {

// A key, which is a permuted fingerprint, and the TID of a row (heap block << 16 | offset). In
// block tables the TID is 0. Entries are compared as such pairs.
struct Entry {
    uint64_t key;
    uint64_t tid;

    Entry() = default;
    constexpr Entry(uint64_t entry_key, uint64_t entry_tid) : key(entry_key), tid(entry_tid) {}
    // Of a block table.
    constexpr explicit Entry(uint64_t entry_key) : Entry(entry_key, 0) {}

    friend constexpr bool operator==(const Entry&, const Entry&) = default;
    friend constexpr auto operator<=>(const Entry&, const Entry&) = default;
};

// On pages a TID is three numbers of 16 bits: the block's high and low half, the offset.
constexpr int kTidBytes = 6;

inline uint64_t read_tid(const void* at) {
    uint16_t part[3];
    memcpy(part, at, kTidBytes);
    return uint64_t{part[0]} << 32 | uint64_t{part[1]} << 16 | part[2];
}

inline void write_tid(void* at, uint64_t tid) {
    uint16_t part[3] = {uint16_t(tid >> 32), uint16_t(tid >> 16), uint16_t(tid)};
    memcpy(at, part, kTidBytes);
}

// Whether a comes before b, without a branch: for merges, whose next comparison nobody can predict.
constexpr bool comes_before(const Entry& a, const Entry& b) {
    return (a.key < b.key) | ((a.key == b.key) & (a.tid < b.tid));
}
constexpr bool comes_before(uint64_t a, uint64_t b) { return a < b; }

// Two numbers that belong together: what they are stands where a sort is declared. Pairs are
// compared by the first number, and then by the second.
struct Pair {
    uint64_t first;
    uint64_t second;

    friend constexpr bool operator==(const Pair&, const Pair&) = default;
    friend constexpr auto operator<=>(const Pair&, const Pair&) = default;
};

// Without a branch, as of entries (core/bits/entry.hpp).
constexpr bool comes_before(const Pair& a, const Pair& b) {
    return (a.first < b.first) | ((a.first == b.first) & (a.second < b.second));
}

} // namespace simhash
