#include "core/leaf/codec.hpp"

#include "core/bits/prefetch.hpp"

#include <algorithm>

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMHASH_X86 1
#include <immintrin.h>
#endif

namespace simhash {

using namespace leaf_detail;

namespace {

constexpr size_t words_for(size_t bits) {
    return (bits + 63) / 64;
}

// What the header says beside the first key: the widths, from which all sizes follow.
struct RunShape {
    unsigned low_bits, block_bits, offset_bits;
    size_t low_words, unary_words, tid_words;

    size_t bytes() const { return sizeof(RunHeader) + 8 * (low_words + unary_words + tid_words); }
};

// Low bits that make low and unary words fewest. Each term is no greater for a smaller count and
// range at the same width, and so is the least sum: a part never encodes larger.
unsigned best_low_bits(uint64_t range, uint64_t count) {
    auto bits = [=](unsigned width) { return count * width + (range >> width); };
    auto words = [=](unsigned width) {
        return words_for(count * width) + words_for(count + (range >> width));
    };
    // The gain of one more bit, ceil((range >> width) / 2) - count, only falls, so the bits are
    // fewest at the first width without gain.
    unsigned needed = std::bit_width(range), counted = std::bit_width(count);
    unsigned fewest_bits = needed > counted + 2 ? needed - counted - 2 : 0;
    while (fewest_bits < 63) {
        uint64_t rest = range >> fewest_bits;
        if (rest / 2 + (rest & 1) <= count)
            break;
        fewest_bits++;
    }
    // Rounding adds less than two words, and bits rise on both sides: what has 128 more, and all
    // beyond it, has no fewer words.
    uint64_t limit = bits(fewest_bits) + 128;
    unsigned best = fewest_bits;
    for (unsigned width = fewest_bits; width-- > 0 && bits(width) < limit;)
        if (words(width) < words(best))
            best = width;
    for (unsigned width = fewest_bits + 1; width <= 63 && bits(width) < limit; width++)
        if (words(width) < words(best))
            best = width;
    return best;
}

RunShape shape_of(LeafKind kind, uint64_t count, uint64_t range, uint32_t block_range,
                  uint32_t greatest_offset) {
    RunShape shape{};
    if (count == 0)
        return shape;
    shape.low_bits = best_low_bits(range, count);
    shape.low_words = words_for(count * shape.low_bits);
    shape.unary_words = words_for(count + (range >> shape.low_bits));
    if (kind == LeafKind::kPosting) {
        shape.block_bits = std::bit_width(block_range);
        shape.offset_bits = std::bit_width(greatest_offset);
        shape.tid_words = words_for(count * (shape.block_bits + shape.offset_bits));
    }
    return shape;
}

struct TidBounds {
    uint32_t least_block = 0, greatest_block = 0, greatest_offset = 0;
};

TidBounds tid_bounds(const LeafEntry* entries, int count) {
    TidBounds bounds;
    if (count == 0)
        return bounds;
    bounds.least_block = UINT32_MAX;
    for (int i = 0; i < count; i++) {
        uint32_t block = uint32_t(entries[i].tid >> 16);
        bounds.least_block = std::min(bounds.least_block, block);
        bounds.greatest_block = std::max(bounds.greatest_block, block);
        bounds.greatest_offset =
            std::max(bounds.greatest_offset, uint32_t(entries[i].tid & 0xffff));
    }
    return bounds;
}

RunShape shape_of(LeafKind kind, const LeafEntry* entries, int count, const TidBounds& bounds) {
    if (count == 0)
        return RunShape{};
    return shape_of(kind, count, entries[count - 1].key - entries[0].key,
                    bounds.greatest_block - bounds.least_block, bounds.greatest_offset);
}

// Writes fields of fixed width one after another into words that were zeroed before.
class BitWriter {
  public:
    explicit BitWriter(uint8_t* words) : words_(words) {}

