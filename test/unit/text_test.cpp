// From text to features: decoding, normalisation, words and character n-grams.
#include "core/text/code_point_rows.hpp"
#include "text_fixture.hpp"

#include <gtest/gtest.h>
#include <random>

namespace simhash::test {

TEST(Ascii, LettersAreThoseOfTheTable) {
    std::mt19937 random(8);
    for (int round = 0; round < 1000; round++) {
        uint8_t text[kAsciiBlock], folded[kAsciiBlock];
        for (size_t i = 0; i < kAsciiBlock; i++)
            text[i] = uint8_t(round < 2 ? 64 * round + i : random() % 128);
        const uint64_t letters = letters_of(text, folded);
        for (size_t i = 0; i < kAsciiBlock; i++) {
            EXPECT_EQ(letters >> i & 1, kFoldAscii[text[i]] != 0);
            if (letters >> i & 1) {
                EXPECT_EQ(folded[i], kFoldAscii[text[i]]);
            }
        }
    }
}

TEST(Words, OfAsciiAreTheSameByBlocksAndOneByOne) {
    std::mt19937 random(9);
    for (int round = 0; round < 300; round++) {
        std::string document;
        Strings expected;
        for (int i = 0; i < 60; i++) {
            const size_t length = 1 + random() % (random() % 20 == 0 ? 3000 : 12);
            std::string word;
            for (size_t j = 0; j < length; j++)
                word += "abcxyz0189"[random() % 10];
            for (size_t cut = 0; cut < length; cut += kMaxWord)
                expected.push_back(word.substr(cut, kMaxWord));
            if (random() % 2)
                word[0] = char(toupper(word[0]));
            document += word + std::string(1 + random() % (random() % 9 == 0 ? 100 : 2),
                                           " \n.-["[random() % 5]);
        }
        EXPECT_EQ(features(document), expected);
        EXPECT_EQ(features(document, FeatureKind::kWords, 1, 1 + random() % 100), expected);
    }
}

namespace {

uint32_t decode_one(std::string_view bytes, size_t* used) {
    const uint8_t* begin = reinterpret_cast<const uint8_t*>(bytes.data());
    const uint8_t* at = begin;
    const uint32_t code_point = decode_utf8(at, begin + bytes.size());
    *used = at - begin;
    return code_point;
}

} // namespace

TEST(Utf8, EveryCodePointRoundTrips) {
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (c >= 0xD800 && c <= 0xDFFF)
            continue;
        uint8_t bytes[4];
        const int length = encode_utf8(c, bytes);
        size_t used;
        ASSERT_EQ(decode_one({reinterpret_cast<const char*>(bytes), size_t(length)}, &used), c);
        ASSERT_EQ(used, size_t(length));
    }
}

TEST(Utf8, MalformedBytesAreTakenOneByOne) {
    const std::string_view malformed[] = {
        "\x80",         "\xC0\x80",         "\xC1\xBF",         "\xE0\x80\x80",
        "\xED\xA0\x80", "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80",
        "\xFF",         "\xE4\xB8",         "\xF0\x9F\x91",     "\xC3",
        "\xC3(",        "\xE4(\xB8"};
    for (const std::string_view bytes : malformed) {
        size_t used;
        EXPECT_EQ(decode_one(bytes, &used), kInvalidCharacter);
        EXPECT_EQ(used, 1u);
    }
}

TEST(Utf8, ALengthThatLiesIsNotBelieved) {
    // The last character is cut off; what follows it in memory must not be read.
    const std::string whole = "ab\u6771";
    for (size_t cut = 0; cut <= whole.size(); cut++) {
        const std::vector<char> exact(whole.begin(), whole.begin() + cut); // for the sanitizer
        features({exact.data(), exact.size()});
    }
}

