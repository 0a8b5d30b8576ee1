// Prints src/core/text/unicode_classes.inc: the class of every code point as Unicode 15.0 has it
// (utf8proc 2.8).
//
//   g++ -std=c++20 -o /tmp/classes scripts/unicode_classes.cpp -lutf8proc && /tmp/classes
//
// The table is committed and never made again within a major version: fingerprints are stored data,
// and a letter that a newer Unicode adds must not change them. The normaliser is asked only about
// code points that this table knows, and for those Unicode promises never to change normalisation
// or case folding.
#include "../src/core/text/unicode.hpp"
#include <cstdio>
#include <cstring>
#include <cstdlib>
#include <utf8proc.h>
#include <vector>

using simhash::CharacterClass;

namespace {

constexpr int kCodePoints = 0x110000;

std::vector<int> fold(int code_point, bool compose) {
    const int options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                        UTF8PROC_IGNORE;
    int buffer[64];
    const long length =
        utf8proc_decompose_char(code_point, buffer, 64, utf8proc_option_t(options), nullptr);
    const long kept = utf8proc_normalize_utf32(
        buffer, length, utf8proc_option_t(UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : 0)));
    return std::vector<int>(buffer, buffer + kept);
}

// Code points that can be the second half of a canonical composition.
std::vector<bool> second_halves() {
    std::vector<bool> second(kCodePoints);
    for (int c = 0; c < kCodePoints; c++) {
        int buffer[64];
        if (utf8proc_category(c) == UTF8PROC_CATEGORY_CS)
            continue;
        const long length = utf8proc_decompose_char(
            c, buffer, 64, utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE), nullptr);
        for (long i = 1; i < length; i++)
            second[buffer[i]] = true;
    }
    return second;
}

// Scripts written without spaces between words: the ideographic ones, Kana, and those of line
// breaking class SA ("complex context") in UAX 14.
bool spaceless_script(int c) {
    static const int ranges[][2] = {
        {0x0E00, 0x0EFF}, // Thai, Lao
        {0x1000, 0x109F}, // Myanmar
        {0x1780, 0x17FF}, // Khmer
        {0x1950, 0x19FF}, // Tai Le, New Tai Lue, Khmer symbols
        {0x1A20, 0x1AAF}, // Tai Tham
        {0x2E80, 0x2FDF}, // CJK radicals
        {0x3005, 0x3007},   {0x3021, 0x3029}, {0x3031, 0x3035},
        {0x3038, 0x303C},   {0x3041, 0x30FF},                   // Hiragana, Katakana
        {0x3100, 0x312F},   {0x31A0, 0x31BF}, {0x31F0, 0x31FF}, // Bopomofo, Katakana extensions
        {0x3400, 0x4DBF},   {0x4E00, 0x9FFF},                   // Han
        {0xA9E0, 0xA9FF},   {0xAA60, 0xAADF},                   // Myanmar extensions, Tai Viet
        {0xF900, 0xFAFF},                                       // Han, compatibility
        {0xFF66, 0xFF9F},                                       // Katakana, halfwidth
        {0x11700, 0x1174F},                                     // Ahom
        {0x16FE0, 0x18D7F},                                     // Tangut, Khitan
        {0x1AFF0, 0x1B2FF},                                     // Kana supplements, Nushu
        {0x20000, 0x3FFFD},                                     // Han, planes 2 and 3
    };
    for (const auto& range : ranges)
        if (c >= range[0] && c <= range[1])
            return true;
    return false;
}

bool pictograph(int c) {
    return (c >= 0x2600 && c <= 0x27BF) || (c >= 0x1F000 && c <= 0x1FAFF);
}

int kind_of(int c) {
    switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
        return simhash::kMark;
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
        return spaceless_script(c) ? simhash::kSpaceless : simhash::kLetter;
    case UTF8PROC_CATEGORY_ND:
        return simhash::kLetter;
    case UTF8PROC_CATEGORY_CN: // not a letter yet, but a later Unicode may make it one
    case UTF8PROC_CATEGORY_CO:
        return (c & 0xFFFE) == 0xFFFE ? simhash::kSeparator : simhash::kLetter;
    case UTF8PROC_CATEGORY_SO:
        return pictograph(c) ? simhash::kPictograph : simhash::kSeparator;
    default:
        return simhash::kSeparator;
    }
}

int class_of(int c, const std::vector<bool>& second) {
    const int category = utf8proc_category(c);
    const int kind = kind_of(c);
    if (category == UTF8PROC_CATEGORY_CN || category == UTF8PROC_CATEGORY_CO ||
        category == UTF8PROC_CATEGORY_CS)
        return kind;
    const std::vector<int> decomposed = fold(c, false);
    if (decomposed.empty() || (c >= 0x1F3FB && c <= 0x1F3FF)) // the latter: skin tones
        return simhash::kIgnored;
    const bool joins = utf8proc_get_property(decomposed[0])->combining_class != 0 ||
                       second[decomposed[0]] || second[c] ||
                       utf8proc_get_property(c)->combining_class != 0;
    const bool changes = fold(c, true) != std::vector<int>{c};
    return kind | (joins ? simhash::kJoinsPrevious : 0) | (changes ? simhash::kChanges : 0);
}

} // namespace

int main() {
    if (strncmp(utf8proc_unicode_version(), "15.0", 4) != 0) {
        fprintf(stderr, "this utf8proc knows Unicode %s, not 15.0\n", utf8proc_unicode_version());
        return 1;
    }
    const std::vector<bool> second = second_halves();
    printf("// Made by scripts/unicode_classes.cpp from Unicode 15.0. Each entry is (first code "
           "point << 8 | "
           "class)\n// and holds up to the next entry's first code point.\n");
    int previous = -1, printed = 0;
    for (int c = 0; c < kCodePoints; c++) {
        const int now = class_of(c, second);
        if (now == previous)
            continue;
        printf("%s0x%08X,", printed++ % 8 ? " " : "\n", unsigned(c) << 8 | unsigned(now));
        previous = now;
    }
    printf("\n");
    fprintf(stderr, "%d ranges\n", printed);
}