    void write(uint64_t value, unsigned width) {
        if (width == 0)
            return;
        pending_ |= value << filled_;
        if (filled_ + width >= 64) {
            memcpy(words_, &pending_, 8);
            words_ += 8;
            unsigned used = 64 - filled_;
            pending_ = used < width ? value >> used : 0;
            filled_ = filled_ + width - 64;
        } else {
            filled_ += width;
        }
    }
    void finish() {
        if (filled_ > 0)
            memcpy(words_, &pending_, 8);
    }

  private:
    uint8_t* words_;
    uint64_t pending_ = 0;
    unsigned filled_ = 0;
};

void write_unary(const LeafEntry* entries, int count, unsigned low_bits, uint8_t* words) {
    for (int i = 0; i < count; i++) {
        uint64_t position = ((entries[i].key - entries[0].key) >> low_bits) + i;
        uint64_t word = read_word(words, position >> 6) | uint64_t{1} << (position & 63);
        memcpy(words + (position >> 6) * 8, &word, 8);
    }
}

Ranks count_ranks(const uint8_t* unary, size_t unary_words, size_t section_words) {
    Ranks ranks;
    size_t word = 0;
    int entries = 0;
    for (int i = 0; i < kUnarySections - 1; i++) {
        for (; word < std::min((i + 1) * section_words, unary_words); word++)
            entries += std::popcount(read_word(unary, word));
        ranks[i] = uint16_t(entries);
    }
    return ranks;
}

// Entries that come from a damaged page may be in any order, and would be written anywhere.
bool keys_ascend(const LeafEntry* entries, int count) {
    bool ascend = true;
    for (int i = 1; i < count; i++)
        ascend &= entries[i - 1].key <= entries[i].key;
    return ascend;
}

} // namespace

void LeafShape::prefetch(const uint8_t* body, size_t size, double from, double to) const {
    auto fetch = [&](double first_word, double last_word) {
        auto at = int64_t(sizeof(RunHeader)) + 8 * std::max(int64_t(first_word), int64_t{0});
        auto end = std::min(int64_t(sizeof(RunHeader)) + 8 * int64_t(last_word), int64_t(size));
        for (; at < end; at += 64)
            simhash::prefetch(body + at);
    };
    // Words more at each end, as keys are never spread quite evenly.
    fetch(from * low_words - 16, to * low_words + 16);
    fetch(low_words + from * unary_words - 8, low_words + to * unary_words + 4);
}

bool LeafReader::open(const uint8_t* body, size_t size, LeafKind kind) {
    if (size < sizeof(RunHeader))
        return false;
    memcpy(&header_, body, sizeof(RunHeader));
    kind_ = kind;
    if (header_.kind != uint8_t(kind) || header_.low_bits > 63 || header_.block_bits > 32 ||
        header_.offset_bits > 16 || header_.run_bytes > size || header_.count > kMaxLeafEntries)
        return false;
    size_t low_words = words_for(size_t(header_.count) * header_.low_bits);
    size_t tid_words =
        words_for(size_t(header_.count) * (header_.block_bits + header_.offset_bits));
    if (kind == LeafKind::kBlock && tid_words != 0)
        return false;
    if (header_.count > 0 && header_.unary_words == 0)
        return false;
    if (sizeof(RunHeader) + 8 * (low_words + header_.unary_words + tid_words) != header_.run_bytes)
        return false;
    size_t tail_bytes = size - header_.run_bytes;
    if (tail_bytes % tail_entry_bytes(kind) != 0)
        return false;
    tail_count_ = int(tail_bytes / tail_entry_bytes(kind));
    low_ = body + sizeof(RunHeader);
    unary_ = low_ + 8 * low_words;
    tids_ = unary_ + 8 * size_t(header_.unary_words);
    tail_ = body + header_.run_bytes;
    return tail_count_ <= kMaxTailEntries && count() <= kMaxLeafEntries;
}

namespace {

// The suffixes of a run's keys, and what a search compares them with.
struct Suffixes {
    const uint8_t* words;
    unsigned low_bits;
    uint32_t target;
    int radius;
};

// The innermost loops of the search, as any processor runs them.
struct PortableLoops {
    // Position of the n-th set bit, n > 0; there are so many.
    [[gnu::always_inline]] static int nth_one(uint64_t bits, uint64_t n) {
        for (; n > 1; n--)
            bits &= bits - 1;
        return std::countr_zero(bits);
    }