TEST(CodePointRows, AreFoundByCodePoint) {
    static constexpr int32_t kList[] = {-66, 7, -1, 8, 0, -0x2FFBD, 9};
    static constexpr CodePointRows kRows(kList);
    static_assert(longest_row(kList) == 2);
    const auto row = [](uint32_t code_point) {
        std::vector<int> numbers;
        for (const int32_t* at = kRows.of(code_point); *at >= 0; at++)
            numbers.push_back(*at);
        return numbers;
    };
    EXPECT_EQ(row(0x41), std::vector<int>{7});
    EXPECT_EQ(row(0x42), (std::vector<int>{8, 0}));
    EXPECT_EQ(row(0x2FFFF), std::vector<int>{9});
    for (const uint32_t code_point : {0x0u, 0x40u, 0x43u, 0x80u, 0x2FFFEu, 0x30000u, 0x10FFFFu})
        EXPECT_EQ(row(code_point), std::vector<int>{});
}

TEST(Words, AreRunsOfLettersMarksAndDigits) {
    EXPECT_EQ(features("The quick, brown-fox_jumps 3.14 don't"),
              (Strings{"the", "quick", "brown", "fox", "jumps", "3", "14", "don", "t"}));
    EXPECT_EQ(features(""), Strings{});
    EXPECT_EQ(features(" .,;!\n\t\u2026\u3002"), Strings{});
}

TEST(Words, AreFoldedAndNormalised) {
    EXPECT_EQ(features("CAF\u00C9 cafe\u0301 \uFF21\uFF42\uFF23 \uFB01n Stra\u00DFe \u0130"),
              (Strings{"cafe", "cafe", "abc", "fin", "strasse", "i"}));
    EXPECT_EQ(features("\u041F\u0420\u0418\u0412\u0415\u0422"),
              (Strings{"\u043F\u0440\u0438\u0432\u0435\u0442"}));
}

TEST(Words, AreTheSameHoweverTheyAreWritten) {
    // A line has spellings of one text.
    const std::vector<std::string> lines[] = {
        // Accents, strokes and ligatures of Latin.
        {"\u0110\u01B0\u1EDDng ph\u1ED1", "\u0111\u01B0o\u031B\u0300ng pho\u0302\u0301",
         "Duong Pho"},
        {"za\u017C\u00F3\u0142\u0107 g\u0119\u015Bl\u0105 ja\u017A\u0144", "ZAZOLC GESLA JAZN"},
        {"\u0152uvre f\u00E6lles sm\u00F8r", "oeuvre faelles smor"},
        // The dots of Turkish.
        {"\u0130stanbul I\u015F\u0131k", "istanbul \u0131\u015F\u0131k", "ISTANBUL ISIK",
         "i\u0307stanbul isik"},
        // Capitals of Greek have no accents, and a sigma at the end of a word is one in its middle.
        {"\u039F\u03B4\u03C5\u03C3\u03C3\u03AD\u03B1\u03C2",
         "\u039F\u0394\u03A5\u03A3\u03A3\u0388\u0391\u03A3",
         "\u039F\u0394\u03A5\u03A3\u03A3\u0395\u0391\u03A3",
         "\u03BF\u03B4\u03C5\u03C3\u03C3\u03B5\u0301\u03B1\u03C2"},
        {"\u1F84", "\u03B1\u03B9", "\u0391\u0399", "\u1FBC"},
        // Cyrillic.
        {"\u0451\u0436 \u0438\u0439", "\u0415\u0416 \u0418\u0418",
         "\u0435\u0308\u0436 \u0438\u0438\u0306"},
        {"\u0491\u0430\u043D\u043E\u043A \u049B\u0430\u0437\u0430\u049B",
         "\u0433\u0430\u043D\u043E\u043A \u043A\u0430\u0437\u0430\u043A"},
        // Arabic: vowel signs, tatweel, hamza, the wasla, forms of kaf, yeh and heh.
        {"\u0643\u0650\u062A\u064E\u0627\u0628\u064C", "\u0643\u062A\u0640\u0640\u0640\u0627\u0628",
         "\u0643\u062A\u0627\u0628", "\u06A9\u062A\u0627\u0628", "\uFEDB\uFE98\uFE8E\uFE8F"},
        {"\u0623\u062D\u0645\u062F \u0622\u0645\u0646 \u0671\u0644\u0644\u0647",
         "\u0627\u062D\u0645\u062F \u0627\u0645\u0646 \u0627\u0644\u0644\u0647",
         "\u0627\u0654\u062D\u0645\u062F \u0627\u0653\u0645\u0646 \u0627\u0644\u0644\u0647"},
        {"\u0639\u0644\u0649 \u0645\u062F\u0631\u0633\u0629",
         "\u0639\u0644\u064A \u0645\u062F\u0631\u0633\u0647",
         "\u0639\u0644\u06CC \u0645\u062F\u0631\u0633\u06C1",
         "\u0639\u0644\u06D2 \u0645\u062F\u0631\u0633\u06C3"},
        {"\u062E\u0627\u0646\u06C0", "\u062E\u0627\u0646\u0647", "\u062E\u0627\u0646\u06D5"},
        // Hebrew points.
        {"\u05E9\u05B8\u05C1\u05DC\u05D5\u05B9\u05DD", "\uFB2A\u05DC\uFB4B\u05DD",
         "\u05E9\u05DC\u05D5\u05DD"},
        // Letters and accents that serve as apostrophes.
        {"p'yat o'qi", "p\u02BCyat o\u02BBqi", "p\u2019yat o\u02BFqi", "p\u00B4yat o`qi",
         "p\uA78Cyat o\u02B9qi"},
        // A keycap is its digit. Signs of rights come and go.
        {"1 2", "1\uFE0F\u20E3 2\u20E3", "\u2460 \u2461"},
        {"Acme 5", "Acme\u2122 5", "Acme\u00AE 5", "\u00A9 Acme 5"},
    };
    for (const std::vector<std::string>& spellings : lines)
        for (const std::string& spelling : spellings)
            for (const FeatureKind kind : {FeatureKind::kWords, FeatureKind::kCharacters})
                EXPECT_EQ(features(spelling, kind), features(spellings[0], kind)) << spelling;
}

