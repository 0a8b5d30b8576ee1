// Two numbers that belong together, for sorts, sorted runs and merges: what they are stands where a
// sort is declared. Pairs are compared by the first number, and then by the second.
#pragma once

#include <compare>
#include <cstdint>

namespace simhash {

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
