// Sorts of numbers, entries and pairs, and a search in what is sorted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include "core/bits/entry.hpp"
#include "core/bits/pause.hpp"

namespace simhash {

// Sorts by <, for all of our code. libc++ has std::sort of numbers by < compiled in its library,
// which we do not link; with a comparison of our own the sort is compiled here.
template <typename Iterator>
void sort_ascending(Iterator begin, Iterator end) {
    std::sort(begin, end, [](const auto& a, const auto& b) { return a < b; });
}

// ---- radix sort ----

inline uint64_t radix_key(uint64_t key) { return key; }
inline uint64_t radix_key(const Entry& entry) { return entry.key; }
inline uint64_t radix_key(const Pair& pair) { return pair.first; }

inline uint64_t radix_value(const Entry& entry) { return entry.tid; }
inline uint64_t radix_value(const Pair& pair) { return pair.second; }

// Sorts by the lowest `bits` bits of key_of(entry), which has no others: least significant digit
// first, no pass for a digit that is the same in all keys. Stable. entries and scratch: the same
// number of entries, not overlapping; the result ends in the first. A long sort calls `pause` now
// and then, which may leave by longjmp.
template <typename AnyEntry>
void radix_sort_by(std::span<AnyEntry> entries, std::span<AnyEntry> scratch, int bits,
                   const auto& key_of, const auto& pause) {
    // A pass writes to as many places at once as a digit has values. 2 048 places stay in the
    // cache where all entries do, some 1 MB. 64 bits then have 8 digits, and 24 bits have 3.
    constexpr size_t kFew = size_t{1} << 16;
    constexpr int kShortDigit = 8, kLongDigit = 11, kFewBits = 24;
    int longest = entries.size() > kFew || bits > kFewBits ? kShortDigit : kLongDigit;
    int passes = (bits + longest - 1) / longest;
    if (passes == 0)
        return;
    // Digits of equal length: 16 bits are 8 + 8, not 11 + 5.
    int digit_bits = (bits + passes - 1) / passes;
    size_t values = size_t{1} << digit_bits;
    std::array<size_t, 3 << kLongDigit> counts; // [passes][values]
    size_t* end = counts.data() + size_t(passes) * values;
    std::fill(counts.data(), end, 0);
    AnyEntry* from = entries.data();
    AnyEntry* to = scratch.data();
    // One reading of the entries counts the digits of all passes.
    auto count = [&](size_t i) {
        uint64_t key = key_of(from[i]);
        for (size_t* of_pass = counts.data(); of_pass < end; of_pass += values, key >>= digit_bits)
            of_pass[key & (values - 1)]++;
    };
    one_by_one(entries.size(), count, pause);
    int shift = 0;
    // Counts become positions.
    for (size_t* next = counts.data(); next < end; next += values, shift += digit_bits) {
        if (std::find(next, next + values, entries.size()) != next + values)
            continue;
        std::exclusive_scan(next, next + values, next, size_t{0});
        auto deal = [&](size_t i) {
            to[next[key_of(from[i]) >> shift & (values - 1)]++] = from[i];
        };
        one_by_one(entries.size(), deal, pause);
        std::swap(from, to);
    }
    if (from != entries.data())
        one_by_one(
            entries.size(), [&](size_t i) { entries[i] = from[i]; }, pause);
}

// Sorts by the bits of the keys from `low_bit` up, and looks at no others.
template <typename AnyEntry>
void radix_sort(std::span<AnyEntry> entries, std::span<AnyEntry> scratch, const auto& pause,
                unsigned low_bit = 0) {
    radix_sort_by(
        entries, scratch, int(64 - low_bit),
        [low_bit](const AnyEntry& entry) { return radix_key(entry) >> low_bit; }, pause);
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
            radix_sort_by(
                records, scratch, 64, [](const AnyEntry& record) { return radix_value(record); },
                pause);
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

// ---- keys that are spread about evenly, such as hashes ----

// Moves each number to the left as far as it belongs: for numbers that are nearly in order.
inline void insertion_sort(std::span<uint64_t> numbers) {
    for (size_t i = 1; i < numbers.size(); i++) {
        uint64_t number = numbers[i];
        size_t place = i;
        for (; place > 0 && numbers[place - 1] > number; place--)
            numbers[place] = numbers[place - 1];
        numbers[place] = number;
    }
}

// Where each bucket begins. As its keys are dealt out this becomes where it ends. 4 096 buckets
// take 32 kB of the stack. Of 100 000 keys each then has about 24.
constexpr int kMaxBucketBits = 12;
using BucketEnds = std::array<size_t, (1 << kMaxBucketBits) + 1>;

// Writes the keys of the values, key_of(value), to `dealt`: to buckets by this many leading bits,
// and in each in their order.
void deal_out(std::span<const uint64_t> values, uint64_t* dealt, int bits, BucketEnds* ends,
              const auto& key_of, const auto& pause) {
    size_t buckets = size_t{1} << bits;
    auto bucket_of = [bits](uint64_t key) { return bits == 0 ? 0 : key >> (64 - bits); };
    std::fill_n(ends->begin(), buckets + 1, 0);
    auto count = [&](size_t i) { (*ends)[bucket_of(key_of(values[i])) + 1]++; };
    one_by_one(values.size(), count, pause);
    std::partial_sum(ends->begin(), ends->begin() + buckets, ends->begin());
    auto deal = [&](size_t i) {
        uint64_t key = key_of(values[i]);
        dealt[(*ends)[bucket_of(key)]++] = key;
    };
    one_by_one(values.size(), deal, pause);
}

// Writes the keys of the values, key_of(value), to `sorted` in order. Their leading bits part them
// into buckets, in each of which little is left to sort. Calls `pause` between buckets.
void bucket_sort(std::span<const uint64_t> values, uint64_t* sorted, const auto& key_of,
                 const auto& pause) {
    constexpr size_t kFew = 8; // keys of a bucket
    int bits = std::min(int(std::bit_width(values.size())), kMaxBucketBits);
    BucketEnds ends;
    deal_out(values, sorted, bits, &ends, key_of, pause);
    for (size_t bucket = 0, begin = 0; bucket < size_t{1} << bits; begin = ends[bucket++]) {
        pause();
        if (ends[bucket] - begin > kFew)
            sort_ascending(sorted + begin, sorted + ends[bucket]);
    }
    // One loop over all the small buckets takes half the time of one for each.
    insertion_sort({sorted, values.size()});
}

// Keeps those entries whose leading 32 bits others have, too, and few others: in the order of these
// bits, and then in that in which they came. Returns how many. Most keys of many occur once, and to
// leave these out takes half the time of a sort. The 32 bits are spread about evenly. scratch: as
// many entries
size_t sort_repeated(std::span<uint64_t> entries, std::span<uint64_t> scratch, const auto& pause) {
    // A bucket has about 1 000 entries, or 10 000 of 40 million, and eight times as many slots.
    constexpr int kBitsOfBucket = 10;
    constexpr size_t kSlotsOfEntry = 8, kMostSlots = size_t{1} << 15;
    int bits = std::clamp(int(std::bit_width(entries.size())) - kBitsOfBucket, 0, kMaxBucketBits);
    BucketEnds ends;
    deal_out(entries, scratch.data(), bits, &ends, std::identity(), pause);
    uint8_t times[kMostSlots]; // that a slot was met, at most twice
    size_t kept = 0, paused = 0;
    for (size_t bucket = 0, begin = 0; bucket < size_t{1} << bits; begin = ends[bucket++]) {
        auto dealt = scratch.subspan(begin, ends[bucket] - begin);
        size_t slots = std::min(std::bit_ceil(kSlotsOfEntry * dealt.size()), kMostSlots);
        auto times_of = [&](uint64_t entry) -> uint8_t& {
            return times[entry >> 32 & (slots - 1)];
        };
        std::fill_n(times, slots, 0);
        for (uint64_t entry : dealt)
            times_of(entry) += times_of(entry) < 2;
        size_t first = kept;
        // No branch: nobody can predict it.
        for (uint64_t entry : dealt) {
            entries[kept] = entry;
            kept += times_of(entry) == 2;
        }
        radix_sort(entries.subspan(first, kept - first), dealt, pause, 32);
        if (begin - paused > kEntriesPerPause) {
            pause();
            paused = begin;
        }
    }
    return kept;
}

// ---- a search in what is sorted ----

// Begins at a guess and goes on from there in growing steps: where guesses are good it looks at
// fewer places than halving, and at places that lie close together.
//
// Returns the last number in [low, high) for which `holds` is true. It must be true of the numbers
// up to some one and false beyond; it is not asked about `low`, which stands for all before. The
// first step is `step` wide, and each further one twice as wide as the one before.
template <typename Number>
Number last_that_holds(Number low, Number high, Number guess, Number step, const auto& holds) {
    for (Number at = guess; high - low > 1; step *= 2) {
        at = at <= low ? low + 1 : at >= high ? high - 1 : at;
        bool right = holds(at);
        (right ? low : high) = at;
        at = high - low <= step ? (low + high) / 2 : right ? low + step : high - step;
    }
    return low;
}

} // namespace simhash
