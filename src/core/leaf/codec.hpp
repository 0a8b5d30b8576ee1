// The body of an index leaf: a packed part, sorted and compressed, and after it a tail of a few raw
// entries, unsorted.
//
// Neighbours among sorted fingerprints share their high bits. Elias-Fano coding stores, of
// each key's distance to the packed part's first key, the low `low_bits` bits as they are, and the
// rest in unary: for entry i the bit at position (high part + i) is set. With n keys over a range U
// that takes about 2 + log2(U / n) bits a key, next to the information-theoretic limit, and can be
// searched: the i-th set bit at position p belongs to a key with high part p - i, and the keys with
// high part h start after the h-th clear bit.
//
//   keys 100 103 108 121, first key 100, low_bits 2:   0    3    8    21
//   low parts  (2 bits each)                           00   11   00   01
//   high parts (key >> 2)                              0    0    2    5
//   unary: bits 0+0, 0+1, 2+2, 5+3                     1 1 0 0 1 0 0 0 1
//
// A probe looks through a hundred keys or more for one near its own. The last 32 bits of a key, its
// suffix, nearly always suffice to rule it out. So if low parts are at least that wide, they are
// stored in groups of 16 entries: first the suffixes of the keys themselves, side by side, so that
// many are compared at once, then the bits of the low parts above them. The last group has the
// remaining entries.
//
// The unary words are divided into eight sections of equal size; the last ones may be smaller or
// empty. The header has the number of entries before each section, so a search for a key reads only
// an eighth of the words.
//
// Postings also carry a TID (48 bits: heap block << 16 | offset), stored at a fixed width relative
// to the least heap block, in an array of its own, so that keys are checked without touching TIDs.
//
//   body:  PackedHeader | low words | unary words | TID words | tail entries, raw, to the end
//
// All words are 64 bits in the machine's byte order. A tail entry is the key (8 bytes), in postings
// followed by the TID (write_tid()).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

#include "core/bits/entry.hpp"
#include "core/bits/simd.hpp"
#include "core/bits/slices.hpp"

namespace simhash {

enum class LeafKind : uint8_t { kBlock = 1, kPosting = 2 };

constexpr int kMaxLeafEntries = 4096; // packed part and tail together
// A larger tail makes merges rarer and searches slower, as each search compares all of it.
constexpr int kMaxTailEntries = 384;
static_assert(kMaxLeafEntries <= UINT16_MAX, "the header has 16 bits for the number of entries");
constexpr unsigned kSuffixBits = 32;
// 16 suffixes of 4 bytes are 64 bytes: a vector of AVX-512, or four of NEON.
constexpr unsigned kGroupEntries = 16;
constexpr int kUnarySections = 8;

constexpr size_t words_for(size_t bits) { return (bits + 63) / 64; }

// Entries before each section of the unary words but the first.
using Ranks = std::array<uint16_t, kUnarySections - 1>;

// This is the stored form: it takes the first 40 bytes of the body.
struct PackedHeader {
    // All low and high parts are of the distance to this key.
    uint64_t first_key;
    uint32_t first_block;  // least heap block of the packed part's TIDs
    uint16_t count;        // entries
    uint16_t packed_bytes; // this header and all words
    // The other counts of words follow from count and the widths; this one depends on the range of
    // the keys.
    uint16_t unary_words;
    uint8_t low_bits;    // 0..63
    uint8_t block_bits;  // 0..32
    uint8_t offset_bits; // 0..16
    uint8_t kind;        // LeafKind
    Ranks ranks;
    // They are 0. They fill the header up to a multiple of 8 bytes, so that the words after it are
    // aligned where the body is.
    uint16_t reserved[2];

