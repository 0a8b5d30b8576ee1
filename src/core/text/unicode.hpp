// Code points: decoding and encoding UTF-8, the kinds of characters, and their normalised form.
//
// A code point's kind comes from a table of Unicode 15.0 (unicode_classes.inc) and from no library,
// so a fingerprint does not depend on the system's Unicode version.
#pragma once

#include <cstdint>

namespace simhash {

// The kind of a code point, or of the one that it becomes, in the low bits of its class.
enum CharacterKind : uint8_t {
    kSeparator,  // ends a word
    kLetter,     // letter or digit of a script that separates words
    kMark,       // combining mark: goes with the character before it
    kSpaceless,  // letter of a script that does not separate words: Han, Kana, Thai, ...
    kPictograph, // emoji and the like: a word of its own
    kIgnored,    // invisible, or left out in much writing: joiners, accents, vowel signs of Arabic
    kHint,       // soft hyphen, U+00AC, U+200C: its neighbours say what it is (TextReader)
};

// The other bits of the class say what normalisation must do.
enum CharacterFlags : uint8_t {
    kKindMask = 0x07,
    kJoinsPrevious = 0x08, // may combine or change places with the code points before it; where it
                           // is ignored: stands on the character before it, as an accent
    kChanges = 0x10,       // its form is not itself
};

using CharacterClass = uint8_t;

// Of a code point up to U+10FFFF.
CharacterClass character_class(uint32_t code_point);

constexpr CharacterKind kind_of_class(CharacterClass character) {
    return CharacterKind(character & kKindMask);
}

constexpr uint32_t kInvalidCharacter = 0xFFFD;                                   // a separator
constexpr uint32_t kNotSign = 0x00AC, kSoftHyphen = 0x00AD, kNonJoiner = 0x200C; // kHint

constexpr bool is_line_break(uint32_t code_point) {
    return (code_point >= '\n' && code_point <= '\r') || code_point == 0x85 ||
           code_point == 0x2028 || code_point == 0x2029;
}
// Unicode's White_Space.
constexpr bool is_blank(uint32_t code_point) {
    return is_line_break(code_point) || code_point == ' ' || code_point == '\t' ||
           code_point == 0xA0 || code_point == 0x1680 ||
           (code_point >= 0x2000 && code_point <= 0x200A) || code_point == 0x202F ||
           code_point == 0x205F || code_point == 0x3000;
}
// By its block: letters, and the signs and digits among them.
constexpr bool is_arabic(uint32_t code_point) {
    return (code_point >= 0x0600 && code_point <= 0x06FF) ||
           (code_point >= 0x0750 && code_point <= 0x077F) ||
           (code_point >= 0x0870 && code_point <= 0x08FF) ||
           (code_point >= 0xFB50 && code_point <= 0xFDFF) ||
           (code_point >= 0xFE70 && code_point <= 0xFEFC);
}

// Decodes the code point at `at` and moves `at` past it, never beyond `end`. Bytes that are not
// UTF-8 (truncated, overlong, surrogates, beyond U+10FFFF) each become kInvalidCharacter. Expects
// at < end.
uint32_t decode_utf8(const uint8_t*& at, const uint8_t* end);

// Writes 1 to 4 bytes to `out` and returns their number.
int encode_utf8(uint32_t code_point, uint8_t* out);

// ---- normalisation ----

// The normalised form of characters, by tables of Unicode 15.0 that are part of the source
// (normal_form.inc): Unicode's NFKC_Casefold without what may be left out in writing, such as
// accents, and with one form of what has several. test/known_answers.py has the definition. No
// library is used, because fingerprints are stored data and must not change when the system gets a
// newer Unicode. For the same reason code points that Unicode 15.0 does not assign stay as they
// are, and no mark composes with them.

// A segment is a code point and those after it that join it. Longer ones are cut (as Unicode's
// Stream-Safe Text Format does), so that the work for each code point is bounded.
constexpr int kMaxSegment = 32;
constexpr int kMaxNormalisedSegment = 18 * kMaxSegment;

// The form of a code point by itself, if that is one code point, else 0.
uint32_t form_of_one(uint32_t code_point);

// The code point that two compose to; 0 if they do not compose.
uint32_t composite(uint32_t first, uint32_t second);

// Normalises a segment of 1..kMaxSegment code points, none of them kIgnored or kHint; `out` has
// room for kMaxNormalisedSegment code points. Returns the number written.
int normalise_segment(const uint32_t* segment, int length, uint32_t* out);

} // namespace simhash
