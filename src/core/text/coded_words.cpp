// See coded_words.hpp.
#include "core/text/coded_words.hpp"

#include <algorithm>

namespace simhash {
namespace {

constexpr size_t kLeastPlaces = 256;
constexpr size_t kSeenShare = 4; // 16 bits for a place

} // namespace

WordTable::WordTable(Memory memory, size_t bytes)
    : memory_(memory),
      places_(std::bit_floor(std::clamp(bytes, kLeastPlaces * sizeof(ShortWord), kMostBytes) /
                             sizeof(ShortWord))),
      words_(allocate_array<ShortWord>(memory, places_)),
      seen_(allocate_array<uint64_t>(memory, places_ / kSeenShare)) {
    std::fill_n(words_, places_, ShortWord{});
    std::fill_n(seen_, places_ / kSeenShare, 0);
}

WordTable::WordTable(Memory memory, std::span<const uint8_t> bytes)
    : WordTable(memory, bytes.size()) {
    memcpy(words_, bytes.data(), bytes.size());
}

// Most words of a language are met once in many documents. So a word is only noted, by a bit of its
// hash, when it is met first, and gets a place when it is met again.
uint16_t WordTable::add(const ShortWord& word, uint64_t hash, size_t place) {
    size_t end = place + kBucket;
    while (place < end && words_[place].size() != 0)
        place++;
    if (place == end)
        return 0;
    // With too many bits all words would count as met.
    if (noted_++ == places_) {
        std::fill_n(seen_, places_ / kSeenShare, 0);
        noted_ = 0;
    }
    uint64_t& seen = seen_[size_t(hash >> 6) & (places_ / kSeenShare - 1)];
    uint64_t bit = uint64_t{1} << (hash & 63);
    if ((seen & bit) == 0) {
        seen |= bit;
        return 0;
    }
    words_[place] = word;
    return uint16_t(place);
}

void WordTable::release() {
    memory_.release(memory_.context, words_);
    memory_.release(memory_.context, seen_);
}

} // namespace simhash