    size_t low_words() const { return words_for(size_t(count) * low_bits); }
    unsigned tid_bits() const { return block_bits + offset_bits; }
    size_t tid_words() const { return words_for(size_t(count) * tid_bits()); }
    // What packed_bytes must be.
    size_t bytes() const {
        return sizeof(PackedHeader) + 8 * (low_words() + unary_words + tid_words());
    }
    size_t section_words() const {
        return (size_t(unary_words) + kUnarySections - 1) / kUnarySections;
    }
};
static_assert(sizeof(PackedHeader) == 40);

constexpr size_t tail_entry_bytes(LeafKind kind) {
    return kind == LeafKind::kBlock ? 8 : 8 + kTidBytes;
}

namespace leaf_detail {

// `width` (0..64) bits of `words` from bit `position` on. Reads only words that hold some of them.
inline uint64_t read_bits(const uint8_t* words, size_t position, unsigned width) {
    if (width == 0)
        return 0;
    const uint8_t* at = words + (position >> 6) * 8;
    unsigned shift = position & 63;
    uint64_t word;
    memcpy(&word, at, 8);
    uint64_t value = word >> shift;
    // The field goes on in the next word. Only then that word is read, because it may be beyond the
    // body.
    if (shift + width > 64) {
        memcpy(&word, at + 8, 8);
        value |= word << (64 - shift);
    }
    return width == 64 ? value : value & ((uint64_t{1} << width) - 1);
}

inline uint64_t read_word(const uint8_t* words, size_t index) {
    uint64_t word;
    memcpy(&word, words + index * 8, 8);
    return word;
}

// Where the suffix of entry i stands in low words of `low_bits` bits an entry, in bytes.
// A group takes low_bits * 16 bits, that is low_bits * 2 bytes. Its suffixes come first.
inline size_t suffix_offset(unsigned low_bits, size_t i) {
    return i / kGroupEntries * low_bits * (kGroupEntries / 8) + i % kGroupEntries * 4;
}

// Bounds of the TIDs of a packed part. From these follow the widths of the TIDs: of the block above
// the least one, and of the offset.
struct TidBounds {
    uint32_t least_block = UINT32_MAX, greatest_block = 0, greatest_offset = 0;

    void add(uint64_t tid) {
        least_block = std::min(least_block, uint32_t(tid >> 16));
        greatest_block = std::max(greatest_block, uint32_t(tid >> 16));
        greatest_offset = std::max(greatest_offset, uint32_t(tid & 0xffff));
    }
};

// The 32 bits at a byte.
inline uint32_t read_suffix(const uint8_t* words, size_t at) {
    if constexpr (std::endian::native == std::endian::little) {
        uint32_t suffix;
        memcpy(&suffix, words + at, 4);
        return suffix;
    }
    return uint32_t(read_bits(words, at * 8, kSuffixBits));
}

} // namespace leaf_detail

// The sizes of a packed part's low words, unary words and TID words: they tell what a search reads.
struct LeafShape {
    uint16_t low_words = 0, unary_words = 0, tid_words = 0;

    // Asks the processor to fetch the memory that a search reads in a leaf of this shape, for keys
    // between two fractions, 0 to 1, of the leaf's range. Reads nothing itself, so the leaf at
    // `body` may have changed.
    void prefetch(const uint8_t* body, size_t size, double from, double to) const;

    friend bool operator==(const LeafShape&, const LeafShape&) = default;
};

// Reads one leaf body in place. open() checks, in constant time, that all sizes add up inside the
// body. After that no content, however damaged, makes a function here read outside the body or loop
// forever.
class LeafReader {
  public:
    // False if `body` (of `size` bytes, of any alignment) cannot be a leaf of this kind.
    bool open(const uint8_t* body, size_t size, LeafKind kind);

    int packed_count() const { return header_.count; }
    int tail_count() const { return tail_count_; }
    int count() const { return header_.count + tail_count_; }
    const PackedHeader& header() const { return header_; }
    LeafShape shape() const {
        return {uint16_t(header_.low_words()), header_.unary_words, uint16_t(header_.tid_words())};
    }

    // TID of packed entry i, 0 <= i < packed_count().
    // Whatever the bits are, the result has 48 bits: the block is taken modulo 2^32.
    uint64_t packed_tid(int i) const {
        unsigned width = header_.tid_bits();
        uint64_t bits = leaf_detail::read_bits(tids_, size_t(i) * width, width);
        uint64_t offset = bits & ((uint64_t{1} << header_.offset_bits) - 1);
        return ((((bits >> header_.offset_bits) + header_.first_block) & 0xffffffff) << 16) |
               offset;
    }

    Entry tail_entry(int i) const {
        const uint8_t* at = tail_ + size_t(i) * tail_entry_bytes(kind_);
        Entry entry{0, 0};
        memcpy(&entry.key, at, 8);
        if (kind_ == LeafKind::kPosting)
            entry.tid = read_tid(at + 8);
        return entry;
    }
    uint64_t tail_key(int i) const {
        uint64_t key;
        memcpy(&key, tail_ + size_t(i) * tail_entry_bytes(kind_), 8);
        return key;
    }

    // Calls visit(key, i) for the packed part's entries with low <= key <= high, in order.
    void visit_packed(uint64_t low, uint64_t high, auto visit) const;

    // An entry whose key is within the radius, and its place: packed entries count from 0, tail
    // entries on from packed_count().
    struct Hit {
        uint64_t key;
        int place;
    };
    // Room that keys_within() needs: the hits, and entries of the packed part whose keys it does
    // not know yet.
    // The hits so far are at most a leaf's entries, and a slice adds as many at most before they
    // are checked. One more place is written before it is known to be a hit.
    static constexpr int kHitRoom = 2 * kMaxLeafEntries + 1;
    // The entries with low <= key <= high whose key is within `radius` bits of `target`; `hits`
    // holds kHitRoom. If the range is cut, only those in its slices. Returns their
    // number. The innermost loop of every probe: search.cpp.
    int keys_within(uint64_t low, uint64_t high, uint64_t target, int radius, Hit* hits,
                    const Slices& slices = {}, SimdLevel highest = kHighestSimdLevel) const;
    uint64_t tid_at(int place) const {
        return place < packed_count() ? packed_tid(place) : tail_entry(place - packed_count()).tid;
    }

