// The innermost loop of every probe: which keys of a range are within a radius of the target's.
//
// Decoding every key of a range bit by bit would take most of the probe's time. So suffixes are
// compared first (low parts, if they are narrower), and a key is decoded only if its suffix is
// within the radius:
//
//   range  ->  its slices, if it is cut
//          ->  the places where its first and last high part begin (unary words, by their ranks)
//          ->  the places between them whose suffix is near the target's (many at once)
//          ->  of these, the places whose low part is near the target's
//          ->  the keys at these places, compared whole
//
// The prefix that all keys of the range share may differ from the target's. These differences leave
// less of the radius for suffix and low part. A wide radius has many ranges far from the target, in
// which few keys pass.
//
// The tail's keys are compared whole, those of a block table many at once.
//
// Counting ones is one instruction on any x86 processor of the last 15 years, but not in the
// baseline that the compiler assumes, and some processors count several words at once. So the
// search is compiled for each level, and the level is chosen at run time. AArch64 counts ones byte
// by byte, in vectors only.
#include "core/leaf/codec.hpp"

#include <algorithm>

#include "core/bits/fingerprint.hpp"
#include "core/bits/vectors.hpp"

namespace simhash {

using namespace leaf_detail;

namespace {

// Adds the place of each word in a mask.
template <typename Words>
[[gnu::always_inline]] inline int add_places(int first, uint64_t near, LeafReader::Hit* hits) {
    int count = 0;
    for (; near != 0; near &= near - 1)
        hits[count++].place = first + std::countr_zero(near) / Words::kMaskBits;
    return count;
}

} // namespace

// One call of keys_within().
template <typename Words>
class WithinRadius {
  public:
    [[gnu::always_inline]] WithinRadius(const LeafReader& reader, uint64_t low, uint64_t high,
                                        uint64_t target, int radius, LeafReader::Hit* hits)
        : reader_(reader), low_(low), high_(high), target_(target), radius_(radius), hits_(hits) {}

    [[gnu::always_inline]] int find(const Slices& slices) {
        if (reader_.packed_count() > 0 && high_ >= reader_.header_.first_key)
            find_in_packed(slices);
        if (reader_.tail_count() > 0)
            find_in_tail(slices);
        return found_;
    }

  private:
    // 30 % of random suffixes are within 14 bits; beyond that, decoding all keys is no slower.
    static constexpr int kMaxSuffixRadius = 14;

    [[gnu::always_inline]] void find_in_packed(const Slices& slices) {
        // Wider radii, or fewer low bits, would let too many keys pass.
        if (reader_.has_suffixes() ? radius_left(low_, high_, kSuffixBits) <= kMaxSuffixRadius
                                   : reader_.header_.low_bits >= 4 * radius_ + 8)
            find_in_slices(slices);
        else
            reader_.visit_packed(
                low_, high_, [&](uint64_t key, int place) __attribute__((always_inline)) {
                    if (!slices.cut_range() || slices.contain(key))
                        take(key, place);
                });
    }

    // How many of its lowest `bits` bits may differ from the target in a key from low to high.
    // Below 0 if the prefix alone is too far off.
    [[gnu::always_inline]] int radius_left(uint64_t low, uint64_t high, unsigned bits) const {
        // These are the bits in which keys from low to high may differ, and at least those that are
        // asked for. Above these all keys agree with `low`.
        unsigned open = std::max(unsigned(std::bit_width(low ^ high)), bits);
        return open == kFingerprintBits ? radius_
                                        : radius_ - std::popcount((low ^ target_) >> open);
    }

    [[gnu::always_inline]] void take(uint64_t key, int place) {
        // The hit is written in any case, and counted only if it is near: there is no branch that
        // the processor could guess wrong.
        hits_[found_] = {key, place};
        found_ += std::popcount(key ^ target_) <= radius_;
    }

    // Writes the places from begin to end (excluded) where the suffix is within the radius of the
    // target's to `hits`, which has room for one more than there are; returns their number.
    [[gnu::always_inline]] int near_suffixes(int begin, int end, int radius,
                                             LeafReader::Hit* hits) const {
        // Copies, which the compiler can keep in registers while hits are written.
        const uint8_t* low = reader_.low_;
        unsigned low_bits = reader_.header_.low_bits;
        int count = reader_.header_.count, near = 0, i = begin;
        auto target = uint32_t(target_);
        if constexpr (Words::kWords > 0) {
            constexpr int kGroup = kGroupEntries, kBits = Words::kMaskBits;
            static_assert(kGroup == 16);
            // A group at once, where it is whole.
            i -= begin % kGroup;
            const uint8_t* group = low + suffix_offset(low_bits, size_t(i));
            for (; i < end && i + kGroup <= count; i += kGroup) {
                uint64_t found = Words::near_halves(group, target, radius);
                if (i < begin)
                    found &= ~uint64_t{0} << (begin - i) * kBits;
                if (end - i < kGroup)
                    found &= ~(~uint64_t{0} << (end - i) * kBits);
                near += add_places<Words>(i, found, hits + near);
                group += suffix_offset(low_bits, kGroup);
            }
        }
        for (i = std::max(i, begin); i < end; i++) {
            hits[near].place = i;
            near += std::popcount(read_suffix(low, suffix_offset(low_bits, size_t(i))) ^ target) <=
                    radius;
        }
        return near;
    }