// Letters that Unicode has once as one letter, and once as a sequence with a joiner.
TEST(Words, JoinersDoNotTellALetterFromASequence) {
    const std::string zwj = "\u200D", zwnj = "\u200C";
    const std::vector<std::vector<std::string>> lines = {
        // Malayalam: each chillu, and what ISCII wrote in its place.
        {"\u0D7A\u0D7B\u0D7C", "\u0D23\u0D4D" + zwj + "\u0D28\u0D4D" + zwj + "\u0D30\u0D4D" + zwj},
        {"\u0D7D\u0D7E\u0D7F", "\u0D32\u0D4D" + zwj + "\u0D33\u0D4D" + zwj + "\u0D15\u0D4D" + zwj},
        {"\u0D54\u0D55\u0D56", "\u0D2E\u0D4D" + zwj + "\u0D2F\u0D4D" + zwj + "\u0D34\u0D4D" + zwj},
        // Chillu RR before a consonant, or a dot above that.
        {"\u0D38\u0D7C\u0D15\u0D4D\u0D15\u0D3E\u0D7C",
         "\u0D38\u0D4E\u0D15\u0D4D\u0D15\u0D3E\u0D30\u0D4D"},
        // "My": chillu N, virama, rra; na, virama, rra; chillu N, rra.
        {"\u0D0E\u0D7B\u0D4D\u0D31\u0D46", "\u0D0E\u0D28\u0D4D\u0D31\u0D46",
         "\u0D0E\u0D7B\u0D31\u0D46", "\u0D0E\u0D28\u0D4D" + zwj + "\u0D31\u0D46",
         "\u0D0E\u0D28\u0D4D" + zwnj + "\u0D31\u0D46"},
        // The vowel sign au: of two parts, as one sign, and its second part alone.
        {"\u0D15\u0D4C", "\u0D15\u0D46\u0D57", "\u0D15\u0D57"},
        // Bengali khanda ta, Telugu and Kannada nakaara pollu.
        {"\u0989\u09CE\u09B8", "\u0989\u09A4\u09CD" + zwj + "\u09B8"},
        {"\u0C35\u0C5D", "\u0C35\u0C28\u0C4D" + zwj}, // before its consonant, or at the end
        {"\u0C85\u0CB5\u0CDD", "\u0C85\u0CB5\u0CA8\u0CCD" + zwj},
        // Eyelash ra: with a joiner, U+0931, and that decomposed; and as Nepali writes it.
        {"\u0926\u0930\u094D" + zwj + "\u092F\u093E", "\u0926\u0931\u094D\u092F\u093E",
         "\u0926\u0930\u093C\u094D\u092F\u093E", "\u0926\u0930\u094D\u200D\u200B\u092F\u093E"},
        // Two viramas are how ISCII wrote a virama and U+200C.
        {"\u0915\u094D" + zwnj + "\u0937", "\u0915\u094D\u094D\u0937"},
        // Joiners within other scripts: a ligature of Latin, Sinhala, Khmer.
        {"Auflage", "Auf" + zwnj + "lage", "Auf" + zwj + "lage"},
        {"\u0DC1\u0DCA" + zwj + "\u0DBB\u0DD3", "\u0DC1\u0DCA\u0DBB\u0DD3"},
    };
    for (const std::vector<std::string>& spellings : lines)
        for (const std::string& spelling : spellings)
            for (const FeatureKind kind : {FeatureKind::kWords, FeatureKind::kCharacters})
                EXPECT_EQ(features("x " + spelling + " y", kind, 3),
                          features("x " + spellings[0] + " y", kind, 3))
                    << spelling;
    // Without its virama a letter is another one, and viramas that differ are two.
    EXPECT_NE(features("\u0D7B"), features("\u0D28"));
    EXPECT_NE(features("\u09CE"), features("\u09A4"));
    EXPECT_NE(features("\u1004\u103A\u1039\u1000"), features("\u1004\u103A\u1000"));
    EXPECT_NE(features("\u0921\u093C"), features("\u0921")); // another letter's nukta counts
}

