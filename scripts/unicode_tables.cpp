// Prints the tables of Unicode 15.0 that are part of the source, by ICU 72:
//
//   g++ -std=c++20 -o /tmp/tables scripts/unicode_tables.cpp -licuuc
//   /tmp/tables classes >src/core/text/unicode_classes.inc
//   /tmp/tables normal-form >src/core/text/normal_form.inc
//
// They are committed, and made again only where words are to change on purpose (CONTRIBUTING.md):
// fingerprints are stored data, and what a newer Unicode adds must not change them.
// test/known_answers.py has the definition.
#include "../src/core/text/unicode.hpp"
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>
#include <unicode/utf16.h>
#include <vector>

using simhash::CharacterClass;

namespace {

constexpr int kCodePoints = 0x110000;

using CodePoints = std::vector<int>;

// ---- what ICU knows ----

// Ends the program if an ICU function failed.
struct Status {
    UErrorCode code = U_ZERO_ERROR;
    ~Status() {
        if (U_FAILURE(code)) {
            fprintf(stderr, "ICU: %s\n", u_errorName(code));
            exit(1);
        }
    }
    operator UErrorCode*() { return &code; }
};

using GetNormaliser = const UNormalizer2* (*)(UErrorCode*);

CodePoints normalise(GetNormaliser get, const CodePoints& code_points) {
    std::u16string text, normalised(64 * (1 + code_points.size()), 0);
    for (const int c : code_points) {
        char16_t units[2];
        int length = 0;
        U16_APPEND_UNSAFE(units, length, c);
        text.append(units, length);
    }
    Status status;
    const int length = unorm2_normalize(get(status), text.data(), int(text.size()),
                                        normalised.data(), int(normalised.size()), status);
    CodePoints found;
    for (int at = 0; at < length;) {
        int c;
        U16_NEXT(normalised, at, length, c);
        found.push_back(c);
    }
    return found;
}

std::string name_of(int c) {
    char name[256];
    Status status;
    return {name, size_t(u_charName(c, U_UNICODE_CHAR_NAME, name, sizeof name, status))};
}

// -1 if no character has the name.
int character_named(const std::string& name) {
    UErrorCode code = U_ZERO_ERROR;
    const int c = u_charFromName(U_UNICODE_CHAR_NAME, name.c_str(), &code);
    return U_FAILURE(code) ? -1 : c;
}

bool assigned(int c) {
    const int category = u_charType(c);
    return category != U_UNASSIGNED && category != U_PRIVATE_USE_CHAR && category != U_SURROGATE;
}

struct Range {
    int first, last;
};

bool within(int c, const std::vector<Range>& ranges) {
    for (const Range& range : ranges)
        if (c >= range.first && c <= range.last)
            return true;
    return false;
}

// ---- the definition ----

// Scripts written without spaces between words: the ideographic ones, Kana, and those of line
// breaking class SA ("complex context") in UAX 14.
const std::vector<Range> kSpacelessScripts = {
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

// Letters by their category that are apostrophes, accents or stress marks by their use. (The
// superscripts among them become letters.)
const std::vector<Range> kLikeApostrophes = {
    {0x02B9, 0x02FF}, // Spacing Modifier Letters
    {0x0559, 0x0559}, // Armenian
    {0x07F4, 0x07F5}, // N'Ko
    {0xA78B, 0xA78C}, // saltillo
};

// Signs that come and go with no change of the text, in place of "(c)" and the like.
const std::vector<Range> kSignsOfRights = {
    {0x00A9, 0x00A9}, {0x00AE, 0x00AE}, {0x2120, 0x2120}, {0x2122, 0x2122}};

// Invisible code points and skin tones, and what is written or left out on letters of Latin, Greek,
// Cyrillic, Arabic and Hebrew: the nonspacing and enclosing marks of these scripts, and those that
// no script owns.
bool ignored(int c) {
    if (u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) ||
        u_hasBinaryProperty(c, UCHAR_EMOJI_MODIFIER))
        return true;
    // Tatweel; small waw and small yeh, which Unicode takes for letters.
    if (within(c, {{0x0640, 0x0640}, {0x06E5, 0x06E6}}))
        return true;
    if (u_charType(c) != U_NON_SPACING_MARK && u_charType(c) != U_ENCLOSING_MARK)
        return false;
    // Vedic marks, tones of Han, voicing marks of Kana, the nukta of Tamil and Grantha.
    if (within(c, {{0x0951, 0x0954},
                   {0x1CD0, 0x1CF9},
                   {0x302A, 0x302D},
                   {0x3099, 0x309A},
                   {0x1133B, 0x1133B}}))
        return false;
    Status status;
    switch (uscript_getScript(c, status)) {
    case USCRIPT_INHERITED:
    case USCRIPT_LATIN:
    case USCRIPT_GREEK:
    case USCRIPT_CYRILLIC:
    case USCRIPT_ARABIC:
    case USCRIPT_HEBREW:
        return true;
    default:
        return false;
    }
}

// The letter without a part that Unicode does not take for a mark: the stroke of ł and đ, the hook
// of ɓ, the descender of қ. The name says so, as in LATIN SMALL LETTER L WITH STROKE. Otherwise the
// letter itself.
int without_stroke(int c) {
    const std::string name = name_of(c);
    const size_t with = name.find(" WITH ");
    if (with == std::string::npos ||
        !(name.starts_with("LATIN SMALL LETTER ") || name.starts_with("CYRILLIC SMALL LETTER ")))
        return c;
    const int letter = character_named(name.substr(0, with));
    return letter >= 0 ? letter : c;
}

// What becomes of a letter that normalisation has decomposed and folded.
CodePoints plain_letter(int c) {
    static const std::map<int, CodePoints> plain = {
        {0x00E6, {'a', 'e'}}, // æ
        {0x0153, {'o', 'e'}}, // œ
        {0x0131, {'i'}},      // dotless i
        {0x0237, {'j'}},      // dotless j
        {0x0671, {0x0627}},   // alef wasla
        {0x0629, {0x0647}},   // teh marbuta
        {0x06BE, {0x0647}},   // heh doachashmee
        {0x06C1, {0x0647}},   // heh goal
        {0x06C3, {0x0647}},   // teh marbuta goal
        {0x06D5, {0x0647}},   // ae
        {0x0649, {0x064A}},   // alef maksura
        {0x06CC, {0x064A}},   // Farsi yeh
        {0x06D2, {0x064A}},   // yeh barree
        {0x06A9, {0x0643}},   // keheh
        // Letters without a vowel. A letter, its virama and a joiner is the same, and joiners do not
        // count. Unicode's list of them is DoNotEmit.txt, but for those whose names tell it: the
        // pollu, the dot reph and the last four chillus.
        {0x09CE, {0x09A4, 0x09CD}}, // Bengali khanda ta
        {0x0C5D, {0x0C28, 0x0C4D}}, // Telugu and Kannada nakaara pollu
        {0x0CDD, {0x0CA8, 0x0CCD}},
        {0x0D4E, {0x0D30, 0x0D4D}}, // Malayalam dot reph
        {0x0D7A, {0x0D23, 0x0D4D}}, // Malayalam chillus: NN, N, RR, L, LL, K, M, Y, LLL
        {0x0D7B, {0x0D28, 0x0D4D}},
        {0x0D7C, {0x0D30, 0x0D4D}},
        {0x0D7D, {0x0D32, 0x0D4D}},
        {0x0D7E, {0x0D33, 0x0D4D}},
        {0x0D7F, {0x0D15, 0x0D4D}},
        {0x0D54, {0x0D2E, 0x0D4D}},
        {0x0D55, {0x0D2F, 0x0D4D}},
        {0x0D56, {0x0D34, 0x0D4D}},
    };
    const auto found = plain.find(c);
    return found != plain.end() ? found->second : CodePoints{without_stroke(c)};
}

// What a composition becomes. Marathi's eyelash ra is ra with a virama and a joiner, or U+0931 with a
// virama; the Malayalam vowel sign au is one of two parts, or its second part alone.
int plain_composite(int c) {
    switch (c) {
    case 0x0931:
        return 0x0930;
    case 0x0D4C:
        return 0x0D57;
    default:
        return c;
    }
}

// A form, composed.
CodePoints compose(const CodePoints& form) {
    CodePoints composed = normalise(unorm2_getNFCInstance, form);
    for (int& c : composed)
        c = plain_composite(c);
    return composed;
}

// What a code point becomes, decomposed; nothing if it is ignored.
CodePoints form_of(int c) {
    CodePoints form = {c};
    if (!assigned(c) || within(c, kSignsOfRights))
        return form;
    // Of a wide U+00AC the reader would have to ask what follows.
    if (c == 0xFFE2)
        return {' '};
    // A plain letter may be one that folds or decomposes itself, as in ҋ, й, и.
    for (CodePoints before; form != before;) {
        before = form;
        form.clear();
        for (const int part : normalise(unorm2_getNFKCCasefoldInstance, before))
            for (const int decomposed : normalise(unorm2_getNFDInstance, {part}))
                if (!ignored(decomposed))
                    for (const int plain : plain_letter(decomposed))
                        form.push_back(plain);
    }
    return form;
}

// The kind of a code point that is its own form.
int kind_of(int c) {
    if (within(c, kSignsOfRights) || within(c, kLikeApostrophes))
        return simhash::kSeparator;
    // What Unicode reserves for pictographs is one already.
    if (u_hasBinaryProperty(c, UCHAR_EXTENDED_PICTOGRAPHIC) ||
        u_hasBinaryProperty(c, UCHAR_REGIONAL_INDICATOR))
        return simhash::kPictograph;
    switch (u_charType(c)) {
    case U_NON_SPACING_MARK:
    case U_COMBINING_SPACING_MARK:
    case U_ENCLOSING_MARK:
        return simhash::kMark;
    case U_UPPERCASE_LETTER:
    case U_LOWERCASE_LETTER:
    case U_TITLECASE_LETTER:
    case U_MODIFIER_LETTER:
    case U_OTHER_LETTER:
    case U_LETTER_NUMBER:
    case U_OTHER_NUMBER:
        return within(c, kSpacelessScripts) ? simhash::kSpaceless : simhash::kLetter;
    case U_DECIMAL_DIGIT_NUMBER:
        return simhash::kLetter;
    case U_UNASSIGNED: // not a letter yet, but a later Unicode may make it one
    case U_PRIVATE_USE_CHAR:
        return (c & 0xFFFE) == 0xFFFE ? simhash::kSeparator : simhash::kLetter;
    default:
        return simhash::kSeparator;
    }
}

// ---- the tables ----

std::vector<CodePoints> all_forms() {
    std::vector<CodePoints> forms(kCodePoints);
    for (int c = 0; c < kCodePoints; c++)
        forms[c] = form_of(c);
    return forms;
}

// Code points that can be the second half, or a later part, of a canonical composition.
std::vector<bool> second_halves() {
    std::vector<bool> second(kCodePoints);
    for (int c = 0; c < kCodePoints; c++) {
        if (!assigned(c))
            continue;
        const CodePoints decomposed = normalise(unorm2_getNFDInstance, {c});
        for (size_t i = 1; i < decomposed.size(); i++)
            second[decomposed[i]] = true;
    }
    return second;
}

int class_of(int c, const CodePoints& form, const std::vector<bool>& second) {
    if (c == simhash::kNotSign || c == simhash::kSoftHyphen || c == simhash::kNonJoiner)
        return simhash::kHint;
    if (form.empty())
        return simhash::kIgnored | (u_hasBinaryProperty(c, UCHAR_DEFAULT_IGNORABLE_CODE_POINT)
                                        ? 0
                                        : simhash::kJoinsPrevious);
    const CodePoints composed = compose(form);
    // The reader looks at the kind of one that becomes a single code point, and not at any other's.
    const int kind = composed.size() == 1 ? kind_of(composed[0]) : int(simhash::kSeparator);
    const bool joins = u_getCombiningClass(form[0]) != 0 || second[form[0]];
    const bool changes = composed != CodePoints{c};
    return kind | (joins ? simhash::kJoinsPrevious : 0) | (changes ? simhash::kChanges : 0);
}

void print_classes(const std::vector<CodePoints>& forms) {
    const std::vector<bool> second = second_halves();
    printf(
        "// Made by scripts/unicode_tables.cpp from Unicode 15.0. Each entry is (first code point "
        "<< 8 | class)\n// and holds up to the next entry's first code point.\n");
    int previous = -1, printed = 0;
    for (int c = 0; c < kCodePoints; c++) {
        const int now = class_of(c, forms[c], second);
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

// All compositions that begin with `first`: second, composite, second, composite, ...
CodePoints compositions(int first, const CodePoints& seconds) {
    Status status;
    const UNormalizer2* nfc = unorm2_getNFCInstance(status);
    CodePoints found;
    for (const int second : seconds)
        if (const int composed = unorm2_composePair(nfc, first, second); composed >= 0)
            found.insert(found.end(), {second, plain_composite(composed)});
    return found;
}

void print_normal_form(const std::vector<CodePoints>& forms) {
    // Hangul is computed, so the tables leave out its syllables and its jamo.
    const auto syllable = [](int c) { return c >= 0xAC00 && c <= 0xD7A3; };
    const auto jamo = [](int c) { return c >= 0x1161 && c <= 0x11C2; };
    const std::vector<bool> second = second_halves();
    CodePoints kept, seconds; // those that are left in normalised texts
    for (int c = 0; c < kCodePoints; c++)
        if (assigned(c) && compose(forms[c]) == CodePoints{c}) {
            kept.push_back(c);
            if (second[c] && !jamo(c))
                seconds.push_back(c);
        }

    printf("// Made by scripts/unicode_tables.cpp from Unicode 15.0: lists of rows (see "
           "code_point_rows.hpp).\n\n// Forms that differ from their code points, but of Hangul.");
    {
        ListPrinter list("kForms");
        for (int c = 0; c < kCodePoints; c++)
            if (!syllable(c) && !forms[c].empty() && forms[c] != CodePoints{c})
                list.row(c, forms[c]);
    }
    printf("\n// Canonical combining classes that are not 0.");
    {
        ListPrinter list("kCombiningClasses");
        for (const int c : kept)
            if (u_getCombiningClass(c) != 0)
                list.row(c, {u_getCombiningClass(c)});
    }
    printf(
        "\n// Canonical compositions by their first half, but of Hangul: second half, composite, "
        "...");
    {
        ListPrinter list("kCompositions");
        for (const int c : kept)
            if (const CodePoints found = compositions(c, seconds); !found.empty())
                list.row(c, found);
    }
}

} // namespace

int main(int count, char** arguments) {
    if (strcmp(U_UNICODE_VERSION, "15.0") != 0) {
        fprintf(stderr, "this ICU knows Unicode %s, not 15.0\n", U_UNICODE_VERSION);
        return 1;
    }
    const std::string_view table = count == 2 ? arguments[1] : "";
    if (table == "classes")
        print_classes(all_forms());
    else if (table == "normal-form")
        print_normal_form(all_forms());
    else {
        fprintf(stderr, "usage: %s classes|normal-form\n", arguments[0]);
        return 1;
    }
}
