// Writing a leaf, checking its sizes and decoding it; see the header. Searches are in search.cpp.
#include "core/leaf/codec.hpp"

#include "core/bits/memory.hpp"
#include "core/bits/sort.hpp"

namespace simhash {

using namespace leaf_detail;

namespace {

// The number of low bits with the fewest low and unary words. At the same width, a smaller count
// and range make neither term greater, nor the least sum: a part is never larger than the whole.
unsigned best_low_bits(uint64_t range, uint64_t count) {
    // These are the bits that depend on the width: the low parts, and the clear bits of the unary
    // words. The set bits are always `count`.
    auto bits = [=](unsigned width) { return count * width + (range >> width); };
    auto words = [=](unsigned width) {
        return words_for(count * width) + words_for(count + (range >> width));
    };
    // The gain of one more bit, ceil((range >> width) / 2) - count, only falls, so the bits are
    // fewest at the first width without gain.
    // The best width is near log2(range / count). The loop begins a little below and goes up.
    unsigned needed = std::bit_width(range), counted = std::bit_width(count);
    unsigned fewest_bits = needed > counted + 2 ? needed - counted - 2 : 0;
    while (fewest_bits < 63) {
        uint64_t rest = range >> fewest_bits;
        if (rest / 2 + (rest & 1) <= count)
            break;
        fewest_bits++;
    }
    // Rounding adds less than two words, and the number of bits rises on both sides: a width with
    // 128 bits more, and every width beyond it, has no fewer words.
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

// The header of these entries without the ranks, from which all sizes follow. The bounds are those
// of the entries' TIDs, which a block table has not.
PackedHeader header_of(LeafKind kind, const Entry* entries, int count, const TidBounds& bounds) {
    PackedHeader header{};
    // A reader refuses a leaf of the other kind, whose entries have another size.
    header.kind = uint8_t(kind);
    header.count = uint16_t(count);
    if (count > 0) {
        header.first_key = entries[0].key;
        // The last key has the greatest high part, so it tells how many clear bits there are.
        uint64_t range = entries[count - 1].key - entries[0].key;
        header.low_bits = uint8_t(best_low_bits(range, uint64_t(count)));
        header.unary_words = uint16_t(words_for(uint64_t(count) + (range >> header.low_bits)));
    }
    if (count > 0 && kind == LeafKind::kPosting) {
        // Rows that are inserted together are near in the table, so what is above the least block
        // takes few bits.
        header.first_block = bounds.least_block;
        // Fields of one width, so that TID i is found without reading those before it.
        header.block_bits = uint8_t(std::bit_width(bounds.greatest_block - bounds.least_block));
        header.offset_bits = uint8_t(std::bit_width(bounds.greatest_offset));
    }
    header.packed_bytes = uint16_t(header.bytes());
    return header;
}

TidBounds bounds_of(LeafKind kind, const Entry* entries, int count) {
    TidBounds bounds;
    for (int i = 0; kind == LeafKind::kPosting && i < count; i++)
        bounds.add(entries[i].tid);
    return bounds;
}

// Sets bits of a word that are clear.
void set_bits(uint8_t* words, size_t index, uint64_t bits) {
    uint64_t word = read_word(words, index) | bits;
    memcpy(words + index * 8, &word, 8);
}

// Writes fields of fixed width one after another into words that were zeroed before.
class BitWriter {
  public:
    explicit BitWriter(uint8_t* words) : words_(words) {}

    // The value must have no bits above the width.
    void write(uint64_t value, unsigned width) {
        if (width == 0)
            return; // there may be no word any more
        unsigned shift = position_ & 63;
        set_bits(words_, position_ >> 6, value << shift);
        if (shift + width > 64)
            set_bits(words_, (position_ >> 6) + 1, value >> (64 - shift));
        position_ += width;
    }

  private:
    uint8_t* words_;
    size_t position_ = 0; // of the next field, in bits
};

// Entry i sets the bit at its high part + i. The words were zeroed before.
void write_unary(const Entry* entries, int count, unsigned low_bits, uint8_t* words) {
    for (int i = 0; i < count; i++) {
        // Adding i keeps positions distinct where high parts are equal.
        uint64_t position = ((entries[i].key - entries[0].key) >> low_bits) + i;
        set_bits(words, position >> 6, uint64_t{1} << (position & 63));
    }
}

// A section beyond the words adds no entries, so its rank is that of the one before.
Ranks count_ranks(const uint8_t* unary, const PackedHeader& header) {
    Ranks ranks;
    size_t section_words = header.section_words(), unary_words = header.unary_words, word = 0;
    int entries = 0;
    for (int i = 0; i < kUnarySections - 1; i++) {
        for (; word < std::min((i + 1) * section_words, unary_words); word++)
            entries += std::popcount(read_word(unary, word));
        ranks[i] = uint16_t(entries);
    }
    return ranks;
}

// Entries of a damaged page may be in any order, and would be written outside of the packed part.
bool keys_ascend(const Entry* entries, int count) {
    bool ascend = true;
    for (int i = 1; i < count; i++)
        // Without a branch: nearly all leaves are in order.
        ascend &= entries[i - 1].key <= entries[i].key;
    return ascend;
}

} // namespace

void LeafShape::prefetch(const uint8_t* body, size_t size, double from, double to) const {
    // Some words before and after as well, because keys are not spread quite evenly.
    // `first_word` counts from the end of the header. The fractions say which part of these words.
    auto fetch = [&](int first_word, int words, int before, int after) {
        int from_word = std::max(first_word + int(from * words) - before, 0);
        size_t at = sizeof(PackedHeader) + 8 * size_t(from_word);
        size_t end = sizeof(PackedHeader) + 8 * size_t(first_word + int(to * words) + after);
        for (end = std::min(end, size); at < end; at += 64)
            simhash::prefetch(body + at);
    };
    fetch(0, low_words, 16, 16);
    fetch(low_words, unary_words, 8, 4);
    if (tid_words > 0)
        fetch(low_words + unary_words, tid_words, 4, 4);
}

bool LeafReader::open(const uint8_t* body, size_t size, LeafKind kind) {
    if (size < sizeof(PackedHeader))
        return false;
    memcpy(&header_, body, sizeof(PackedHeader));
    kind_ = kind;
    // The widths and counts come first, so that the products below cannot wrap around.
    if (header_.kind != uint8_t(kind) || header_.low_bits > 63 || header_.block_bits > 32 ||
        header_.offset_bits > 16 || header_.packed_bytes > size || header_.count > kMaxLeafEntries)
        return false;
    if (kind == LeafKind::kBlock && header_.tid_words() != 0)
        return false;
    // Searches read a unary word where there is an entry.
    if (header_.count > 0 && header_.unary_words == 0)
        return false;
    // All words must be inside of the packed part, and leave no gap.
    if (header_.bytes() != header_.packed_bytes)
        return false;
    size_t tail_bytes = size - header_.packed_bytes;
    if (tail_bytes % tail_entry_bytes(kind) != 0)
        return false;
    // What follows the packed part is tail: its length is not stored.
    tail_count_ = int(tail_bytes / tail_entry_bytes(kind));
    low_ = body + sizeof(PackedHeader);
    unary_ = low_ + 8 * header_.low_words();
    tids_ = unary_ + 8 * size_t(header_.unary_words);
    tail_ = body + header_.packed_bytes;
    return tail_count_ <= kMaxTailEntries && count() <= kMaxLeafEntries;
}

bool LeafReader::ranks_agree() const { return header_.ranks == count_ranks(unary_, header_); }

bool LeafReader::contains_key(uint64_t key) const {
    bool found = false;
    // Equal keys are neighbours, so this decodes few.
    visit_packed(key, key, [&](uint64_t, int) { found = true; });
    for (int i = 0; i < tail_count_; i++)
        found |= tail_key(i) == key;
    return found;
}

int LeafReader::decode_packed(Entry* out) const {
    int n = 0;
    bool posting = kind_ == LeafKind::kPosting;
    visit_packed(0, UINT64_MAX, [&](uint64_t key, int i) {
        out[n++] = {key, posting ? packed_tid(i) : uint64_t{0}};
    });
    return n;
}

int LeafReader::decode_tail(Entry* out) const {
    for (int i = 0; i < tail_count_; i++)
        out[i] = tail_entry(i);
    return tail_count_;
}

int LeafReader::decode_sorted(Entry* out) const {
    Entry tail[kMaxTailEntries];
    Entry* tail_end = tail + decode_tail(tail);
    sort_ascending(tail, tail_end);
    // The packed part stands behind room for the tail. So the merge writes over nothing unread, and
    // once the tail is merged, what is left of the packed part is in its place.
    Entry* packed = out + tail_count_;
    Entry* packed_end = packed + decode_packed(packed);
    for (Entry *next = tail, *to = out; next < tail_end; to++)
        *to = packed < packed_end && *packed < *next ? *packed++ : *next++;
    return int(packed_end - out);
}

size_t bytes_when_packed(LeafKind kind, const Entry* entries, int count) {
    return header_of(kind, entries, count, bounds_of(kind, entries, count)).bytes();
}

size_t PackedSizes::bytes(int count) {
    TidBounds bounds;
    if (kind_ == LeafKind::kPosting) {
        // The counts that are asked for go up and down; each entry adds to bounds_ once.
        for (; known_ < count / kStride; known_++) {
            bounds_[known_ + 1] = bounds_[known_];
            for (int i = known_ * kStride; i < (known_ + 1) * kStride; i++)
                bounds_[known_ + 1].add(entries_[i].tid);
        }
        bounds = bounds_[count / kStride];
        for (int i = count / kStride * kStride; i < count; i++)
            bounds.add(entries_[i].tid);
    }
    return header_of(kind_, entries_, count, bounds).bytes();
}

int PackedSizes::most_within(size_t limit, int most, int guess) {
    // The sizes do not fall, so the search may step and halve.
    return last_that_holds(0, most + 1, guess, 8, [&](int count) { return bytes(count) <= limit; });
}

size_t encode_packed(LeafKind kind, const Entry* entries, int count, uint8_t* out,
                     size_t capacity) {
    TidBounds bounds = bounds_of(kind, entries, count);
    PackedHeader header = header_of(kind, entries, count, bounds);
    size_t bytes = header.bytes();
    if (bytes > capacity || count > kMaxLeafEntries || !keys_ascend(entries, count))
        return 0;
    memset(out, 0, bytes);
    uint8_t* words = out + sizeof(PackedHeader);
    BitWriter low(words);
    unsigned suffix_bits = header.low_bits >= kSuffixBits ? kSuffixBits : 0;
    unsigned rest_bits = header.low_bits - suffix_bits;
    uint64_t rest_mask = (uint64_t{1} << rest_bits) - 1;
    for (int first = 0; first < count; first += kGroupEntries) {
        int end = std::min(first + int(kGroupEntries), count);
        for (int i = first; suffix_bits > 0 && i < end; i++)
            low.write(uint32_t(entries[i].key), kSuffixBits);
        for (int i = first; i < end; i++)
            low.write((entries[i].key - header.first_key) >> suffix_bits & rest_mask, rest_bits);
    }
    uint8_t* unary = words + 8 * header.low_words();
    write_unary(entries, count, header.low_bits, unary);
    header.ranks = count_ranks(unary, header);
    memcpy(out, &header, sizeof(header));
    if (header.tid_words() > 0) {
        BitWriter tids(unary + 8 * size_t(header.unary_words));
        for (int i = 0; i < count; i++) {
            uint64_t block = (entries[i].tid >> 16) - header.first_block;
            // One field for both: the reader takes them apart by the offset's width.
            tids.write(block << header.offset_bits | (entries[i].tid & 0xffff), header.tid_bits());
        }
    }
    return bytes;
}

size_t encode_tail_entry(LeafKind kind, Entry entry, uint8_t* out) {
    memcpy(out, &entry.key, 8);
    if (kind == LeafKind::kPosting)
        write_tid(out + 8, entry.tid);
    return tail_entry_bytes(kind);
}

size_t encode_body(LeafKind kind, std::span<const Entry> packed, std::span<const Entry> tail,
                   uint8_t* out, size_t capacity) {
    size_t bytes = encode_packed(kind, packed.data(), int(packed.size()), out, capacity);
    if (bytes == 0 || tail.size() > kMaxTailEntries ||
        bytes + tail.size() * tail_entry_bytes(kind) > capacity)
        return 0;
    for (const Entry& entry : tail)
        bytes += encode_tail_entry(kind, entry, out + bytes);
    return bytes;
}

} // namespace simhash