// In Arabic script U+200C separates words, as a blank does.
TEST(Words, ANonJoinerOfArabicScriptIsABlank) {
    for (const std::string& zwnj :
         Strings{"\u200C", "\u200C\u200C", "\u064E\u200C", "\u00AD\u200C", "\u200C\u200D"}) {
        EXPECT_EQ(features("\u0645\u06CC" + zwnj + "\u062E\u0648\u0627\u0647\u0645"),
                  features("\u0645\u06CC \u062E\u0648\u0627\u0647\u0645"));
        // Beside digits, Latin letters, presentation forms, and both halves of a supplement.
        EXPECT_EQ(features("PDF" + zwnj + "\u0647\u0627"), features("PDF \u0647\u0627"));
        EXPECT_EQ(features("\u06F5" + zwnj + "7"), features("\u06F5 7"));
        EXPECT_EQ(features("\uFEFB" + zwnj + "x"), features("\uFEFB x"));
        EXPECT_EQ(features("\u0750" + zwnj + "\u08A0"), features("\u0750 \u08A0"));
    }
    // Elsewhere it is nothing, whatever comes later.
    EXPECT_EQ(features("x\u200Cy\u0645"), features("xy\u0645"));
    EXPECT_EQ(features("x\u200Cy\u00AD\u0645"), features("xy\u0645"));
    EXPECT_EQ(features("\u0915\u094D\u200C\u0937"), features("\u0915\u094D\u0937"));
    EXPECT_EQ(features("\u200C\u0645"), features("\u0645"));
    EXPECT_EQ(features("\u0645\u200C"), features("\u0645"));
    EXPECT_EQ(features("\u0645\u200Cx", FeatureKind::kCharacters, 3), (Strings{"\u0645 x"}));
}

