// Prints the tables of Unicode 15.0 that are part of the source, by utf8proc 2.8:
//
//   g++ -std=c++20 -o /tmp/tables scripts/unicode_tables.cpp -lutf8proc
//   /tmp/tables classes >src/core/text/unicode_classes.inc
//   /tmp/tables normal-form >src/core/text/normal_form.inc
//
// They are committed and never made again within a major version: fingerprints are stored data, and
// what a newer Unicode adds must not change them. No other file uses the library.
#include "../src/core/text/unicode.hpp"
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utf8proc.h>
#include <vector>

using simhash::CharacterClass;

namespace {

constexpr int kCodePoints = 0x110000;

constexpr int kCanonical = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE;
constexpr int kCompatibility = kCanonical | UTF8PROC_COMPAT;
constexpr int kFold = kCompatibility | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;

using CodePoints = std::vector<int>;

CodePoints decompose(int code_point, int options) {
    int buffer[64];
    const long length =
        utf8proc_decompose_char(code_point, buffer, 64, utf8proc_option_t(options), nullptr);
    return CodePoints(buffer, buffer + length);
}

CodePoints compose(CodePoints code_points) {
    const long length =
        utf8proc_normalize_utf32(code_points.data(), long(code_points.size()),
                                 utf8proc_option_t(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    code_points.resize(size_t(length));
    return code_points;
}

int combining_class(int code_point) {
    return utf8proc_get_property(code_point)->combining_class;
}

// Code points that can be the second half of a canonical composition.
std::vector<bool> second_halves() {
    std::vector<bool> second(kCodePoints);
    for (int c = 0; c < kCodePoints; c++) {
        if (utf8proc_category(c) == UTF8PROC_CATEGORY_CS)
            continue;
        const CodePoints decomposed = decompose(c, kCanonical);
        for (size_t i = 1; i < decomposed.size(); i++)
            second[decomposed[i]] = true;
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
    const CodePoints decomposed = decompose(c, kFold);
    if (decomposed.empty() || (c >= 0x1F3FB && c <= 0x1F3FF)) // the latter: skin tones
        return simhash::kIgnored;
    const bool joins = combining_class(decomposed[0]) != 0 || second[decomposed[0]] || second[c] ||
                       combining_class(c) != 0;
    const bool changes = compose(decomposed) != CodePoints{c};
    return kind | (joins ? simhash::kJoinsPrevious : 0) | (changes ? simhash::kChanges : 0);
}

void print_classes() {
    const std::vector<bool> second = second_halves();
    printf(
        "// Made by scripts/unicode_tables.cpp from Unicode 15.0. Each entry is (first code point "
        "<< 8 | class)\n// and holds up to the next entry's first code point.\n");
    int previous = -1, printed = 0;
    for (int c = 0; c < kCodePoints; c++) {
        const int now = class_of(c, second);
        if (now == previous)
            continue;
        printf("%s0x%08X,", printed++ % 8 ? " " : "\n", unsigned(c) << 8 | unsigned(now));
        previous = now;
    }
    printf("\n");
}

// Prints a list of rows (see core/text/code_point_rows.hpp), as many numbers to a line as fit.
class ListPrinter {
  public:
    explicit ListPrinter(const char* name) { printf("\nconstexpr int32_t %s[] = {", name); }
    ~ListPrinter() { printf("\n};\n"); }

    void row(int code_point, const CodePoints& numbers) {
        print(previous_ - code_point);
        previous_ = code_point;
        for (const int number : numbers)
            print(number);
    }

  private:
    void print(int number) {
        char text[16];
        const int length = snprintf(text, sizeof text, number < 0 ? "%d," : "0x%X,", number);
        if (column_ + 1 + length > 100) {
            printf("\n   ");
            column_ = 3;
        }
        printf(" %s", text);
        column_ += 1 + length;
    }

    int previous_ = -1;
    int column_ = 100;
};

// Code points that normalisation meets: the reader drops those that it ignores, and Hangul
// syllables are computed.
CodePoints normalised_code_points(const std::vector<bool>& second) {
    CodePoints code_points;
    for (int c = 0; c < kCodePoints; c++)
        if (utf8proc_category(c) != UTF8PROC_CATEGORY_CS && !(c >= 0xAC00 && c <= 0xD7A3) &&
            (class_of(c, second) & simhash::kKindMask) != simhash::kIgnored)
            code_points.push_back(c);
    return code_points;
}

// All compositions that begin with `first`: second, composite, second, composite, ...
CodePoints compositions(int first, const CodePoints& seconds) {
    CodePoints found;
    for (const int second : seconds) {
        const CodePoints composed = compose({first, second});
        if (composed.size() == 1)
            found.insert(found.end(), {second, composed[0]});
    }
    return found;
}

void print_normal_form() {
    const std::vector<bool> second = second_halves();
    const CodePoints code_points = normalised_code_points(second);
    CodePoints seconds;
    for (const int c : code_points)
        if (second[c] && !(c >= 0x1161 && c <= 0x11C2)) // jamo
            seconds.push_back(c);

    printf("// Made by scripts/unicode_tables.cpp from Unicode 15.0: lists of rows (see "
           "code_point_rows.hpp).\n\n// Full compatibility decompositions, but of Hangul.");
    {
        ListPrinter list("kDecompositions");
        for (const int c : code_points)
            if (decompose(c, kCompatibility) != CodePoints{c})
                list.row(c, decompose(c, kCompatibility));
    }
    printf("\n// What others fold to, decomposed.");
    {
        ListPrinter list("kFoldings");
        for (const int c : code_points)
            if (decompose(c, kCompatibility) == CodePoints{c} &&
                decompose(c, kFold) != CodePoints{c})
                list.row(c, decompose(c, kFold));
    }
    printf("\n// Canonical combining classes that are not 0.");
    {
        ListPrinter list("kCombiningClasses");
        for (const int c : code_points)
            if (combining_class(c) != 0)
                list.row(c, {combining_class(c)});
    }
    printf(
        "\n// Canonical compositions by their first half, but of Hangul: second half, composite, "
        "...");
    {
        ListPrinter list("kCompositions");
        for (const int c : code_points)
            if (const CodePoints found = compositions(c, seconds); !found.empty())
                list.row(c, found);
    }
}

} // namespace

int main(int count, char** arguments) {
    if (strncmp(utf8proc_unicode_version(), "15.0", 4) != 0) {
        fprintf(stderr, "this utf8proc knows Unicode %s, not 15.0\n", utf8proc_unicode_version());
        return 1;
    }
    const std::string_view table = count == 2 ? arguments[1] : "";
    if (table == "classes")
        print_classes();
    else if (table == "normal-form")
        print_normal_form();
    else {
        fprintf(stderr, "usage: %s classes|normal-form\n", arguments[0]);
        return 1;
    }
}
