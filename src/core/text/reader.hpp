// From bytes to normalised characters: the first half of the way from a document to features.
//
//   "Cafe\u0301 \u304B\u3099 \u2460"  ->  reader  ->  C a f e · が · 1      (· is a separator)
//   "soft\u00AD \r\n  ware"              ->  reader  ->  s o f t w a r e
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
            if (is_waiting_) [[unlikely]] {
                at = resolve_hints(sink, at, end);
                if (at == end)
                    break;
            }
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
            if (kind_of_class(character) >= kIgnored) {
                if (kind_of_class(character) == kHint)
                    take_hint(sink, code_point);
                continue;
            }
            if (!(character & kJoinsPrevious) || length_ == kMaxSegment)
                hand_on(sink);
            keep(code_point, character);
        }
    }

    void finish(auto& sink) { hand_on(sink); }

    // Whether what was read last awaits what follows it, and belongs to no character.
    bool is_waiting() const { return is_waiting_; }

  private:
    // At a line's end a soft hyphen, or U+00AC, as which some programs write it, joins the halves
    // of a word. U+200C parts words of Arabic script, as a blank does; elsewhere it is a joiner.
    void take_hint(auto& sink, uint32_t code_point) {
        if (code_point != kNonJoiner) {
            hyphen_ = code_point;
            any_blank_ = any_line_break_ = false;
        } else if (length_ > 0 && is_arabic(segment_[length_ - 1])) {
            separate(sink);
        } else {
            non_joiner_ = true;
        }
        is_waiting_ = hyphen_ != 0 || non_joiner_;
    }

    // Reads on behind hints, up to what decides on them. White space behind hyphen_ is left out if
    // a line ends there; otherwise it separates. Returns what is not read.
    template <typename Sink>
    __attribute__((noinline)) const uint8_t* resolve_hints(Sink& sink, const uint8_t* at,
                                                           const uint8_t* end) {
        for (const uint8_t* next = at; is_waiting_ && at < end; at = next) {
            uint32_t code_point = decode_utf8(next, end);
            CharacterKind kind = kind_of_class(character_class(code_point));
            bool passes = hyphen_ != 0 && is_blank(code_point);
            any_blank_ |= passes;
            any_line_break_ |= passes && is_line_break(code_point);
            if (passes || kind == kIgnored)
                continue;
            if (hyphen_ != 0 && !any_line_break_ && (any_blank_ || hyphen_ == kNotSign))
                separate(sink);
            hyphen_ = 0;
            if (kind == kHint) {
                take_hint(sink, code_point);
                continue;
            }
            if (non_joiner_ && is_arabic(code_point))
                separate(sink);
            non_joiner_ = is_waiting_ = false;
            break;
        }
        return at;
    }

    void separate(auto& sink) {
        hand_on(sink);
        keep(' ', kSeparator);
    }

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
    bool is_waiting_ = false;        // hints were read, and not what decides on them
    uint32_t hyphen_ = 0;            // a soft hyphen or U+00AC, with the white space behind it
    bool any_blank_ = false, any_line_break_ = false; // behind hyphen_
    bool non_joiner_ = false;                         // U+200C, behind no letter of Arabic
};

} // namespace simhash