// A hyphen that is there for the line's end goes with it.
TEST(Words, ASoftHyphenBeforeALineBreakJoinsTheHalves) {
    for (const std::string hyphen :
         {"\u00AD", "\u00AC", "\u00AD\u200B", "\u00AD\uFE0F", "\u00AD\u00AD"})
        for (const std::string end : {"\n", "\r\n", "\r", " \n", " \r\n\t ", "\u0085", "\u2028",
                                      "\f", "\n\n", "\u00A0\n\u3000", "\n\uFEFF"}) {
            EXPECT_EQ(features("soft" + hyphen + end + "ware"), (Strings{"software"})) << end;
            EXPECT_EQ(features("caf\u00e9" + hyphen + end + "\u00e9"), (Strings{"cafee"}));
            EXPECT_EQ(features("soft" + hyphen + end + "ware", FeatureKind::kCharacters, 8),
                      (Strings{"software"}));
        }
    // The halves may be of any script, and a mark of the second may stand on the first.
    EXPECT_EQ(features("\u0915\u00AD\n\u093F"), features("\u0915\u093F"));
    EXPECT_EQ(features("\u1100\u00AD\n\u1161"), features("\uAC00"));
    // Inside a line a soft hyphen is nothing, and U+00AC a sign.
    EXPECT_EQ(features("soft\u00ADware"), (Strings{"software"}));
    EXPECT_EQ(features("soft\u00AD ware"), (Strings{"soft", "ware"}));
    EXPECT_EQ(features("soft\u00AD \u00ADware"), (Strings{"soft", "ware"}));
    EXPECT_EQ(features("p\u00ACq \u00AC r \uFFE2\ns"), (Strings{"p", "q", "r", "s"}));
    EXPECT_EQ(features("\u00AC\u00AC\nq\u00AC"), (Strings{"q"}));
    EXPECT_EQ(features("p \u00AC\nq"), (Strings{"p", "q"}));
    EXPECT_EQ(features("soft\u00AD"), (Strings{"soft"}));
    // Any other hyphen separates: "price-" and "determining" may be two words.
    for (const std::string hyphen : {"-", "\u2010", "\u2027", "\u058A"})
        EXPECT_EQ(features("price" + hyphen + "\ndetermining"), (Strings{"price", "determining"}));
}

TEST(Words, MarksOfOtherScriptsCount) {
    // Vowel signs of Devanagari and Thai, voicing marks of Kana.
    EXPECT_NE(features("\u0915\u093F"), features("\u0915"));
    EXPECT_NE(features("\u0E01\u0E34\u0E19"), features("\u0E01\u0E19"));
    EXPECT_NE(features("\u304C\u304D"), features("\u304B\u304D"));
    EXPECT_NE(features("\u067E"), features("\u0628")); // a dot of an Arabic letter is not a mark
}

TEST(Words, EquivalentSpellingsAreTheSame) {
    // Precomposed and decomposed; marks in any order; a Hangul syllable and its jamo; halfwidth
    // Kana.
    const std::pair<std::string, std::string> pairs[] = {
        {"\u1E69", "s\u0307\u0323"},
        {"s\u0323\u0307", "s\u0307\u0323"},
        {"\uD55C\uAD6D", "\u1112\u1161\u11AB\u1100\u116E\u11A8"},
        {"\u30AC\u30AE", "\uFF76\uFF9E\uFF77\uFF9E"},
        {"\u1FB4", "\u03B1\u0345\u0301"},
        {"\u0958", "\u0915\u093C"},
        {"\u09CB", "\u09C7\u09BE"},
        {"\u2260", "=\u0338"},
        {"\u212B", "A\u030A"},
        {"x\u00ADy\u200Dz\uFE0F", "xyz"},
        {"\u0E01\u0E33", "\u0E01\u0E4D\u0E32"},
    };
    for (const auto& [one, other] : pairs) {
        EXPECT_EQ(features("a " + one + " b"), features("a " + other + " b")) << one;
        EXPECT_EQ(features("a" + one + "b"), features("a" + other + "b")) << one;
        EXPECT_EQ(features(one, FeatureKind::kCharacters, 2),
                  features(other, FeatureKind::kCharacters, 2));
    }
}

TEST(Words, ScriptsWithoutSpacesGivePairs) {
    EXPECT_EQ(features("\u6771\u4EAC\u90FD"), (Strings{"\u6771\u4EAC", "\u4EAC\u90FD"}));
    EXPECT_EQ(features("\u6771"), (Strings{"\u6771"}));
    EXPECT_EQ(features("\u6771 a \u4EAC"), (Strings{"\u6771", "a", "\u4EAC"}));
    EXPECT_EQ(features("PG\u6570\u636E2024\u5E74"),
              (Strings{"pg", "\u6570\u636E", "2024", "\u5E74"}));
    // Kana keep their voicing marks, Thai letters their vowel signs.
    EXPECT_EQ(features("\u304B\u3099\u304D"), (Strings{"\u304C\u304D"}));
    EXPECT_EQ(features("\u0E01\u0E34\u0E19"), (Strings{"\u0E01\u0E34\u0E19"}));
}