    bool contains_key(uint64_t key) const;

    // Whether the header's ranks are those of the unary words.
    bool ranks_agree() const;

    // Decodes everything in key order into out[kMaxLeafEntries]; returns the number of entries.
    int decode_sorted(Entry* out) const;
    // Decodes the packed part only, likewise.
    int decode_packed(Entry* out) const;
    // Decodes the tail, in order of arrival, into out[kMaxTailEntries]; returns tail_count().
    int decode_tail(Entry* out) const;

  private:
    template <typename Words>
    friend class WithinRadius;

    bool has_suffixes() const { return header_.low_bits >= kSuffixBits; }

    // Low parts of the packed part's entries' distances to the first key, one after another.
    class LowParts {
      public:
        // From entry i on, 0 <= i <= packed_count().
        LowParts(const LeafReader& reader, size_t i)
            : words_(reader.low_), low_bits_(reader.header_.low_bits),
              first_suffix_(uint32_t(reader.header_.first_key)), count_(reader.header_.count),
              next_(i) {
            // Low parts of fewer than 32 bits stand one after another, without groups.
            if (!reader.has_suffixes()) {
                rest_bits_ = low_bits_;
                rest_ = i * low_bits_;
                group_end_ = SIZE_MAX;
                return;
            }
            rest_bits_ = low_bits_ - kSuffixBits;
            begin_group();
        }

        uint64_t next() {
            if (next_ == group_end_)
                begin_group();
            uint64_t part = leaf_detail::read_bits(words_, rest_, rest_bits_);
            rest_ += rest_bits_;
            if (group_end_ != SIZE_MAX) {
                uint32_t suffix = leaf_detail::read_suffix(words_, suffix_);
                suffix_ += 4;
                // The suffix is that of the key itself. The low part's own 32 bits are those of the
                // distance, so the first key's suffix is subtracted, modulo 2^32.
                part = part << kSuffixBits | uint32_t(suffix - first_suffix_);
            }
            next_++;
            return part;
        }

      private:
        // Of entry next_.
        void begin_group() {
            size_t in_group = next_ % kGroupEntries, first = next_ - in_group;
            group_end_ = first + kGroupEntries;
            suffix_ = leaf_detail::suffix_offset(low_bits_, next_);
            // The bits above the suffixes begin behind those of the group: 16 of them, or fewer in
            // the last group.
            rest_ = first * low_bits_ +
                    std::min(count_ - first, size_t{kGroupEntries}) * kSuffixBits +
                    in_group * rest_bits_;
        }

        const uint8_t* words_;
        unsigned low_bits_, rest_bits_;
        uint32_t first_suffix_;
        size_t count_, next_, group_end_;
        size_t suffix_ = 0; // where it stands, in bytes
        size_t rest_;       // where the other bits stand, in bits
    };
    uint64_t low_part(size_t i) const { return LowParts(*this, i).next(); }

    // A word of the unary words, and how many clear bits stand before it.
    struct UnaryPlace {
        int word = 0;
        uint64_t clear_before = 0;
    };
    // Where to begin to look for clear bit `number`, counted from 1: fewer clear bits are before
    // that place, unless the number is 0.
    UnaryPlace section_before(uint64_t number) const {
        uint64_t section_bits = header_.section_words() * 64;
        // The clear bits before section i are all bits before it less the entries before it.
        auto begins_before = [&](int i) {
            return i * section_bits - header_.ranks[i - 1] < number;
        };
        static_assert(kUnarySections == 8);
        // This is a binary search among eight sections, without a branch.
        int section = begins_before(4) ? 4 : 0;
        section += begins_before(section + 2) ? 2 : 0;
        section += begins_before(section + 1) ? 1 : 0;
        if (section == 0)
            return {};
        uint64_t clear_before = section * section_bits - header_.ranks[section - 1];
        if (clear_before >= number)
            return {}; // on a damaged page
        return {int(section * header_.section_words()), clear_before};
    }

    // The first high part that an entry with a key of at least `low` can have.
    [[gnu::always_inline]] uint64_t high_part_from(uint64_t low) const {
        return low > header_.first_key ? (low - header_.first_key) >> header_.low_bits : 0;
    }

