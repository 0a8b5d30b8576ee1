// A document's words in about two bytes each, of which its shingles can be made again. The set of
// its shingles takes eight bytes for each, more than the text itself. So of many documents, few of
// which will be asked for their sets, the coded words are kept:
//
//     the quick brown fox ran    ->    17  4031  0 5 "brown"  0 3 "fox"  212
//
// A word that has been met before has a number, its place in a table; any other one, and any for
// which the table has no room, is spelled out behind a 0. The table only grows, so whatever was
// coded with it can be read.
#pragma once

#include <bit>
#include <cstring>
#include <span>

#include "core/bits/memory.hpp"
#include "core/text/cutters.hpp"
#include "core/text/minhash.hpp"

namespace simhash {

// A word of up to kMostShort bytes, and then zeros; the last byte has its size.
constexpr size_t kMostShort = kWordRoom - 1;

class ShortWord {
  public:
    ShortWord() = default;
    // Of kWordRoom bytes those behind the word may be any.
    ShortWord(const uint8_t* text, size_t bytes) {
        memcpy(&bits_, text, sizeof(bits_));
        // A processor has the lowest byte of a number first, or the highest one.
        if constexpr (std::endian::native == std::endian::little)
            bits_ = (bits_ & ((Bits{1} << 8 * bytes) - 1)) | Bits{bytes} << 8 * kMostShort;
        else
            bits_ = (bits_ & ~(~Bits{0} >> 8 * bytes)) | bytes;
    }

    const uint8_t* text() const { return reinterpret_cast<const uint8_t*>(&bits_); }
    size_t size() const { return text()[kMostShort]; }
    uint64_t hash() const {
        return mix(uint64_t(bits_) ^ uint64_t(bits_ >> 64) * 0x9E3779B97F4A7C15);
    }
    bool operator==(const ShortWord& other) const { return bits_ == other.bits_; }

  private:
    // The server's memory is aligned to 8 bytes, not to the 16 of the plain type.
    using Bits [[gnu::aligned(8)]] = unsigned __int128;
    Bits bits_ = 0;
};
static_assert(sizeof(ShortWord) == kWordRoom);

// Short words with numbers from 1 on. One that comes to place 0 has no number.
class WordTable {
  public:
    // Of all words that have numbers.
    static constexpr size_t kMostBytes = sizeof(ShortWord) << 16;

    WordTable(Memory memory, size_t bytes);
    // The table that has these bytes.
    WordTable(Memory memory, std::span<const uint8_t> bytes);
    WordTable(const WordTable&) = delete;
    WordTable& operator=(const WordTable&) = delete;

    // The number of a word, or 0. Gives it one if it was met lately.
    uint16_t number_of(const ShortWord& word) {
        uint64_t hash = word.hash();
        size_t place = size_t(hash >> 40) & (places_ - kBucket);
        // A word has one of four places, which are looked at together.
        unsigned found = 0;
        for (size_t i = 0; i < kBucket; i++)
            found |= unsigned(words_[place + i] == word) << i;
        if (found != 0)
            return uint16_t(place + size_t(std::countr_zero(found)));
        return add(word, hash, place);
    }

    const ShortWord& operator[](uint16_t number) const { return words_[number]; }

    std::span<const uint8_t> bytes() const {
        return {reinterpret_cast<const uint8_t*>(words_), places_ * sizeof(ShortWord)};
    }

    void release();

  private:
    static constexpr size_t kBucket = 4; // places for a word

    uint16_t add(const ShortWord& word, uint64_t hash, size_t place);

    Memory memory_;
    size_t places_;    // a power of two
    ShortWord* words_; // [places_]
    uint64_t* seen_;   // [places_ / kSeenShare]: bits of the hashes of words without a number
    size_t noted_ = 0; // such words
};

// Codes the words of a document: a consumer of each_word().
class WordCoder {
  public:
    WordCoder(Memory memory, WordTable* table) : table_(*table), coded_(memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        uint8_t* to = coded_.add_room(kMostOfWord);
        uint16_t number = bytes <= kMostShort ? table_.number_of({text, bytes}) : 0;
        memcpy(to, &number, sizeof(number));
        coded_.added(sizeof(number));
        if (number != 0)
            return;
        to[sizeof(number)] = uint8_t(bytes);
        copy_word(to + sizeof(number) + 1, text, bytes);
        coded_.added(1 + bytes);
    }

    // Valid until clear().
    std::span<const uint8_t> coded() const { return {coded_.data(), coded_.size()}; }
    // Room for a coded document, which is to be copied there and takes the present one's place.
    uint8_t* room(size_t bytes) {
        coded_.clear();
        // Words are read with what is behind them.
        uint8_t* room = coded_.add_room(bytes + kWordRoom);
        coded_.added(bytes);
        return room;
    }
    void clear() { coded_.clear(); }
    void release() { coded_.release(); }

  private:
    // The number 0, the size, the word, and what may be read behind it.
    static constexpr size_t kMostOfWord = 3 + kMaxWord + kWordRoom;

    WordTable& table_;
    GrowingArray<uint8_t> coded_;
};

// Gives the words that were coded to the consumer.
void each_coded_word(const WordTable& table, std::span<const uint8_t> coded, auto& consumer) {
    for (const uint8_t *at = coded.data(), *end = at + coded.size(); at < end;) {
        uint16_t number;
        memcpy(&number, at, sizeof(number));
        at += sizeof(number);
        if (number != 0) {
            const ShortWord& word = table[number];
            consumer.feature(word.text(), word.size());
        } else {
            size_t bytes = *at++;
            consumer.feature(at, bytes);
            at += bytes;
        }
    }
}

} // namespace simhash
