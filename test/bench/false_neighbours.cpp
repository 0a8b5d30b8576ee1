// Documents that are near by their fingerprints and not alike, of the quality bench's corpora:
//
//   false_neighbours CORPUS...
//
// First, of documents of different kinds, how many of so many rows are within a radius of one in
// the mean. Then, of the beginnings of paragraphs and lines, how many have a neighbour within 3 bits
// with which they share less than .3 of their words.
#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <random>

#include "core/text/feature_set.hpp"
#include "documents.hpp"

using namespace quality;
using namespace simhash;

namespace {

struct Form {
    const char* name;
    DocumentOptions options;
};

const Form kForms[] = {
    {"default", {}},
    {"`'chars', 3`", {.features = FeatureKind::kCharacters, .width = 3}},
    {"`'words', 1, 'log'`", {.weighting = Weighting::kLog}},
    {"`'words', 3, 'binary'`", {.width = 3, .weighting = Weighting::kBinary}},
};

std::vector<Corpus> corpora;

// ---- Documents of different kinds ----

constexpr size_t kMostOfCorpus = 2000;

std::string kind_of(const Corpus& corpus) { return corpus.name.substr(0, corpus.name.find('-')); }

void print_strangers(const Form& form) {
    std::vector<Fingerprints> prints;
    for (const Corpus& corpus : corpora) {
        const size_t count = std::min(corpus.documents.size(), kMostOfCorpus);
        prints.push_back(fingerprints(
            {corpus.documents.begin(), corpus.documents.begin() + ptrdiff_t(count)}, form.options));
    }
    std::array<size_t, 65> pairs{}; // by distance
    for (size_t i = 0; i < corpora.size(); i++)
        for (size_t j = 0; j < i; j++)
            if (kind_of(corpora[i]) != kind_of(corpora[j]))
                for (const uint64_t a : prints[i])
                    for (const uint64_t b : prints[j])
                        pairs[std::popcount(a ^ b)]++;
    double all = 0, within = 0;
    for (const size_t count : pairs)
        all += double(count);
    printf("| %s |", form.name);
    for (int radius = 0; radius <= 12; radius++) {
        within += double(pairs[radius]);
        if (radius >= 6 && radius % 2 == 0)
            printf(" %.3g |", within / all * 1e6);
    }
    printf("\n");
}

// ---- Beginnings of paragraphs and lines ----

constexpr size_t kMostTexts = 11000;
constexpr int kRadius = 3;
constexpr double kAlike = 0.3;

void take(const std::string& text, size_t least, std::mt19937& random, Documents& texts) {
    size_t end = least + random() % least;
    while (end < text.size() && (uint8_t(text[end]) & 0xC0) == 0x80)
        end++;
    if (text.size() >= least)
        texts.push_back(text.substr(0, end));
}

// Different ones, of `least` bytes to twice as many. Of lines where they are short.
Documents beginnings(size_t least) {
    std::mt19937 random(1);
    Documents texts;
    const std::string end = least < 120 ? "\n" : "\n\n";
    for (const Corpus& corpus : corpora)
        for (const std::string& document : corpus.documents)
            for (size_t at = 0, next; at < document.size(); at = next + end.size()) {
                next = std::min(document.find(end, at), document.size());
                take(document.substr(at, next - at), least, random, texts);
            }
    std::sort(texts.begin(), texts.end());
    texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
    std::shuffle(texts.begin(), texts.end(), random);
    texts.resize(std::min(texts.size(), kMostTexts));
    return texts;
}

Shingles words_of(const std::string& text) {
    FeatureSet set({nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                    [](void*, void* held) { free(held); }});
    WholeText whole{text};
    each_feature(FeatureKind::kWords, 1, whole.source(), set);
    const FeatureHashes hashes = set.finish();
    Shingles words(hashes.begin(), hashes.end());
    set.release();
    return words;
}

double share_with_false_neighbour(const std::vector<Shingles>& words, const Fingerprints& prints) {
    std::vector<char> has_one(prints.size());
    for (size_t i = 0; i < prints.size(); i++)
        for (size_t j = 0; j < i; j++)
            if (std::popcount(prints[i] ^ prints[j]) <= kRadius && !words[i].empty() &&
                !words[j].empty() && !is_set_similarity_at_least(words[i], words[j], kAlike))
                has_one[i] = has_one[j] = true;
    return double(std::count(has_one.begin(), has_one.end(), true)) / double(prints.size());
}

void print_false_neighbours(size_t least) {
    const Documents texts = beginnings(least);
    std::vector<Shingles> words;
    double word_count = 0;
    for (const std::string& text : texts) {
        words.push_back(words_of(text));
        word_count += double(words.back().size());
    }
    printf("| %zu to %zu | %zu | %.0f |", least, 2 * least - 1, texts.size(),
           word_count / double(texts.size()));
    for (const Form& form : kForms)
        printf(" %.2f %% |",
               100 * share_with_false_neighbour(words, fingerprints(texts, form.options)));
    printf("\n");
    fflush(stdout);
}

} // namespace

int main(int count, char** paths) {
    for (int i = 1; i < count; i++)
        corpora.push_back(read_corpus(paths[i]));
    printf("Of a million documents of other kinds, within a radius\n\n"
           "| features | 6 | 8 | 10 | 12 |\n|---|--:|--:|--:|--:|\n");
    for (const Form& form : kForms)
        print_strangers(form);
    printf("\nTexts with a false neighbour\n\n| bytes | texts | words, mean |");
    for (const Form& form : kForms)
        printf(" %s |", form.name);
    printf("\n|--:|--:|--:|--:|--:|--:|--:|\n");
    for (const size_t least : {30, 60, 125, 250, 500, 1000})
        print_false_neighbours(least);
}
