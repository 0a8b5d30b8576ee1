// Coded words: they are read as they were coded, and give the shingles of the document.
#include "core/text/coded_words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "random.hpp"
#include "text_fixture.hpp"

namespace simhash::test {

namespace {

// A word of a vocabulary of which the first ones are frequent; some are long.
std::string some_word(Random& random, uint64_t vocabulary) {
    uint64_t word = random.below(random.below(vocabulary) + 1);
    size_t bytes = word % 50 == 49 ? 10 + word % 300 : 1 + word % 18;
    std::string text;
    for (uint64_t state = word + 1; text.size() < bytes; state = state * 6364136223846793005 + 1)
        text += char('a' + (state >> 33) % 26);
    return text;
}

std::string some_document(Random& random, uint64_t vocabulary) {
    std::string document;
    for (uint64_t words = random.below(60); words > 0; words--)
        document +=
            some_word(random, vocabulary) + (random.below(20) == 0 ? "。東京、京都! é" : ", ");
    return document;
}

struct Coded {
    std::vector<uint8_t> bytes;
    Strings words, shingles;
};

Coded coded(std::string_view document, WordTable* table, int width) {
    Coded coded;
    WordCoder coder(malloc_memory(), table);
    SlicedText text{document, 100};
    each_word(text.source(), coder);
    coded.bytes.assign(coder.coded().begin(), coder.coded().end());
    coder.release();
    CollectStrings words;
    each_coded_word(*table, coded.bytes, words);
    coded.words = words.strings;
    CollectStrings shingles;
    Shingles<CollectStrings> maker(shingles, width);
    each_coded_word(*table, coded.bytes, maker);
    maker.finish();
    coded.shingles = shingles.strings;
    return coded;
}

TEST(CodedWords, GiveTheShinglesOfTheDocument) {
    Random random(11);
    // A small table is soon full.
    for (size_t bytes : {size_t{0}, size_t{1} << 20})
        for (uint64_t vocabulary : {20, 400, 100000}) {
            WordTable table(malloc_memory(), bytes);
            for (int turn = 0; turn < 400; turn++) {
                std::string document = some_document(random, vocabulary);
                Coded of = coded(document, &table, 3);
                ASSERT_EQ(of.words, features(document)) << document;
                ASSERT_EQ(of.shingles, features(document, FeatureKind::kWords, 3)) << document;
            }
            table.release();
        }
}

// What was coded early is read when the table has grown.
TEST(CodedWords, StayAsTheyWere) {
    Random random(12);
    WordTable table(malloc_memory(), size_t{1} << 20);
    std::vector<std::string> documents;
    std::vector<std::vector<uint8_t>> kept;
    for (int turn = 0; turn < 3000; turn++) {
        documents.push_back(some_document(random, 5000));
        kept.push_back(coded(documents.back(), &table, 3).bytes);
    }
    for (size_t i = 0; i < kept.size(); i++) {
        CollectStrings words;
        each_coded_word(table, kept[i], words);
        ASSERT_EQ(words.strings, features(documents[i]));
    }
    table.release();
}

TEST(CodedWords, TakeTwoBytesForAWordThatIsKnown) {
    Random random(13);
    WordTable table(malloc_memory(), size_t{1} << 20);
    std::string document = "the quick brown fox jumps over the lazy dog";
    EXPECT_EQ(coded(document, &table, 3).bytes.size(), 8u * 3 + 32 + 2);
    EXPECT_EQ(coded(document, &table, 3).bytes.size(), 18u);
    EXPECT_EQ(coded(document, &table, 3).bytes.size(), 18u);
    // Words that do not come again leave the places to those that do.
    for (int i = 0; i < 200000; i++)
        coded("once" + std::to_string(i), &table, 3);
    coded("often often", &table, 3);
    EXPECT_EQ(coded("often", &table, 3).bytes.size(), 2u);
    // A word of more than 15 bytes has no number.
    coded("counterrevolutionary counterrevolutionary", &table, 3);
    EXPECT_EQ(coded("counterrevolutionary", &table, 3).bytes.size(), 3u + 20);
    table.release();
}

} // namespace

} // namespace simhash::test
