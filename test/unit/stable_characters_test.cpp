// What the reader makes of a text does not change unawares: fingerprints are stored data. Every code
// point is read alone, in many contexts, and in random company; checksums of what comes out are
// compared with those of 1.3. In 1.2, of which normalisation by ICU 72 gave the same characters, none
// is different but those that docs/fingerprints.md names.
#include <cstdio>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/reader.hpp"

namespace simhash::test {

namespace {

constexpr uint32_t kBeyondCodePoints = 0x110000;

bool scalar_value(uint32_t code_point) {
    return code_point < 0xD800 || (code_point > 0xDFFF && code_point < kBeyondCodePoints);
}

// A sink: FNV-1a over the characters, all separators being alike.
class Checksum {
  public:
    void ascii(const uint8_t* begin, const uint8_t* end) {
        for (const uint8_t* at = begin; at < end; at++)
            character(kFoldAscii[*at], kFoldAscii[*at] != 0 ? kLetter : kSeparator);
    }
    void character(uint32_t code_point, CharacterKind kind) {
        add(kind == kSeparator ? 0 : code_point << 8 | kind);
    }
    uint64_t value() const { return value_; }

  private:
    void add(uint32_t number) { value_ = (value_ ^ number) * 0x100000001B3; }

    uint64_t value_ = 0xCBF29CE484222325;
};

// A text that is read bit by bit, as it is written.
class Text {
  public:
    void add(uint32_t code_point) {
        used_ += encode_utf8(code_point, bytes_ + used_);
        if (used_ > sizeof bytes_ - kMaxBytes)
            read();
    }
    uint64_t checksum() {
        read();
        reader_.finish(checksum_);
        return checksum_.value();
    }

  private:
    static constexpr size_t kMaxBytes = 4; // of one code point

    void read() {
        reader_.feed(checksum_, bytes_, used_);
        used_ = 0;
    }

