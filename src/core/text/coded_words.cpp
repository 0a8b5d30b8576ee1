// See coded_words.hpp.
#include "core/text/coded_words.hpp"

#include <algorithm>
#include <bit>

#include "core/bits/standalone.hpp"

namespace simhash {

namespace {

constexpr size_t kLeastPlaces = 256, kMostPlaces = size_t{1} << 16; // numbers have 16 bits
constexpr size_t kSeenShare = 4;                                    // 16 bits for a place
constexpr size_t kFewWords = 4096; // that are spelled out before there is a table

} // namespace

// At first all places are taken, by what is no word.
WordTable::WordTable(Memory memory, size_t bytes)
    : memory_(memory),
      most_(std::bit_floor(std::clamp(bytes / sizeof(ShortWord), kLeastPlaces, kMostPlaces))) {
    memset(few_, 0xff, sizeof(few_));
}

WordTable::WordTable(Memory memory, std::span<const uint8_t> bytes)
    : WordTable(memory, bytes.size()) {
    make(bytes.size() / sizeof(ShortWord));
    memcpy(words_, bytes.data(), bytes.size());
}

void WordTable::make(size_t places) {
    // Each bucket is a line of the cache.
    constexpr size_t kLine = kBucket * sizeof(ShortWord);
    places_ = places;
    made_ = memory_.allocate(memory_.context, places * sizeof(ShortWord) + kLine);
    words_ = reinterpret_cast<ShortWord*>((reinterpret_cast<uintptr_t>(made_) / kLine + 1) * kLine);
    std::fill_n(words_, places, ShortWord{});
}

// Most words of a language are met once in many documents. So a word is only noted, by a bit of its
// hash, when it is met first, and gets a place when it is met again.
uint16_t WordTable::add(const ShortWord& word, uint64_t hash, size_t place) {
    size_t end = place + kBucket;
    while (place < end && words_[place].size() != 0)
        place++;
    if (place == end) {
        // A table for few words would cost more than it saves.
        if (made_ == nullptr && ++noted_ == kFewWords) {
            make(most_);
            seen_ = allocate_array<uint64_t>(memory_, places_ / kSeenShare);
            std::fill_n(seen_, places_ / kSeenShare, 0);
            noted_ = 0;
        }
        return 0;
    }
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
    for (void* memory : {made_, static_cast<void*>(seen_)})
        if (memory != nullptr)
            memory_.release(memory_.context, memory);
}

uint8_t* WordCoder::room(size_t bytes) {
    used_ = 0;
    if (room_ < bytes + kWordRoom)
        make_room(bytes + kWordRoom);
    used_ = bytes;
    return coded_;
}

void WordCoder::make_room(size_t least) {
    constexpr size_t kFirstRoom = 4096;
    room_ = std::max({kFirstRoom, 2 * room_, least});
    auto* moved = allocate_array<uint8_t>(memory_, room_);
    std::copy_n(coded_, used_, moved);
    release();
    coded_ = moved;
}

void WordCoder::release() {
    if (coded_ != nullptr)
        memory_.release(memory_.context, coded_);
    coded_ = nullptr;
}

} // namespace simhash
