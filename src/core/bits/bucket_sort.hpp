// Sorts keys that are spread about evenly, such as hashes: their leading bits part them into
// buckets, in each of which little is left to sort.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "core/bits/sort_ascending.hpp"

namespace simhash {

// Writes the keys of the values, key_of(value), to `sorted` in order. Calls `pause` between
// buckets.
template <typename KeyOf, typename AnyPause>
void bucket_sort(std::span<const uint64_t> values, uint64_t* sorted, const KeyOf& key_of,
                 const AnyPause& pause) {
    // 4 096 buckets, whose ends take 32 kB of the stack. Of 100 000 keys each then has about 24.
    constexpr int kMaxBits = 12;
    int bits = std::min(int(std::bit_width(values.size())), kMaxBits);
    size_t buckets = size_t{1} << bits;
    // bits = 0 only where there is nothing to sort.
    auto bucket_of = [bits](uint64_t key) { return key >> (64 - bits); };
    // Where each bucket begins. As its keys are dealt out this becomes where it ends.
    std::array<size_t, (1 << kMaxBits) + 1> ends;
    std::fill_n(ends.begin(), buckets + 1, 0);
    for (uint64_t value : values)
        ends[bucket_of(key_of(value)) + 1]++;
    std::partial_sum(ends.begin(), ends.begin() + buckets, ends.begin());
    for (uint64_t value : values) {
        uint64_t key = key_of(value);
        sorted[ends[bucket_of(key)]++] = key;
    }
    for (size_t bucket = 0, begin = 0; bucket < buckets; begin = ends[bucket++]) {
        pause();
        sort_ascending(sorted + begin, sorted + ends[bucket]);
    }
}

} // namespace simhash
