// Code points: decoding, encoding, classes. See unicode.hpp.
#include "core/text/unicode.hpp"

#include <algorithm>
#include <iterator>

namespace simhash {
namespace {

// Each number is a range: its first code point << 8 | its class. A range goes up to the next one.
constexpr uint32_t kClassRanges[] = {
#include "core/text/unicode_classes.inc"
};

// The classes of pages of 256 code points. Pages of one class share a row, which has its number.
// Most text is of the other ones: in most alphabets capital and small letters take turns. There is
// a row for each of these: the compiler refuses fewer.
constexpr uint32_t kPage = 256, kPages = 0x110000 / kPage, kSharedRows = 32, kRows = 193;

struct ClassTable {
    uint8_t row_of[kPages]{};
    CharacterClass rows[kRows][kPage]{};

    constexpr ClassTable() {
        uint32_t used = kSharedRows;
        for (uint32_t row = 0; row < kSharedRows; row++)
            std::fill_n(rows[row], kPage, CharacterClass(row));
        for (const uint32_t* range = kClassRanges; range < std::end(kClassRanges); range++) {
            uint32_t begin = *range >> 8;
            uint32_t end = range + 1 < std::end(kClassRanges) ? range[1] >> 8 : kPages * kPage;
            auto character = CharacterClass(*range);
            while (begin < end) {
                uint32_t page = begin / kPage, next = std::min(end, (page + 1) * kPage);
                if (next - begin == kPage)
                    row_of[page] = character;
                else if (begin % kPage == 0)
                    row_of[page] = uint8_t(used++);
                if (next - begin < kPage)
                    std::fill_n(rows[row_of[page]] + begin % kPage, next - begin, character);
                begin = next;
            }
        }
    }
};
constexpr ClassTable kClasses;

} // namespace

CharacterClass character_class(uint32_t code_point) {
    return kClasses.rows[kClasses.row_of[code_point / kPage]][code_point % kPage];
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
        if ((at[i] & 0xC0) != 0x80)
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
