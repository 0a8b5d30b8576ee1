// Code points: decoding, encoding, classes. See unicode.hpp.
#include "core/text/unicode.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace simhash {
namespace {

// Each number is a range: its first code point << 8 | its class. A range goes up to the next one.
constexpr uint32_t kClassRanges[] = {
#include "core/text/unicode_classes.inc"
};
constexpr int kRanges = std::size(kClassRanges);
constexpr uint32_t kPages = 0x1100; // of 256 code points

// For each page the range that holds its first code point: a look-up searches one page's ranges.
constexpr std::array<uint16_t, kPages + 1> first_ranges() {
    std::array<uint16_t, kPages + 1> first{};
    int range = 0;
    for (uint32_t page = 0; page <= kPages; page++) {
        while (range + 1 < kRanges && kClassRanges[range + 1] >> 8 <= page << 8)
            range++;
        first[page] = uint16_t(range);
    }
    return first;
}
constexpr auto kFirstRange = first_ranges();

// The classes of the code points that UTF-8 writes in two bytes or one: those of most alphabets,
// whose letters lie in many short ranges.
constexpr uint32_t kTwoBytesEnd = 0x800;
constexpr std::array<CharacterClass, kTwoBytesEnd> two_byte_classes() {
    std::array<CharacterClass, kTwoBytesEnd> classes{};
    int range = 0;
    for (uint32_t code_point = 0; code_point < kTwoBytesEnd; code_point++) {
        while (kClassRanges[range + 1] >> 8 <= code_point)
            range++;
        classes[code_point] = CharacterClass(kClassRanges[range]);
    }
    return classes;
}
constexpr auto kTwoByteClasses = two_byte_classes();

constexpr bool continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

} // namespace

CharacterClass character_class(uint32_t code_point) {
    if (code_point < kTwoBytesEnd)
        return kTwoByteClasses[code_point];
    if (code_point >= kPages << 8)
        return kSeparator;
    const uint32_t* first = kClassRanges + kFirstRange[code_point >> 8];
    // From the range that holds the page's first code point to the one that holds the next page's.
    const uint32_t* last = kClassRanges + kFirstRange[(code_point >> 8) + 1] + 1;
    // Greater than any class of this code point: the range before the upper bound holds it.
    uint32_t key = code_point << 8 | 0xFF;
    return CharacterClass(*(std::upper_bound(first, last, key) - 1));
}

uint32_t decode_utf8(const uint8_t*& at, const uint8_t* end) {
    uint8_t lead = *at++;
    if (lead < 0x80)
        return lead;
    int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    // 0xC0 and 0xC1 begin only overlong forms, 0x80 to 0xBF no character, and 0xF5 and above are
    // beyond U+10FFFF.
    if (lead < 0xC2 || lead > 0xF4 || end - at < more)
        return kInvalidCharacter;
    uint32_t code_point = lead & (0x3F >> more);
    for (int i = 0; i < more; i++) {
        if (!continuation(at[i]))
            return kInvalidCharacter;
        code_point = code_point << 6 | (at[i] & 0x3F);
    }
    // Below these a shorter form exists; a second form of a text would give another fingerprint.
    constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    if (code_point < kLeast[more] || code_point > 0x10FFFF ||
        (code_point >= 0xD800 && code_point <= 0xDFFF))
        return kInvalidCharacter;
    at += more;
    return code_point;
}

int encode_utf8(uint32_t code_point, uint8_t* out) {
    if (code_point < 0x80) {
        out[0] = uint8_t(code_point);
        return 1;
    }
    int more = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
    for (int i = more; i > 0; i--, code_point >>= 6)
        out[i] = uint8_t(0x80 | (code_point & 0x3F));
    constexpr uint8_t kLeads[] = {0, 0xC0, 0xE0, 0xF0};
    out[0] = uint8_t(kLeads[more] | code_point);
    return more + 1;
}

} // namespace simhash
