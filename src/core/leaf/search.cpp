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

// The suffixes of a packed part's keys, and what a search compares them with.
struct Suffixes {
    const uint8_t* words;
    int count; // entries of the packed part
    unsigned low_bits;
    uint32_t target;
    int radius;
};

// The keys of a tail, and what a search compares them with.
struct TailKeys {
    const uint8_t* at;
    int count;
    size_t stride; // bytes from one to the next
    uint64_t target;
    int radius;
};

// The innermost loops of the search, in portable code. LoopsAt has them for each level.
struct PortableLoops : PortableBits {
    // Writes the places from begin to end (excluded) where the suffix is within the radius of the
    // target's to `hits`, which has room for one more than there are; returns their number.
    [[gnu::always_inline]] static int near_places(const Suffixes& suffixes, int begin, int end,
                                                  LeafReader::Hit* hits) {
        // Copies, which the compiler can keep in registers while hits are written.
        const uint8_t* words = suffixes.words;
        unsigned low_bits = suffixes.low_bits;
        uint32_t target = suffixes.target;
        int radius = suffixes.radius, near = 0;
        for (int i = begin; i < end; i++) {
            hits[near].place = i;
            near +=
                std::popcount(read_suffix(words, suffix_offset(low_bits, i)) ^ target) <= radius;
        }
        return near;
    }

    // Writes the numbers of the keys, from `begin` on, that are within the radius of the target to
    // `hits`, which has room for one more; returns how many.
    [[gnu::always_inline]] static int near_keys(const TailKeys& keys, int begin,
                                                LeafReader::Hit* hits) {
        int near = 0;
        for (int i = begin; i < keys.count; i++) {
            uint64_t key;
            memcpy(&key, keys.at + size_t(i) * keys.stride, 8);
            hits[near].place = i;
            near += std::popcount(key ^ keys.target) <= keys.radius;
        }
        return near;
    }
};

// Adds the place of each one in `found`, which has `bits_each` bits for a place.
template <int bits_each = 1>
[[gnu::always_inline]] inline int add_places(int first, uint64_t found, LeafReader::Hit* hits) {
    int count = 0;
    for (; found != 0; found &= found - 1)
        hits[count++].place = first + std::countr_zero(found) / bits_each;
    return count;
}

template <SimdLevel level>
struct LoopsAt : PortableLoops {};

#if defined(SIMHASH_X86)

// With AVX2: eight at once.
template <>
struct LoopsAt<SimdLevel::kAvx2> : PortableLoops {
    SIMHASH_TARGET(SIMHASH_AVX2)
    static int near_places(const Suffixes& suffixes, int begin, int end, LeafReader::Hit* hits) {
        __m256i target = _mm256_set1_epi32(int(suffixes.target));
        __m256i radius = _mm256_set1_epi32(suffixes.radius + 1);
        int near = 0, i = begin & ~7;
        // Eight suffixes stand side by side: i is a multiple of 8, and a group has 16.
        for (; i + 8 <= end; i += 8) {
            const uint8_t* at = suffixes.words + suffix_offset(suffixes.low_bits, i);
            __m256i differing =
                _mm256_xor_si256(target, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
            // The ones of bytes are added up to pairs, and these to the four bytes of a suffix.
            __m256i pairs = _mm256_maddubs_epi16(ones_of_bytes(differing), _mm256_set1_epi8(1));
            __m256i distance = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
            __m256i within = _mm256_cmpgt_epi32(radius, distance);
            auto found = unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(within)));
            if (i < begin)
                found &= ~0u << (begin - i);
            near += add_places(i, found, hits + near);
        }
        return near + PortableLoops::near_places(suffixes, std::max(i, begin), end, hits + near);
    }

    SIMHASH_TARGET(SIMHASH_AVX2)
    static int near_keys(const TailKeys& keys, int begin, LeafReader::Hit* hits) {
        __m256i target = _mm256_set1_epi64x(int64_t(keys.target));
        __m256i radius = _mm256_set1_epi64x(keys.radius + 1);
        int near = 0, i = begin;
        // Only keys of block tables stand side by side; postings have TIDs between them.
        for (; keys.stride == 8 && i + 4 <= keys.count; i += 4) {
            auto* at = reinterpret_cast<const __m256i*>(keys.at + size_t(i) * 8);
            __m256i differing = _mm256_xor_si256(target, _mm256_loadu_si256(at));
            __m256i distance = _mm256_sad_epu8(ones_of_bytes(differing), _mm256_setzero_si256());
            __m256i within = _mm256_cmpgt_epi64(radius, distance);
            near += add_places(i, unsigned(_mm256_movemask_pd(_mm256_castsi256_pd(within))),
                               hits + near);
        }
        return near + PortableLoops::near_keys(keys, i, hits + near);
    }
};