    // Writes the places from begin to end (excluded) where the suffix is within the radius of the
    // target's to `hits`, which has room for one more; returns their number.
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
};

#ifdef SIMHASH_X86
[[gnu::always_inline]] inline int add_places(int first, unsigned found, LeafReader::Hit* hits) {
    int count = 0;
    for (; found != 0; found &= found - 1)
        hits[count++].place = first + std::countr_zero(found);
    return count;
}

#define SIMHASH_AVX2 "popcnt,avx2"

// With AVX2: eight at once.
struct Avx2Loops : PortableLoops {
    __attribute__((target(SIMHASH_AVX2))) static int
    near_places(const Suffixes& suffixes, int begin, int end, LeafReader::Hit* hits) {
        __m256i target = _mm256_set1_epi32(int(suffixes.target));
        __m256i radius = _mm256_set1_epi32(suffixes.radius + 1);
        // The ones of each half byte are looked up, and summed.
        __m256i half = _mm256_set1_epi8(0x0f);
        __m256i ones = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2,
                                        1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
        int near = 0, i = begin & ~7;
        for (; i + 8 <= end; i += 8) {
            const uint8_t* at = suffixes.words + suffix_offset(suffixes.low_bits, i);
            __m256i differing =
                _mm256_xor_si256(target, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
            __m256i count = _mm256_add_epi8(
                _mm256_shuffle_epi8(ones, _mm256_and_si256(differing, half)),
                _mm256_shuffle_epi8(ones, _mm256_and_si256(_mm256_srli_epi16(differing, 4), half)));
            __m256i distance = _mm256_madd_epi16(_mm256_maddubs_epi16(count, _mm256_set1_epi8(1)),
                                                 _mm256_set1_epi16(1));
            __m256i within = _mm256_cmpgt_epi32(radius, distance);
            unsigned found = unsigned(_mm256_movemask_ps(_mm256_castsi256_ps(within)));
            if (i < begin)
                found &= ~0u << (begin - i);
            near += add_places(i, found, hits + near);
        }
        return near + PortableLoops::near_places(suffixes, std::max(i, begin), end, hits + near);
    }
};

#define SIMHASH_AVX512 "popcnt,bmi2,avx512f,avx512vpopcntdq"

// With AVX-512: a group at once.
struct Avx512Loops {
    __attribute__((target(SIMHASH_AVX512))) static int nth_one(uint64_t bits, uint64_t n) {
        return std::countr_zero(_pdep_u64(uint64_t{1} << (n - 1), bits));
    }

    __attribute__((target(SIMHASH_AVX512))) static int
    near_places(const Suffixes& suffixes, int begin, int end, LeafReader::Hit* hits) {
        __m512i target = _mm512_set1_epi32(int(suffixes.target));
        __m512i radius = _mm512_set1_epi32(suffixes.radius);
        static_assert(kGroupEntries == 16);
        int near = 0;
        int i = begin & ~15;
        const uint8_t* group = suffixes.words + suffix_offset(suffixes.low_bits, i);
        for (; i < end; i += 16, group += suffix_offset(suffixes.low_bits, 16)) {
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
};
#endif

} // namespace

// The body of keys_within(). Decoding every key of a probe's run bit by bit would take most of the
// probe's time. So suffixes are compared first, or low parts where they are narrower, and only
// where they are within the radius the key is decoded.
template <class Loops>
class WithinRadius {
  public:
    [[gnu::always_inline]] WithinRadius(const LeafReader& reader, uint64_t low, uint64_t high,
                                        uint64_t target, int radius, LeafReader::Hit* hits)
        : reader_(reader), low_(low), high_(high), target_(target), radius_(radius), hits_(hits) {}