    // The same for low parts that are narrower than suffixes.
    [[gnu::always_inline]] int near_low_parts(int begin, int end, LeafReader::Hit* hits) const {
        uint64_t first_key = reader_.header_.first_key;
        uint64_t mask = (uint64_t{1} << reader_.header_.low_bits) - 1;
        int near = 0;
        LeafReader::LowParts low_parts(reader_, size_t(begin));
        for (int i = begin; i < end; i++) {
            hits[near].place = i;
            uint64_t key = first_key + low_parts.next();
            near += std::popcount((key ^ target_) & mask) <= radius_;
        }
        return near;
    }

    // The same for the keys of the tail.
    [[gnu::always_inline]] int near_in_tail(LeafReader::Hit* hits) const {
        const uint8_t* tail = reader_.tail_;
        size_t stride = tail_entry_bytes(reader_.kind_);
        uint64_t target = target_, key;
        int count = reader_.tail_count(), radius = radius_, near = 0, i = 0;
        // Only keys of block tables stand side by side; postings have TIDs between them.
        if constexpr (constexpr int kAtOnce = Words::kWords; kAtOnce > 0)
            for (; stride == sizeof(key) && i + kAtOnce <= count; i += kAtOnce)
                near += add_places<Words>(
                    i, Words::near_words(tail + size_t(i) * stride, &target, 1, radius),
                    hits + near);
        for (; i < count; i++) {
            memcpy(&key, tail + size_t(i) * stride, sizeof(key));
            hits[near].place = i;
            near += std::popcount(key ^ target) <= radius;
        }
        return near;
    }

    [[gnu::always_inline]] void find_in_tail(const Slices& slices) {
        LeafReader::Hit* hits = hits_ + found_;
        int near = near_in_tail(hits);
        for (int i = 0; i < near; i++) {
            int number = hits[i].place;
            uint64_t key = reader_.tail_key(number);
            if (low_ <= key && key <= high_ && (!slices.cut_range() || slices.contain(key)))
                hits_[found_++] = {key, reader_.packed_count() + number};
        }
    }

    // A range that is not cut is one slice.
    [[gnu::always_inline]] void find_in_slices(const Slices& slices) {
        for (int i = 0; i < slices.count(); i++) {
            uint64_t low = low_, high = high_;
            if (slices.cut_range()) {
                low = std::max(low, slices.first(i));
                high = std::min(high, slices.last(i));
                if (low > high || high < reader_.header_.first_key)
                    continue;
            }
            find_by_low_bits(low, high);
            found_ = std::min(found_, int(reader_.header_.count)); // on a damaged page
        }
    }

    // From low to high, which is no less than the packed part's first key.
    [[gnu::always_inline]] void find_by_low_bits(uint64_t low, uint64_t high) {
        const PackedHeader& header = reader_.header_;
        unsigned low_bits = header.low_bits;
        // The search looks at the entries whose high part is that of `low`, that of `high`, or
        // between: start.entries up to stop.entries. At both ends some keys may be outside.
        auto start = reader_.find_high_part<Words>(reader_.high_part_from(low));
        auto stop = reader_.find_high_part<Words>(((high - header.first_key) >> low_bits) + 1);
        LeafReader::Hit* hits = hits_ + found_;
        int near = reader_.has_suffixes() ? near_suffixes(start.entries, stop.entries,
                                                          radius_left(low, high, kSuffixBits), hits)
                                          : near_low_parts(start.entries, stop.entries, hits);

        uint64_t low_mask = (uint64_t{1} << low_bits) - 1;
        int low_radius = radius_left(low, high, low_bits);
        // `entries` is the number of entries before `word`.
        // The places ascend, so the unary words are walked once for all of them.
        int word = start.at.word, entries = int(uint64_t(word) * 64 - start.at.clear_before);
        for (int i = 0; i < near; i++) {
            int place = hits[i].place;
            uint64_t low_part = reader_.low_part(size_t(place));
            if (std::popcount(((header.first_key + low_part) ^ target_) & low_mask) > low_radius)
                continue;
            uint64_t ones = 0;
            for (; word < header.unary_words; word++) {
                ones = read_word(reader_.unary_, word);
                int count = std::popcount(ones);
                // The place's bit is in this word: its (place - entries + 1)-th one.
                if (entries + count > place)
                    break;
                entries += count;
            }
            // This happens on a damaged page only, which has fewer set bits than entries.
            if (word == header.unary_words)
                return;
            uint64_t high_part =
                uint64_t(word) * 64 + Words::nth_one(ones, place - entries + 1) - place;
            uint64_t key = header.first_key + (high_part << low_bits | low_part);
            if (low <= key && key <= high)
                take(key, place);
        }
    }

    const LeafReader& reader_;
    uint64_t low_, high_, target_;
    int radius_;
    LeafReader::Hit* hits_;
    int found_ = 0;
};

int LeafReader::keys_within(uint64_t low, uint64_t high, uint64_t target, int radius, Hit* hits,
                            const Slices& slices, SimdLevel highest) const {
    if (low > high)
        return 0;
    return at_best_level(
        highest, [&]<SimdLevel level>() __attribute__((always_inline)) {
            return WithinRadius<WordsAt<level>>(*this, low, high, target, radius, hits)
                .find(slices);
        });
}

} // namespace simhash