TEST(Words, RunsOfScriptsWithoutSpacesGoOnOverSeparators) {
    const Strings tokyo = {"\u6771\u4EAC", "\u4EAC\u90FD"};
    for (const std::string separator : {"\n", " ", "\u3000", "\u3001", "\uFF0C", ", ", "\u3002\r\n",
                                        "**", "\u300D\uFF08", " \u2026 ", "\u30FB"})
        EXPECT_EQ(features("(\u6771" + separator + "\u4EAC" + separator + "\u90FD" + separator),
                  tokyo);
    // A word of another script ends them, as do a digit and a pictograph.
    EXPECT_EQ(features("\u6771\u4EAC, a, \u90FD"), (Strings{"\u6771\u4EAC", "a", "\u90FD"}));
    EXPECT_EQ(features("\u6771 1 \u4EAC"), (Strings{"\u6771", "1", "\u4EAC"}));
    EXPECT_EQ(features("\u6771 \u2B50 \u4EAC"), (Strings{"\u6771", "\u2B50", "\u4EAC"}));
    EXPECT_EQ(features("\u6771. \u00E9 \u4EAC"), (Strings{"\u6771", "e", "\u4EAC"}));
    // A mark that a line break has cut off stays with its letter.
    EXPECT_EQ(features("\u0E01\n\u0E34\u0E19"), (Strings{"\u0E01\u0E34\u0E19"}));
    EXPECT_EQ(features("\u304B\n\u3099\u304D"), (Strings{"\u304C\u304D"}));
    EXPECT_EQ(features("\uFF8A \n\uFF9F\uFF9E\u304D"), (Strings{"\u30D1\u3099\u304D"}));
    EXPECT_EQ(features("\u0E01\u0E35\n\u0E48\u0E19", FeatureKind::kCharacters, 2),
              features("\u0E01\u0E35\u0E48\u0E19", FeatureKind::kCharacters, 2));
}

TEST(Words, OfAWrappedTextAreThoseOfTheText) {
    // Chinese, Japanese, Thai, Lao, Khmer, Myanmar, in code points.
    const std::u32string texts[] = {
        U"\u4EBA\u4EBA\u751F\u800C\u81EA\u7531\u5728\u5C0A\u4E25\u548C\u6743\u5229\u4E0A\u4E00"
        U"\u5F8B\u5E73\u7B49\u4ED6\u4EEC\u8D4B\u6709\u7406\u6027\u548C\u826F\u5FC3",
        U"\u3059\u3079\u3066\u306E\u4EBA\u9593\u306F\u751F\u307E\u308C\u306A\u304C\u3089\u306B"
        U"\u3057\u3066\u81EA\u7531\u3067\u3042\u308A\u30C7\u30FC\u30BF\u30D9\u30FC\u30B9\u3092"
        U"\u4F5C\u308B",
        U"\u0E40\u0E1B\u0E47\u0E19\u0E21\u0E19\u0E38\u0E29\u0E22\u0E4C\u0E2A\u0E38\u0E14\u0E1B"
        U"\u0E23\u0E30\u0E40\u0E2A\u0E23\u0E34\u0E10\u0E40\u0E25\u0E34\u0E28\u0E04\u0E38\u0E13"
        U"\u0E04\u0E48\u0E32\u0E19\u0E49\u0E33",
        U"\u0EA1\u0EB0\u0E99\u0EB8\u0E94\u0E97\u0EB8\u0E81\u0E84\u0EBB\u0E99\u0EC0\u0E81\u0EB5"
        U"\u0E94\u0EA1\u0EB2\u0EA1\u0EB5\u0E81\u0EBD\u0E94\u0EAA\u0EB1\u0E81\u0EAA\u0EB5",
        U"\u1798\u1793\u17BB\u179F\u17D2\u179F\u1791\u17B6\u17C6\u1784\u17A2\u179F\u17CB\u1780"
        U"\u17BE\u178F\u1798\u1780\u1798\u17B6\u1793\u179F\u17C1\u179A\u17B8\u1797\u17B6\u1796",
        U"\u101C\u1030\u1010\u102D\u102F\u1004\u103A\u1038\u101E\u100A\u103A\u1010\u1030\u100A"
        U"\u102E\u101E\u1031\u102C\u101C\u103D\u1010\u103A\u101C\u1015\u103A\u1001\u103C\u1004"
        U"\u103A\u1038",
    };
    const auto utf8 = [](std::u32string_view text) {
        std::string encoded;
        for (const char32_t code_point : text) {
            uint8_t bytes[4];
            encoded.append(reinterpret_cast<char*>(bytes), encode_utf8(code_point, bytes));
        }
        return encoded;
    };
    for (const std::u32string& text : texts)
        for (const FeatureKind kind : {FeatureKind::kWords, FeatureKind::kCharacters})
            for (size_t columns = 1; columns <= text.size(); columns++) {
                std::string wrapped;
                for (size_t at = 0; at < text.size(); at += columns)
                    wrapped += utf8(std::u32string_view(text).substr(at, columns)) + "\n";
                ASSERT_EQ(features(wrapped, kind, 3), features(utf8(text), kind, 3)) << wrapped;
            }
}