    [[gnu::always_inline]] int find() {
        const RunHeader& header = reader_.header_;
        if (low_ > high_)
            return 0;
        if (header.count > 0 && high_ >= header.first_key) {
            // Wider radii, or fewer low bits, would let too many keys pass.
            if (reader_.has_suffixes() ? radius_ <= kMaxSuffixRadius
                                       : header.low_bits >= 4 * radius_ + 8)
                find_by_low_bits();
            else
                reader_.visit_run(
                    low_, high_, [this](uint64_t key, int place) __attribute__((always_inline)) {
                        take(key, place);
                    });
        }
        for (int i = 0; i < reader_.tail_count(); i++) {
            uint64_t key = reader_.tail_key(i);
            if (low_ <= key && key <= high_)
                take(key, reader_.run_count() + i);
        }
        return found_;
    }

  private:
    // Of random suffixes 30 % are within 14 bits: with more, decoding them all is no slower.
    static constexpr int kMaxSuffixRadius = 14;

    [[gnu::always_inline]] void take(uint64_t key, int place) {
        hits_[found_] = {key, place};
        found_ += std::popcount(key ^ target_) <= radius_;
    }

    // Where the entries of a high part begin: how many stand before them, and the unary word of the
    // clear bit behind those, the high_part-th.
    struct Start {
        int entries;
        LeafReader::UnaryPlace at;
    };
    [[gnu::always_inline]] Start start_of(uint64_t high_part) const {
        const RunHeader& header = reader_.header_;
        LeafReader::UnaryPlace at = reader_.section_before(high_part);
        if (high_part == 0)
            return {0, at};
        for (; at.word < header.unary_words; at.word++) {
            uint64_t holes = ~read_word(reader_.unary_, at.word);
            unsigned clear = std::popcount(holes);
            if (at.clear_before + clear >= high_part) {
                uint64_t position =
                    uint64_t(at.word) * 64 + Loops::nth_one(holes, high_part - at.clear_before);
                return {int(std::min<uint64_t>(position + 1 - high_part, header.count)), at};
            }
            at.clear_before += clear;
        }
        return {header.count, at};
    }

    // As Loops::near_places(), for low parts that are narrower than suffixes.
    [[gnu::always_inline]] int near_low_parts(int begin, int end) {
        uint64_t first_key = reader_.header_.first_key;
        uint64_t mask = (uint64_t{1} << reader_.header_.low_bits) - 1;
        int near = 0;
        LeafReader::LowParts low_parts(reader_, size_t(begin));
        for (int i = begin; i < end; i++) {
            hits_[near].place = i;
            uint64_t key = first_key + low_parts.next();
            near += std::popcount((key ^ target_) & mask) <= radius_;
        }
        return near;
    }

    [[gnu::always_inline]] void find_by_low_bits() {
        const RunHeader& header = reader_.header_;
        unsigned low_bits = header.low_bits;
        uint64_t first = low_ > header.first_key ? (low_ - header.first_key) >> low_bits : 0;
        Start start = start_of(first);
        int begin = start.entries;
        int end = start_of(((high_ - header.first_key) >> low_bits) + 1).entries;
        int near = reader_.has_suffixes()
                       ? Loops::near_places({reader_.low_, low_bits, uint32_t(target_), radius_},
                                            begin, end, hits_)
                       : near_low_parts(begin, end);

        // So many entries stand before the word.
        int word = start.at.word, entries = int(uint64_t(word) * 64 - start.at.clear_before);
        for (int i = 0; i < near; i++) {
            int place = hits_[i].place;
            uint64_t ones = 0;
            for (; word < header.unary_words; word++) {
                ones = read_word(reader_.unary_, word);
                int count = std::popcount(ones);
                if (entries + count > place)
                    break;
                entries += count;
            }
            if (word == header.unary_words)
                return;
            uint64_t high_part =
                uint64_t(word) * 64 + Loops::nth_one(ones, place - entries + 1) - place;
            uint64_t key =
                header.first_key + (high_part << low_bits | reader_.low_part(size_t(place)));
            if (low_ <= key && key <= high_)
                take(key, place);
        }
    }

