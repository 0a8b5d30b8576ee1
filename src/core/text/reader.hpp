// From bytes to normalised characters: the first half of the way from a document to features.
//
//   "Cafe\u0301 \u304B\u3099 \u2460"  ->  reader  ->  C a f e · が · 1      (· is a separator)
//
// The text comes in pieces of any size, cut between characters. So a document of a gigabyte needs
// no second copy, and reading it can be interrupted.
//
// Some characters join the one before them: after "か", the voicing mark U+3099 makes "が". So a
// character is passed on only when the next one has been read and does not join it; until then it
// waits in `segment_` with those that have joined it. ASCII characters never join another one, so
// all but the last of adjacent ones (which a mark may follow) go to the sink at once.
//
// The sink has two functions:
//
//   // Adjacent ASCII characters, as they are in the text: not folded.
//   void ascii(const uint8_t* begin, const uint8_t* end);
//   // Any other character, normalised and folded.
//   void character(uint32_t code_point, CharacterKind kind);
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "core/text/unicode.hpp"

namespace simhash {

// For each ASCII character its folded form if it is a letter or digit, else 0.
constexpr std::array<uint8_t, 128> fold_ascii_table() {
    std::array<uint8_t, 128> table{};
    for (int c = '0'; c <= '9'; c++)
        table[c] = uint8_t(c);
    for (int c = 'a'; c <= 'z'; c++)
        table[c] = table[c - 'a' + 'A'] = uint8_t(c);
    return table;
}
constexpr auto kFoldAscii = fold_ascii_table();

// The first byte that is not ASCII, eight bytes at a time.
inline const uint8_t* end_of_ascii(const uint8_t* at, const uint8_t* end) {
    for (; end - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, at, 8);
        // Some byte of the eight is not ASCII; the loop below finds which.
        if (eight & 0x8080808080808080)
            break;
    }
    while (at < end && *at < 0x80)
        at++;
    return at;
}

class TextReader {
  public:
    void feed(auto& sink, const uint8_t* at, size_t bytes) {
        const uint8_t* end = at + bytes;
        while (at < end) {
            if (*at < 0x80) {
                hand_on(sink);
                // A mark may follow the last one, perhaps in the next piece.
                const uint8_t* last = end_of_ascii(at, end) - 1;
                sink.ascii(at, last);
                // The class of an ASCII character is not looked at.
                keep(*last, kSeparator);
                at = last + 1;
                continue;
            }
            uint32_t code_point = decode_utf8(at, end);
            CharacterClass character = character_class(code_point);
            // It is left out before normalisation, so that it does not keep a mark from its base.
            if (kind_of_class(character) == kIgnored)
                continue;
            if (!(character & kJoinsPrevious) || length_ == kMaxSegment)
                hand_on(sink);
            keep(code_point, character);
        }
    }

    void finish(auto& sink) { hand_on(sink); }

  private:
    void keep(uint32_t code_point, CharacterClass character) {
        if (length_ == 0)
            first_class_ = character;
        segment_[length_++] = code_point;
    }

    void hand_on(auto& sink) {
        // The usual cases come first: one character, and one that it becomes.
        if (length_ == 1) {
            uint32_t character = segment_[0];
            if (character < 0x80) {
                uint8_t byte = uint8_t(character);
                sink.ascii(&byte, &byte + 1);
            } else if (!(first_class_ & kChanges) || (character = form_of_one(character)) != 0) {
                sink.character(character, kind_of_class(first_class_));
            } else {
                hand_on_normalised(sink);
            }
        } else if (length_ > 0) {
            hand_on_normalised(sink);
        }
        length_ = 0;
    }

    // Not inlined, so that the loop of the common cases stays small.
    template <typename Sink>
    __attribute__((noinline)) void hand_on_normalised(Sink& sink) {
        uint32_t normalised[kMaxNormalisedSegment];
        int count = normalise_segment(segment_, length_, normalised);
        for (int i = 0; i < count; i++)
            sink.character(normalised[i], kind_of_class(character_class(normalised[i])));
    }

    uint32_t segment_[kMaxSegment]; // code points
    int length_ = 0;
    CharacterClass first_class_ = 0; // of segment[0]
};

} // namespace simhash
