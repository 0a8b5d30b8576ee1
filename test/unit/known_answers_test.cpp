// The fingerprints that programs elsewhere are compared with (test/data/known_answers.tsv) are those
// that this machine computes.
#include <bitset>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <sstream>

#include "core/text/minhash.hpp"
#include "text_fixture.hpp"

namespace simhash::test {

namespace {

Strings split(const std::string& text, char separator) {
    Strings parts;
    std::istringstream stream(text + separator);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

// A field in the text format of COPY.
std::string unescaped(const std::string& field) {
    const std::map<char, char> escapes = {{'n', '\n'}, {'r', '\r'}, {'t', '\t'}};
    std::string text;
    for (size_t i = 0; i < field.size(); i++) {
        if (field[i] != '\\') {
            text += field[i];
            continue;
        }
        const auto escape = escapes.find(field[++i]);
        text += escape == escapes.end() ? field[i] : escape->second;
    }
    return text;
}

// The digits of a code, or what the file has for none.
template <size_t minima>
std::string code(const DocumentOptions& options, TextSource source) {
    MinimaOf<minima> of_document;
    add_document(options.features, options.width, source, of_document);
    if (!of_document.any())
        return "\\N";
    std::string digits;
    for (const uint64_t word : of_document.words())
        digits += std::bitset<64>(word).to_string();
    return digits;
}

// By a form such as minhash/words/3, minhash_code/words/3/128 or simhash/words/1/balanced/xxh3, as
// the file has it.
std::string answer(const std::string& form, const std::string& document) {
    const Strings parts = split(form, '/');
    const std::map<std::string, Weighting> weightings = {{"balanced", Weighting::kBalanced},
                                                         {"tf", Weighting::kTf},
                                                         {"sqrt", Weighting::kSqrt},
                                                         {"log", Weighting::kLog},
                                                         {"binary", Weighting::kBinary}};
    DocumentOptions options;
    options.features = parts[1] == "words" ? FeatureKind::kWords : FeatureKind::kCharacters;
    options.width = std::stoi(parts[2]);
    SlicedText text{document, 100};
    if (parts[0] == "minhash_code")
        return parts[3] == "128" ? code<128>(options, text.source())
                                 : code<256>(options, text.source());
    std::optional<uint64_t> fingerprint;
    if (parts[0] == "minhash") {
        Minima minima;
        add_document(options.features, options.width, text.source(), minima);
        fingerprint = minhash(minima);
    } else {
        options.weighting = weightings.at(parts[3]);
        options.hash = parts[4] == "xxh3" ? HashKind::kXxh3 : HashKind::kFnv1;
        fingerprint = document_fingerprint(options, text.source(), malloc_memory());
    }
    return fingerprint ? std::to_string(int64_t(*fingerprint)) : "\\N";
}

} // namespace

TEST(KnownAnswers, AreThoseOfThisMachine) {
    std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "../data/known_answers.tsv");
    std::string line;
    ASSERT_TRUE(std::getline(file, line))
        << "run the tests from the folder that make was called in";
    const Strings heading = split(line, '\t');
    size_t texts = 0;
    for (; std::getline(file, line); texts++) {
        const Strings fields = split(line, '\t');
        ASSERT_EQ(fields.size(), heading.size()) << line;
        for (size_t i = 2; i < fields.size(); i++)
            EXPECT_EQ(answer(heading[i], unescaped(fields[1])), fields[i])
                << fields[0] << " by " << heading[i];
    }
    EXPECT_GE(texts, 90u);
}

} // namespace simhash::test