    const LeafReader& reader_;
    uint64_t low_, high_, target_;
    int radius_;
    LeafReader::Hit* hits_;
    int found_ = 0;
};

namespace {

// popcount is one instruction on any x86 processor of the last 15 years, but not on the least that
// the compiler must assume; and some do several at once. So the search is compiled for each, and
// the processor asked.
using Search = int (*)(const LeafReader&, uint64_t low, uint64_t high, uint64_t target, int radius,
                       LeafReader::Hit* hits);

int search(const LeafReader& reader, uint64_t low, uint64_t high, uint64_t target, int radius,
           LeafReader::Hit* hits) {
    return WithinRadius<PortableLoops>(reader, low, high, target, radius, hits).find();
}

#ifdef SIMHASH_X86
__attribute__((target("popcnt"))) int search_popcnt(const LeafReader& reader, uint64_t low,
                                                    uint64_t high, uint64_t target, int radius,
                                                    LeafReader::Hit* hits) {
    return WithinRadius<PortableLoops>(reader, low, high, target, radius, hits).find();
}

__attribute__((target(SIMHASH_AVX2))) int search_avx2(const LeafReader& reader, uint64_t low,
                                                      uint64_t high, uint64_t target, int radius,
                                                      LeafReader::Hit* hits) {
    return WithinRadius<Avx2Loops>(reader, low, high, target, radius, hits).find();
}

__attribute__((target(SIMHASH_AVX512))) int search_avx512(const LeafReader& reader, uint64_t low,
                                                          uint64_t high, uint64_t target,
                                                          int radius, LeafReader::Hit* hits) {
    return WithinRadius<Avx512Loops>(reader, low, high, target, radius, hits).find();
}
#endif

Search best_search(SearchLevel level) {
#ifdef SIMHASH_X86
    if (level >= SearchLevel::kAvx512 && __builtin_cpu_supports("avx512vpopcntdq") &&
        __builtin_cpu_supports("bmi2"))
        return search_avx512;
    if (level >= SearchLevel::kAvx2 && __builtin_cpu_supports("avx2"))
        return search_avx2;
    if (level >= SearchLevel::kPopcnt && __builtin_cpu_supports("popcnt"))
        return search_popcnt;
#endif
    return search;
}

} // namespace

int LeafReader::keys_within(uint64_t low, uint64_t high, uint64_t target, int radius, Hit* hits,
                            SearchLevel level) const {
    return best_search(level)(*this, low, high, target, radius, hits);
}

bool LeafReader::ranks_agree() const {
    return header_.ranks == count_ranks(unary_, header_.unary_words, header_.section_words());
}

bool LeafReader::contains_key(uint64_t key) const {
    bool found = false;
    visit_run(key, key, [&](uint64_t, int) { found = true; });
    for (int i = 0; i < tail_count_; i++)
        found |= tail_key(i) == key;
    return found;
}

int LeafReader::decode_run(LeafEntry* out) const {
    int n = 0;
    bool posting = kind_ == LeafKind::kPosting;
    visit_run(0, UINT64_MAX, [&](uint64_t key, int i) {
        out[n++] = {key, posting ? run_tid(i) : uint64_t{0}};
    });
    return n;
}

int LeafReader::decode_sorted(LeafEntry* out) const {
    int run = decode_run(out);
    int total = run;
    LeafEntry tail[kMaxTailEntries];
    for (int i = 0; i < tail_count_; i++)
        tail[i] = tail_entry(i);
    std::sort(tail, tail + tail_count_);
    // Merge from the back, in place.
    total += tail_count_;
    int to = total - 1, from = run - 1, t = tail_count_ - 1;
    while (t >= 0) {
        if (from >= 0 && out[from] > tail[t])
            out[to--] = out[from--];
        else
            out[to--] = tail[t--];
    }
    return total;
}

size_t encoded_run_bytes(LeafKind kind, const LeafEntry* entries, int count) {
    TidBounds bounds = kind == LeafKind::kPosting ? tid_bounds(entries, count) : TidBounds{};
    return shape_of(kind, entries, count, bounds).bytes();
}

void RunSizer::add(LeafEntry entry) {
    uint32_t block = uint32_t(entry.tid >> 16);
    if (count_ == 0) {
        first_key_ = entry.key;
        least_block_ = greatest_block_ = block;
        greatest_offset_ = 0;
    }
    last_key_ = entry.key;
    least_block_ = std::min(least_block_, block);
    greatest_block_ = std::max(greatest_block_, block);
    greatest_offset_ = std::max(greatest_offset_, uint32_t(entry.tid & 0xffff));
    count_++;
}

size_t RunSizer::bytes_with(LeafEntry entry) const {
    RunSizer grown = *this;
    grown.add(entry);
    return shape_of(kind_, grown.count_, grown.last_key_ - grown.first_key_,
                    grown.greatest_block_ - grown.least_block_, grown.greatest_offset_)
        .bytes();
}

size_t encode_run(LeafKind kind, const LeafEntry* entries, int count, uint8_t* out,
                  size_t capacity) {
    TidBounds bounds = kind == LeafKind::kPosting ? tid_bounds(entries, count) : TidBounds{};
    RunShape shape = shape_of(kind, entries, count, bounds);
    if (shape.bytes() > capacity || count > kMaxLeafEntries || !keys_ascend(entries, count))
        return 0;
    memset(out, 0, shape.bytes());
    RunHeader header{};
    header.kind = uint8_t(kind);
    header.count = uint16_t(count);
    header.run_bytes = uint16_t(shape.bytes());
    header.first_key = count > 0 ? entries[0].key : 0;
    header.first_block = bounds.least_block;
    header.unary_words = uint16_t(shape.unary_words);
    header.low_bits = uint8_t(shape.low_bits);
    header.block_bits = uint8_t(shape.block_bits);
    header.offset_bits = uint8_t(shape.offset_bits);
    uint8_t* words = out + sizeof(RunHeader);
    BitWriter low(words);
    unsigned suffix_bits = shape.low_bits >= kSuffixBits ? kSuffixBits : 0;
    unsigned rest_bits = shape.low_bits - suffix_bits;
    uint64_t rest_mask = (uint64_t{1} << rest_bits) - 1;
    for (int first = 0; first < count; first += kGroupEntries) {
        int end = std::min(first + int(kGroupEntries), count);
        for (int i = first; suffix_bits > 0 && i < end; i++)
            low.write(uint32_t(entries[i].key), kSuffixBits);
        for (int i = first; i < end; i++)
            low.write((entries[i].key - header.first_key) >> suffix_bits & rest_mask, rest_bits);
    }
    low.finish();
    uint8_t* unary = words + 8 * shape.low_words;
    write_unary(entries, count, shape.low_bits, unary);
    header.ranks = count_ranks(unary, shape.unary_words, header.section_words());
    memcpy(out, &header, sizeof(header));
    if (shape.tid_words > 0) {
        BitWriter tids(words + 8 * (shape.low_words + shape.unary_words));
        for (int i = 0; i < count; i++) {
            uint64_t block = (entries[i].tid >> 16) - bounds.least_block;
            tids.write(block << shape.offset_bits | (entries[i].tid & 0xffff),
                       shape.block_bits + shape.offset_bits);
        }
        tids.finish();
    }
    return shape.bytes();
}

size_t encode_tail_entry(LeafKind kind, LeafEntry entry, uint8_t* out) {
    memcpy(out, &entry.key, 8);
    if (kind == LeafKind::kPosting) {
        uint16_t part[3] = {uint16_t(entry.tid >> 32), uint16_t(entry.tid >> 16),
                            uint16_t(entry.tid)};
        memcpy(out + 8, part, 6);
    }
    return tail_entry_bytes(kind);
}

} // namespace simhash
