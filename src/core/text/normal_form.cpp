// Normalisation of segments, as in Unicode Standard Annex 15. See unicode.hpp.
#include "core/text/unicode.hpp"

#include <algorithm>

#include "core/text/code_point_rows.hpp"

namespace simhash {
namespace {

#include "core/text/normal_form.inc"

constexpr CodePointRows kFormOf(kForms);
constexpr CodePointRows kCombiningClassOf(kCombiningClasses);
constexpr CodePointRows kCompositionsFrom(kCompositions);

// Hangul syllables: a leading consonant, a vowel, and 27 trailing consonants or none.
// Their decompositions are computed (Unicode Standard, section 3.12), so the tables have none.
// kTrailing stands before the first trailing consonant: number 0 is none.
constexpr uint32_t kSyllables = 0xAC00, kLeading = 0x1100, kVowels = 0x1161, kTrailing = 0x11A7;
constexpr uint32_t kLeadingCount = 19, kVowelCount = 21, kTrailingCount = 28;
constexpr uint32_t kSyllableCount = kLeadingCount * kVowelCount * kTrailingCount;

// A code point of a segment.
struct Part {
    uint32_t code_point : 24;
    uint32_t combining_class : 8;
};

static_assert(kMaxSegment * longest_row(kForms) <= kMaxNormalisedSegment);

Part part_of(uint32_t code_point) {
    const int32_t* combining_class = kCombiningClassOf.of(code_point);
    return {code_point, *combining_class < 0 ? 0 : uint32_t(*combining_class)};
}

Part* decompose_syllable(uint32_t number, Part* out) {
    uint32_t trailing = number % kTrailingCount;
    uint32_t vowel = number / kTrailingCount % kVowelCount;
    *out++ = {kLeading + number / kTrailingCount / kVowelCount, 0};
    *out++ = {kVowels + vowel, 0};
    if (trailing > 0)
        *out++ = {kTrailing + trailing, 0};
    return out;
}

// Writes the parts of a code point's form to `out`. Returns the end.
Part* put_form(uint32_t code_point, Part* out) {
    // The difference is unsigned: a lesser code point wraps around and is no syllable.
    if (code_point - kSyllables < kSyllableCount)
        return decompose_syllable(code_point - kSyllables, out);
    const int32_t* row = kFormOf.of(code_point);
    // A negative number ends each row; see code_point_rows.hpp. An empty one stands for the code
    // point itself.
    if (*row < 0)
        *out++ = part_of(code_point);
    for (; *row >= 0; row++)
        *out++ = part_of(uint32_t(*row));
    return out;
}

// Canonical order: adjacent marks are sorted by combining class; equal classes keep their order.
// There are at most kMaxNormalisedSegment marks, in practice a handful.
void order_marks(Part* begin, Part* end) {
    for (Part* at = begin; at < end; at++) {
        Part mark = *at;
        // Class 0 is a base. It stays where it is, and no mark passes it: the loop below stops
        // there.
        if (mark.combining_class == 0)
            continue;
        Part* place = at;
        for (; place > begin && place[-1].combining_class > mark.combining_class; place--)
            *place = place[-1];
        *place = mark;
    }
}

} // namespace

uint32_t composite(uint32_t first, uint32_t second) {
    if (first - kLeading < kLeadingCount && second - kVowels < kVowelCount)
        return kSyllables + ((first - kLeading) * kVowelCount + second - kVowels) * kTrailingCount;
    if (first - kSyllables < kSyllableCount && (first - kSyllables) % kTrailingCount == 0 &&
        second - (kTrailing + 1) < kTrailingCount - 1)
        return first + second - kTrailing;
    // The row has pairs: the second code point, and what both compose to.
    for (const int32_t* row = kCompositionsFrom.of(first); *row >= 0; row += 2)
        if (uint32_t(*row) == second)
            return uint32_t(row[1]);
    return 0;
}

namespace {

constexpr int kVirama = 9; // combining class of the signs that take a letter's vowel away

// Composes a character with those after it. A code point between the two with the same or a higher
// combining class prevents that. Of equal viramas side by side only the first is kept: a letter
// that has one in its form may stand before another. Returns the number of code points written.
int compose(const Part* begin, const Part* end, uint32_t* out) {
    int length = 0, first = -1; // first: place in `out` of the one that later ones may compose with
    int highest = -1;           // highest combining class since then
    for (const Part* at = begin; at < end; at++) {
        int combining_class = int(at->combining_class);
        if (combining_class == kVirama && length > 0 && out[length - 1] == at->code_point)
            continue;
        if (first >= 0 && combining_class > highest)
            if (uint32_t composed = composite(out[first], at->code_point); composed != 0) {
                out[first] = composed;
                continue;
            }
        if (combining_class == 0)
            first = length;
        highest = combining_class == 0 ? -1 : std::max(highest, combining_class);
        out[length++] = at->code_point;
    }
    return length;
}

} // namespace

uint32_t form_of_one(uint32_t code_point) {
    const int32_t* row = kFormOf.of(code_point);
    return row[0] >= 0 && row[1] < 0 ? uint32_t(row[0]) : 0;
}

int normalise_segment(const uint32_t* segment, int length, uint32_t* out) {
    Part parts[kMaxNormalisedSegment];
    Part* end = parts;
    for (int i = 0; i < length; i++)
        end = put_form(segment[i], end);
    order_marks(parts, end);
    return compose(parts, end, out);
}

} // namespace simhash