TEST(Words, OtherScripts) {
    EXPECT_EQ(features("\u0645\u0631\u062D\u0628\u0627 \u05E9\u05DC\u05D5\u05DD"),
              (Strings{"\u0645\u0631\u062D\u0628\u0627", "\u05E9\u05DC\u05D5\u05DD"}));
    EXPECT_EQ(features("\u0939\u093F\u0928\u094D\u0926\u0940"),
              (Strings{"\u0939\u093F\u0928\u094D\u0926\u0940"}));
    EXPECT_EQ(features("\uD55C\uAD6D\uC5B4 \uBB38\uC11C"),
              (Strings{"\uD55C\uAD6D\uC5B4", "\uBB38\uC11C"}));
    EXPECT_EQ(features("\u200Fabc\u202E \u0661\u0662"), (Strings{"abc", "\u0661\u0662"}));
}

TEST(Words, APictographIsAWordInEverySkinTone) {
    EXPECT_EQ(features("ok\U0001F44D\U0001F3FD\U0001F44D"),
              (Strings{"ok", "\U0001F44D", "\U0001F44D"}));
    // A star, an hourglass, an arrow, a flag, and what Unicode 15.0 reserves for pictographs.
    EXPECT_EQ(features("\u2B50\uFE0F\u2B50\u231B\u2194\U0001F1E9\U0001F1EA\U0001FAE9"),
              (Strings{"\u2B50", "\u2B50", "\u231B", "\u2194", "\U0001F1E9", "\U0001F1EA",
                       "\U0001FAE9"}));
    // Punctuation and letters by their normal form.
    EXPECT_EQ(features("wow\u203C\uFE0F \u24C2"), (Strings{"wow", "m"}));
}

TEST(Words, CodePointsUnknownToUnicode15AreLetters) {
    EXPECT_EQ(features("x\U0001C8A0y"), (Strings{"x\U0001C8A0y"})); // given out in none
    EXPECT_EQ(features("x\uFFFEy"), (Strings{"x", "y"}));           // a noncharacter
}

TEST(Words, NothingChangesCodePointsUnknownToUnicode15) {
    // Unicode 16 gave out U+10D50, a capital letter, and U+105D2, which composes with U+0307.
    EXPECT_EQ(features("\U00010D50"), (Strings{"\U00010D50"}));
    EXPECT_EQ(features("\U000105D2\u0307"), (Strings{"\U000105D2"}));
    EXPECT_EQ(features("\U00010D50\u094D\u093C"), (Strings{"\U00010D50\u093C\u094D"}));
}