    // Where the entries of a high part begin: the number of entries before them, and the unary word
    // of the clear bit before them, the high_part-th.
    struct HighPart {
        int entries;
        UnaryPlace at;
    };
    template <typename Words>
    [[gnu::always_inline]] HighPart find_high_part(uint64_t high_part) const {
        UnaryPlace at = section_before(high_part);
        // No clear bit stands before the entries of high part 0.
        if (high_part == 0)
            return {0, at};
        for (; at.word < header_.unary_words; at.word++) {
            uint64_t holes = ~leaf_detail::read_word(unary_, at.word);
            unsigned clear = std::popcount(holes);
            if (at.clear_before + clear >= high_part) {
                // This is the clear bit itself. Up to it there are position + 1 bits, high_part of
                // them clear, so the others are entries.
                uint64_t position =
                    uint64_t(at.word) * 64 + Words::nth_one(holes, high_part - at.clear_before);
                return {int(std::min<uint64_t>(position + 1 - high_part, header_.count)), at};
            }
            at.clear_before += clear;
        }
        // There are fewer clear bits than that, so no entry has the high part.
        return {header_.count, at};
    }

    LeafKind kind_;
    int tail_count_;
    PackedHeader header_;
    const uint8_t* low_;
    const uint8_t* unary_;
    const uint8_t* tids_;
    const uint8_t* tail_;
};

// Size of the packed part in bytes, header included, for these sorted entries.
size_t bytes_when_packed(LeafKind kind, const Entry* entries, int count);

// For the bulk build: the sizes of packed parts that take the first entries of a sorted array, each
// in nearly constant time.
class PackedSizes {
  public:
    PackedSizes(LeafKind kind, const Entry* entries) : kind_(kind), entries_(entries) {}
    // Bytes of the packed part of the first `count` entries. Does not fall as the count grows.
    size_t bytes(int count);
    // The greatest count up to `most` whose packed part takes no more than `bytes`. The nearer
    // `guess` is to it, the sooner it is found.
    int most_within(size_t bytes, int most, int guess);

  private:
    // The bounds of TIDs are kept for each 64th entry, so that a size looks at fewer than 64.
    static constexpr int kStride = 64;

    LeafKind kind_;
    const Entry* entries_;
    leaf_detail::TidBounds
        bounds_[kMaxLeafEntries / kStride + 1]; // of the first i * kStride entries
    int known_ = 0;                             // bounds_[0 .. known_] are
};

// Encodes `entries` (strictly ascending) as a packed part at `out`. Returns its bytes, or 0, with
// nothing written, where that is more than `capacity` or the keys do not ascend.
size_t encode_packed(LeafKind kind, const Entry* entries, int count, uint8_t* out, size_t capacity);

// Writes one raw tail entry at `out`; returns its bytes.
size_t encode_tail_entry(LeafKind kind, Entry entry, uint8_t* out);

// Writes a whole body at `out`: `packed` (strictly ascending) encoded, then `tail` (in any order)
// raw. Returns its bytes. Returns 0 if it takes more than `capacity`, has more entries than a leaf
// holds, or if the packed part does not ascend; `out` may then hold a part of it.
size_t encode_body(LeafKind kind, std::span<const Entry> packed, std::span<const Entry> tail,
                   uint8_t* out, size_t capacity);

// ---- implementation of the templates ----

[[gnu::always_inline]] inline void LeafReader::visit_packed(uint64_t low, uint64_t high,
                                                            auto visit) const {
    using namespace leaf_detail;
    // This also answers for keys below the first one, whose distance to it would be negative.
    if (header_.count == 0 || high < header_.first_key)
        return;
    unsigned low_bits = header_.low_bits;
    int words = header_.unary_words;
    uint64_t wanted = high_part_from(low);
    int i = find_high_part<WordsAt<SimdLevel::kPortable>>(wanted).entries;
    if (i >= header_.count)
        return;
    // Before the bit of that entry stand as many set bits as entries, and `wanted` clear ones.
    uint64_t position = uint64_t(i) + wanted;
    int w = int(position >> 6);
    if (w >= words)
        return;
    // The bits of entries before the first wanted one are cleared.
    uint64_t word = read_word(unary_, w) & ~uint64_t{0} << (position & 63);
    LowParts low_parts(*this, size_t(i));
    for (;;) {
        while (word == 0) {
            if (++w == words)
                return;
            word = read_word(unary_, w);
        }
        if (i >= header_.count)
            return;
        // Bit position p of entry i belongs to the high part p - i.
        uint64_t high_part = uint64_t(w) * 64 + std::countr_zero(word) - i;
        uint64_t key = header_.first_key + (high_part << low_bits | low_parts.next());
        if (key > high)
            return;
        if (key >= low)
            visit(key, i);
        word &= word - 1;
        i++;
    }
}

} // namespace simhash
