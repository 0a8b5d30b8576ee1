// From bytes to normalised characters: the first half of the way from a document to its features.
//
//   "Cafe\u0301 \u2460"  ->  reader  ->  c a f é · 1        (· is a separator)
//
// The text comes in slices of any size, cut between characters, so that a document of a gigabyte
// needs no second copy and its reader can be interrupted. A character is handed on only when the
// next one is known not to join it (a combining mark would), so one segment is kept back:
// `segment`. ASCII characters never join, and a run of them takes the sink's own fast path.
//
// A sink has
//   void ascii(const uint8_t* begin, const uint8_t* end)   a run of ASCII characters, not yet
//   folded void character(uint32_t code_point, CharacterKind kind)
#pragma once

#include <array>
#include <cstddef>
#include <cstring>

#include "core/text/unicode.hpp"

namespace simhash {

// For each ASCII character its folded form where it is a letter or digit, else 0.
constexpr std::array<uint8_t, 128> fold_ascii_table() {
    std::array<uint8_t, 128> table{};
    for (int c = '0'; c <= '9'; c++)
        table[c] = (uint8_t)c;
    for (int c = 'a'; c <= 'z'; c++)
        table[c] = table[c - 'a' + 'A'] = (uint8_t)c;
    return table;
}
constexpr auto kFoldAscii = fold_ascii_table();

// The first byte that is not ASCII, eight bytes at a time.
inline const uint8_t* end_of_ascii(const uint8_t* at, const uint8_t* end) {
    for (; end - at >= 8; at += 8) {
        uint64_t eight;
        memcpy(&eight, at, 8);
        if (eight & 0x8080808080808080)
            break;
    }
    while (at < end && *at < 0x80)
        at++;
    return at;
}

class TextReader {
  public:
    template <class Sink>
    void feed(Sink& sink, const uint8_t* at, size_t bytes) {
        const uint8_t* end = at + bytes;
        while (at < end) {
            if (*at < 0x80) {
                hand_on(sink);
                const uint8_t* last = end_of_ascii(at, end) - 1;
                sink.ascii(at, last);
                keep(*last, kSeparator);
                at = last + 1;
                continue;
            }
            const uint32_t code_point = decode_utf8(at, end);
            const CharacterClass character = character_class(code_point);
            if (kind_of_class(character) == kIgnored)
                continue;
            if (!(character & kJoinsPrevious) || length == kMaxSegment)
                hand_on(sink);
            keep(code_point, character);
        }
    }

    // After the last slice.
    template <class Sink>
    void finish(Sink& sink) {
        hand_on(sink);
    }

  private:
    void keep(uint32_t code_point, CharacterClass character) {
        if (length == 0)
            first_class = character;
        segment[length++] = code_point;
    }

    template <class Sink>
    void hand_on(Sink& sink) {
        if (length == 1 && segment[0] < 0x80) {
            const uint8_t character = (uint8_t)segment[0];
            sink.ascii(&character, &character + 1);
        } else if (length == 1 && !(first_class & kChanges)) {
            sink.character(segment[0], kind_of_class(first_class));
        } else if (length > 0) {
            int32_t normalised[kMaxNormalisedSegment];
            const int count = normalise_segment(segment, length, normalised);
            for (int i = 0; i < count; i++)
                sink.character((uint32_t)normalised[i],
                               kind_of_class(character_class((uint32_t)normalised[i])));
        }
        length = 0;
    }

    uint32_t segment[kMaxSegment]; // code points
    int length = 0;
    CharacterClass first_class = 0; // of segment[0]
};

} // namespace simhash