TEST(Words, ShinglesAreConsecutiveWords) {
    EXPECT_EQ(features("a b, c d", FeatureKind::kWords, 2), (Strings{"a b", "b c", "c d"}));
    EXPECT_EQ(features("a b, c d", FeatureKind::kWords, 3), (Strings{"a b c", "b c d"}));
    EXPECT_EQ(features("a b", FeatureKind::kWords, 3), (Strings{"a b"}));
    EXPECT_EQ(features("a", FeatureKind::kWords, 32), (Strings{"a"}));
    EXPECT_EQ(features("--", FeatureKind::kWords, 3), Strings{});
    EXPECT_EQ(features("\u6771\u4EAC\u90FD x", FeatureKind::kWords, 2),
              (Strings{"\u6771\u4EAC \u4EAC\u90FD", "\u4EAC\u90FD x"}));
}

// It is full of bytes, or of words.
TEST(Words, ShinglesSurviveTheWindowMoving) {
    std::mt19937 random(1);
    for (const int longest : {3, 255}) {
        std::string document;
        Strings words;
        for (int i = 0; i < 3000; i++) {
            words.push_back(std::string(1 + random() % longest, char('a' + random() % 26)));
            document += words.back() + " ";
        }
        for (const int width : {1, 2, 7, 32}) {
            const Strings shingles = features(document, FeatureKind::kWords, width);
            ASSERT_EQ(shingles.size(), words.size() - width + 1);
            for (size_t i = 0; i < shingles.size(); i++) {
                std::string expected = words[i];
                for (int j = 1; j < width; j++)
                    expected += " " + words[i + j];
                ASSERT_EQ(shingles[i], expected);
            }
        }
    }
}

TEST(Words, AnEndlessWordIsCut) {
    const Strings ascii = features(std::string(1000, 'A'));
    EXPECT_EQ(ascii.size(), 4u);
    EXPECT_EQ(ascii[0], std::string(255, 'a'));
    std::string cyrillic;
    for (int i = 0; i < 500; i++)
        cyrillic += "\u0436";
    const Strings words = features(cyrillic);
    EXPECT_EQ(words.size(), 4u);
    EXPECT_EQ(words[0].size(), 254u); // never inside a character
}

TEST(Words, EndlessMarksAreBounded) {
    std::string marks;
    for (int i = 0; i < 100000; i++)
        marks += i % 2 ? "\u093C" : "\u094D"; // sorting them all at once would be quadratic
    EXPECT_GT(features("\u0915" + marks).size(), 100u);
    EXPECT_EQ(features("\u304B" + marks).size(), 1u);
    EXPECT_GT(features("\u304B" + marks, FeatureKind::kCharacters, 3).size(), 100u);
}

TEST(Characters, AreJoinedByOneSpace) {
    EXPECT_EQ(features("It's,  a", FeatureKind::kCharacters, 4), (Strings{"it s", "t s ", " s a"}));
    EXPECT_EQ(features("ab", FeatureKind::kCharacters, 4), (Strings{"ab"}));
    EXPECT_EQ(features("...", FeatureKind::kCharacters, 4), Strings{});
    // No space beside a script that has none, so that line breaks do not matter.
    EXPECT_EQ(features("\u6771\n\u4EAC \u90FD PG", FeatureKind::kCharacters, 3),
              features("\u6771\u4EAC\u90FDPG", FeatureKind::kCharacters, 3));
}

TEST(Reader, SlicingChangesNothing) {
    const std::string document =
        "Cafe\u0301 na\u00EFve \u6771\u4EAC\u90FD\u304B\u3099 \u0E01\u0E34\u0E19\n\u0E19 "
        "\U0001F44D\U0001F3FD \u0915\u094D\u093C 1\u20E3 \uFF76\uFF9E";
    for (const FeatureKind kind : {FeatureKind::kWords, FeatureKind::kCharacters})
        for (const int width : {1, 3})
            for (size_t slice = 1; slice < 9; slice++)
                EXPECT_EQ(features(document, kind, width, slice), features(document, kind, width));
}

TEST(Reader, RandomBytesAreReadWithoutHarm) {
    std::mt19937 random(2);
    for (int i = 0; i < 20000; i++) {
        std::string bytes(random() % 60, 0);
        for (char& byte : bytes)
            byte = char(random() % 3 ? random() | 0x80 : random());
        for (const FeatureKind kind : {FeatureKind::kWords, FeatureKind::kCharacters})
            features(bytes, kind, 1 + random() % 4);
    }
}

} // namespace simhash::test