    uint8_t bytes_[4096];
    size_t used_ = 0;
    TextReader reader_;
    Checksum checksum_;
};

// In a context '*' stands for the code point, '+' for the one after it.
uint64_t checksum_in(std::u32string_view context) {
    Text text;
    for (uint32_t code_point = 0; code_point < kBeyondCodePoints; code_point++) {
        if (!scalar_value(code_point))
            continue;
        for (const char32_t part : context)
            if (part == '*')
                text.add(code_point);
            else if (part == '+')
                text.add(scalar_value(code_point + 1) ? code_point + 1 : 0);
            else
                text.add(part);
        text.add('\n');
    }
    return text.checksum();
}

struct Context {
    std::u32string_view text;
    uint64_t checksum;
};

// The marks' combining classes: U+0301 230, U+0323 220, U+031B 216, U+0334 1, U+093C 7, U+3099 8,
// U+094D 9, U+0345 240, U+0307 230. U+10D50 was not assigned in Unicode 15.0 and is a letter today.
constexpr Context kContexts[] = {
    {U"*", 0x28B6AD38C50BEACA},
    // Beside letters and marks, of which accents make no difference.
    {U"a*", 0xF95D961CA3551B84},
    {U"*\u0301", 0x28B6AD38C50BEACA},
    {U"a*\u0301", 0xF95D961CA3551B84},
    {U"*\u0323\u0301", 0x28B6AD38C50BEACA},
    {U"o\u031B*\u0309\u0323", 0x0DDE1F68B4951F84},
    {U"*\u0334", 0x28B6AD38C50BEACA},
    {U"*\u093C\u094D", 0xC8D0BAC813812890},
    {U"\u0915*\u094D\u093C", 0xE1ECA1AC0DA2170A},
    {U"*\u3099", 0x8F220E8B103D026E},
    {U"\u304B*\u3099", 0x9FEC175FCB628296},
    // U+0345 folds to a letter.
    {U"*\u0345", 0x0F8356918CEEFF14},
    {U"*\u0345\u0301", 0x0F8356918CEEFF14},
    {U"\u03B1*\u0301\u0345", 0xB050AD49DF60E4EA},
    {U"\u03B1\u0345*\u0301", 0x0EEF5BB198093532},
    // Hangul.
    {U"\u1100*\u11A8", 0x943F2206DA73D37A},
    {U"\u1100\u1161*", 0xFE076E9442799AA3},
    {U"\uAC00*\u0301", 0xFE076E9442799AA3},
    {U"*\u1161\u11A8", 0xF7CE4B7CB9DE4F78},
    {U"*\u11A8", 0x3CEEE44328D6270A},
    // In pairs.
    {U"**\u0301", 0xE0C5EB80A127A19D},
    {U"*\u0301+\u0323", 0x1587A6DECEC8C4BF},
    {U"*\U00010D50\u0301", 0xD94434D78856E114},
    {U"\U00010D50*\u0301", 0xF873941DEEF82184},
    {U"\U00010D50\u0301*\u0345", 0x61B9FFD595C6D6EA},
};

std::string printable(std::u32string_view context) {
    std::string out;
    char number[16];
    for (const char32_t part : context) {
        snprintf(number, sizeof number, part < 0x80 ? "%c" : "\\u%04X", unsigned(part));
        out += number;
    }
    return out;
}

// All that are second in a canonical composition, but for jamo.
constexpr std::u32string_view kSeconds =
    U"\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u0309\u030A\u030B\u030C\u030F\u0311\u0313"
    U"\u0314\u031B\u0323\u0324\u0325\u0326\u0327\u0328\u032D\u032E\u0330\u0331\u0338\u0342\u0345"
    U"\u0653\u0654\u0655\u093C\u09BE\u09D7\u0B3E\u0B56\u0B57\u0BBE\u0BD7\u0C56\u0CC2\u0CD5\u0CD6"
    U"\u0D3E\u0D57\u0DCA\u0DCF\u0DDF\u102E\u1B35\u3099\u309A\U000110BA\U00011127\U0001133E"
    U"\U00011357\U000114B0\U000114BA\U000114BD\U000115AF\U00011930";

} // namespace

TEST(StableCharacters, EveryCodePointInEveryContext) {
    for (const Context& context : kContexts)
        EXPECT_EQ(checksum_in(context.text), context.checksum) << printable(context.text);
}

TEST(StableCharacters, EveryCompositionOfPlanes0And1) {
    Text text;
    for (uint32_t first = 0; first < 0x20000; first++)
        for (const char32_t second : kSeconds)
            if (scalar_value(first)) {
                text.add(first);
                text.add(second);
                text.add('\n');
            }
    EXPECT_EQ(text.checksum(), 0x1BFD6103D44793AFu);
}

TEST(StableCharacters, RandomText) {
    std::vector<uint32_t> joining, changing;
    for (uint32_t code_point = 0; code_point < kBeyondCodePoints; code_point++) {
        if (character_class(code_point) & kJoinsPrevious)
            joining.push_back(code_point);
        if (character_class(code_point) & kChanges)
            changing.push_back(code_point);
    }
    std::mt19937 random(17);
    const auto any_of = [&](const auto& code_points) {
        return code_points[random() % code_points.size()];
    };
    Text text;
    for (int line = 0; line < 300000; line++) {
        // Some longer than a segment may be.
        for (size_t length = random() % (line % 50 == 0 ? 70 : 10); length > 0; length--) {
            switch (random() % 8) {
            case 0:
                text.add(any_of(changing));
                break;
            case 1:
                text.add(random() % 0xD800);
                break;
            case 2:
                text.add(0x10000 + random() % 0x20000);
                break;
            case 3:
                text.add(any_of(kSeconds));
                break;
            case 4:
                text.add(0x300 + random() % 0x70);
                break;
            default:
                text.add(any_of(joining));
            }
        }
        text.add('\n');
    }
    EXPECT_EQ(text.checksum(), 0x53CE80C185D0166Cu);
}

} // namespace simhash::test