// With AVX-512: a group at once.
template <>
struct LoopsAt<SimdLevel::kAvx512> {
    SIMHASH_TARGET(SIMHASH_AVX512) static int nth_one(uint64_t bits, uint64_t n) {
        return std::countr_zero(_pdep_u64(uint64_t{1} << (n - 1), bits));
    }

    SIMHASH_TARGET(SIMHASH_AVX512)
    static int near_places(const Suffixes& suffixes, int begin, int end, LeafReader::Hit* hits) {
        __m512i target = _mm512_set1_epi32(int(suffixes.target));
        __m512i radius = _mm512_set1_epi32(suffixes.radius);
        static_assert(kGroupEntries == 16);
        int near = 0, i = begin & ~15;
        const uint8_t* group = suffixes.words + suffix_offset(suffixes.low_bits, i);
        for (; i < end; i += 16, group += suffix_offset(suffixes.low_bits, 16)) {
            // The last group may have fewer suffixes. What is masked out is not read.
            unsigned present = end - i >= 16 ? 0xffff : (1u << (end - i)) - 1;
            if (i < begin)
                present &= ~0u << (begin - i);
            __m512i suffix = _mm512_maskz_loadu_epi32(__mmask16(present), group);
            __m512i distance = _mm512_popcnt_epi32(_mm512_xor_si512(suffix, target));
            near += add_places(
                i, _mm512_mask_cmple_epi32_mask(__mmask16(present), distance, radius), hits + near);
        }
        return near;
    }

    SIMHASH_TARGET(SIMHASH_AVX512)
    static int near_keys(const TailKeys& keys, int begin, LeafReader::Hit* hits) {
        __m512i target = _mm512_set1_epi64(int64_t(keys.target));
        __m512i radius = _mm512_set1_epi64(keys.radius);
        int near = 0, i = begin;
        for (; keys.stride == 8 && i + 8 <= keys.count; i += 8) {
            __m512i key = _mm512_loadu_si512(keys.at + size_t(i) * 8);
            __m512i distance = _mm512_popcnt_epi64(_mm512_xor_si512(key, target));
            near += add_places(i, _mm512_cmple_epi64_mask(distance, radius), hits + near);
        }
        return near + PortableLoops::near_keys(keys, i, hits + near);
    }
};

#elif defined(SIMHASH_NEON)

// With NEON: a group at once, where it is whole.
template <>
struct LoopsAt<SimdLevel::kNeon> : PortableLoops {
    static int near_places(const Suffixes& suffixes, int begin, int end, LeafReader::Hit* hits) {
        static_assert(kGroupEntries == 16);
        uint8x16_t target = vreinterpretq_u8_u32(vdupq_n_u32(suffixes.target));
        int near = 0, i = begin & ~15;
        const uint8_t* group = suffixes.words + suffix_offset(suffixes.low_bits, i);
        for (; i < end && i + 16 <= suffixes.count; i += 16) {
            // Four vectors of four suffixes each give one mask, with kMaskBits bits for a place.
            uint64_t found =
                mask_within(distances_of_sixteen<kSuffixBits / 8>(group, target), suffixes.radius);
            if (i < begin)
                found &= ~uint64_t{0} << (begin - i) * kMaskBits;
            // The group is whole, but the range ends in it.
            if (end - i < 16)
                found &= ~(~uint64_t{0} << (end - i) * kMaskBits);
            near += add_places<kMaskBits>(i, found, hits + near);
            group += suffix_offset(suffixes.low_bits, 16);
        }
        return near + PortableLoops::near_places(suffixes, std::max(i, begin), end, hits + near);
    }
};

#endif

} // namespace

// One call of keys_within().
template <typename Loops>
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

    // As Loops::near_places(), for low parts that are narrower than suffixes.
    [[gnu::always_inline]] int near_low_parts(int begin, int end, LeafReader::Hit* hits) {
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

    [[gnu::always_inline]] void find_in_tail(const Slices& slices) {
        LeafReader::Hit* hits = hits_ + found_;
        int near = Loops::near_keys({reader_.tail_, reader_.tail_count(),
                                     tail_entry_bytes(reader_.kind_), target_, radius_},
                                    0, hits);
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
        auto start = reader_.find_high_part<Loops>(reader_.high_part_from(low));
        auto stop = reader_.find_high_part<Loops>(((high - header.first_key) >> low_bits) + 1);
        LeafReader::Hit* hits = hits_ + found_;
        int near =
            reader_.has_suffixes()
                ? Loops::near_places({reader_.low_, header.count, low_bits, uint32_t(target_),
                                      radius_left(low, high, kSuffixBits)},
                                     start.entries, stop.entries, hits)
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
                uint64_t(word) * 64 + Loops::nth_one(ones, place - entries + 1) - place;
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
            return WithinRadius<LoopsAt<level>>(*this, low, high, target, radius, hits)
                .find(slices);
        });
}

} // namespace simhash
