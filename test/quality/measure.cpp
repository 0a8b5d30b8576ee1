// The quality bench: how well candidate fingerprints tell near-duplicates, on corpora of real
// documents.
//
//   measure CORPUS...      each a file of documents that end in a NUL byte
//
// Truth 1: pairs of documents by the exact Jaccard similarity of their sets of word 3-shingles
// (character 5-shingles in a corpus whose name says zh, ja or cjk). J >= 0.8 is a near-duplicate,
// J < 0.5 is not, what lies between counts for neither.
//
// Truth 2: copies of documents with edits of known kind.
//
// Prints lines of fields separated by tabs, for report.py:
//   corpus  NAME  documents  near-duplicate pairs  pairs between
//   pairs   NAME  CANDIDATE  k  precision  recall            k = 0..10
//   edit    NAME  CANDIDATE  EDIT  share within 0  ...  share within 10
//   distances  NAME  CANDIDATE  near-duplicates at 0..64, others at 0..64
//   ones    NAME  CANDIDATE  share of fingerprints with a 1, bit 63 first
//   leading NAME  CANDIDATE  distinct values of the first 16 bits / of the best possible
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/text/document.hpp"

using namespace simhash;
using Documents = std::vector<std::string>;
using Fingerprints = std::vector<uint64_t>;

namespace {

struct Candidate {
    const char* name;
    DocumentOptions options;
};

// Ours first, then what others do, each written from its description.
const Candidate kCandidates[] = {
    {"default: words, balanced", {}},
    {"words, tf (textbook)", {FeatureKind::kWords, 1, Weighting::kTf, HashKind::kXxh3}},
    {"word 3-shingles, tf (ClickHouse wordShingleSimHash)",
     {FeatureKind::kWords, 3, Weighting::kTf, HashKind::kXxh3}},
    {"characters 3, tf (ClickHouse ngramSimHash)",
     {FeatureKind::kCharacters, 3, Weighting::kTf, HashKind::kXxh3}},
    {"characters 4, tf (usual Python package)",
     {FeatureKind::kCharacters, 4, Weighting::kTf, HashKind::kXxh3}},
    {"window of 4 tokens (usual C++ library)",
     {FeatureKind::kWords, 4, Weighting::kTf, HashKind::kXxh3}},
    {"words, log", {FeatureKind::kWords, 1, Weighting::kLog, HashKind::kXxh3}},
    {"words, sqrt", {FeatureKind::kWords, 1, Weighting::kSqrt, HashKind::kXxh3}},
    {"characters 4, balanced",
     {FeatureKind::kCharacters, 4, Weighting::kBalanced, HashKind::kXxh3}},
    {"word pairs, sqrt", {FeatureKind::kWords, 2, Weighting::kSqrt, HashKind::kXxh3}},
    {"characters 4, sqrt", {FeatureKind::kCharacters, 4, Weighting::kSqrt, HashKind::kXxh3}},
};

struct WholeText {
    const std::string& text;
    bool read = false;

    TextSource source() {
        return {this, [](void* context, const uint8_t** at, size_t* bytes) {
                    WholeText* whole = static_cast<WholeText*>(context);
                    *at = reinterpret_cast<const uint8_t*>(whole->text.data());
                    *bytes = whole->text.size();
                    return !std::exchange(whole->read, true);
                }};
    }
};

uint64_t fingerprint(const std::string& document, const DocumentOptions& options) {
    const Memory memory = {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
                           [](void*, void* held) { free(held); }};
    WholeText whole{document};
    uint64_t result = 0;
    document_fingerprint(options, whole.source(), memory, &result);
    return result;
}

Fingerprints fingerprints(const Documents& documents, const DocumentOptions& options) {
    Fingerprints all;
    for (const std::string& document : documents)
        all.push_back(fingerprint(document, options));
    return all;
}

// ---- truth 1: exact Jaccard similarity ----

using Shingles = std::vector<uint64_t>; // sorted, distinct

struct CollectHashes {
    Shingles hashes;
    void feature(const uint8_t* text, size_t bytes) {
        hashes.push_back(hash_feature(HashKind::kXxh3, text, bytes));
    }
};

Shingles shingles(const std::string& document, bool spaceless) {
    CollectHashes collected;
    WholeText whole{document};
    each_feature(spaceless ? FeatureKind::kCharacters : FeatureKind::kWords, spaceless ? 5 : 3,
                 whole.source(), collected);
    std::sort(collected.hashes.begin(), collected.hashes.end());
    collected.hashes.erase(std::unique(collected.hashes.begin(), collected.hashes.end()),
                           collected.hashes.end());
    return collected.hashes;
}

double jaccard(const Shingles& a, const Shingles& b) {
    size_t shared = 0;
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        const uint64_t of_a = a[i], of_b = b[j];
        shared += of_a == of_b;
        i += of_a <= of_b;
        j += of_b <= of_a;
    }
    const size_t all = a.size() + b.size() - shared;
    return all > 0 ? double(shared) / all : 0;
}

struct Truth {
    std::vector<std::pair<int, int>> near, between;
};

// Two sets with J >= 1/2 share one of the rarer half of either's shingles: only those are looked
// up.
std::vector<Shingles> rarer_halves(const std::vector<Shingles>& sets) {
    std::unordered_map<uint64_t, int> documents_with;
    for (const Shingles& set : sets)
        for (const uint64_t shingle : set)
            documents_with[shingle]++;
    std::vector<Shingles> halves = sets;
    for (Shingles& half : halves) {
        std::sort(half.begin(), half.end(), [&](uint64_t a, uint64_t b) {
            return std::pair(documents_with[a], a) < std::pair(documents_with[b], b);
        });
        half.resize(std::min(half.size(), half.size() / 2 + 1));
    }
    return halves;
}

Truth find_truth(const Documents& documents, bool spaceless) {
    std::vector<Shingles> sets;
    for (const std::string& document : documents)
        sets.push_back(shingles(document, spaceless));
    const std::vector<Shingles> halves = rarer_halves(sets);
    std::unordered_map<uint64_t, std::vector<int>> having;
    std::vector<int> tried(sets.size(), -1);
    Truth truth;
    for (int i = 0; i < int(sets.size()); i++)
        for (const uint64_t shingle : halves[i]) {
            for (const int j : having[shingle]) {
                if (std::exchange(tried[j], i) == i)
                    continue;
                const double similarity = jaccard(sets[i], sets[j]);
                if (similarity >= 0.5)
                    (similarity >= 0.8 ? truth.near : truth.between).push_back({j, i});
            }
            having[shingle].push_back(i);
        }
    return truth;
}

// ---- measures ----

struct Histogram {
    long at[65] = {};
    long within(int k) const {
        long sum = 0;
        for (int distance = 0; distance <= k; distance++)
            sum += at[distance];
        return sum;
    }
};

Histogram histogram(const Fingerprints& fps, const std::vector<std::pair<int, int>>& pairs) {
    Histogram counted;
    for (const auto& [a, b] : pairs)
        counted.at[std::popcount(fps[a] ^ fps[b])]++;
    return counted;
}

Histogram histogram_of_all(const Fingerprints& fps) {
    Histogram counted;
    for (size_t i = 0; i < fps.size(); i++)
        for (size_t j = 0; j < i; j++)
            counted.at[std::popcount(fps[i] ^ fps[j])]++;
    return counted;
}

void print_pairs(const char* corpus, const char* candidate, const Fingerprints& fps,
                 const Truth& truth) {
    const Histogram all = histogram_of_all(fps), near = histogram(fps, truth.near),
                    between = histogram(fps, truth.between);
    for (int k = 0; k <= 10; k++) {
        const long found = all.within(k) - between.within(k);
        printf("pairs\t%s\t%s\t%d\t%.4f\t%.4f\n", corpus, candidate, k,
               found > 0 ? double(near.within(k)) / found : 1.0,
               truth.near.empty() ? 0.0 : double(near.within(k)) / truth.near.size());
    }
    printf("distances\t%s\t%s", corpus, candidate);
    for (int d = 0; d <= 64; d++)
        printf("\t%ld", near.at[d]);
    for (int d = 0; d <= 64; d++)
        printf("\t%ld", all.at[d] - near.at[d] - between.at[d]);
    printf("\n");
}

void print_bits(const char* corpus, const char* candidate, const Fingerprints& fps) {
    printf("ones\t%s\t%s", corpus, candidate);
    for (int bit = 63; bit >= 0; bit--) {
        long ones = 0;
        for (const uint64_t fp : fps)
            ones += fp >> bit & 1;
        printf("\t%.3f", double(ones) / fps.size());
    }
    std::unordered_set<uint64_t> distinct(fps.begin(), fps.end()), leading;
    for (const uint64_t fp : fps)
        leading.insert(fp >> 48);
    printf("\nleading\t%s\t%s\t%zu\t%.0f\n", corpus, candidate, leading.size(),
           65536 * (1 - std::exp(-double(distinct.size()) / 65536)));
}

// ---- truth 2: edits of known kind ----

// What is replaced or added as a word: a run without white space, or one character of several bytes
// in a corpus without spaces.
std::vector<std::pair<size_t, size_t>> words_of(const std::string& text, bool spaceless) {
    std::vector<std::pair<size_t, size_t>> words; // (begin, end)
    for (size_t at = 0; at < text.size();) {
        size_t end = at;
        if (spaceless && uint8_t(text[at]) >= 0x80)
            for (end++; end < text.size() && (uint8_t(text[end]) & 0xC0) == 0x80;)
                end++;
        else
            while (end < text.size() && !isspace(uint8_t(text[end])) &&
                   !(spaceless && uint8_t(text[end]) >= 0x80))
                end++;
        if (end > at)
            words.push_back({at, end});
        at = std::max(end, at + (end == at));
    }
    return words;
}

class Editor {
  public:
    Editor(const Documents& documents, bool spaceless) : spaceless_(spaceless) {
        for (const std::string& document : documents)
            for (const auto& [begin, end] : words_of(document, spaceless))
                if (random() % 8 == 0)
                    vocabulary_.push_back(document.substr(begin, end - begin));
    }

    std::string replace_words(const std::string& text, size_t count, bool with_numbers) {
        auto words = words_of(text, spaceless_);
        if (words.empty())
            return text;
        std::vector<size_t> chosen;
        for (size_t i = 0; i < count; i++)
            chosen.push_back(random() % words.size());
        std::sort(chosen.begin(), chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
        std::string edited = text;
        for (size_t i = chosen.size(); i-- > 0;) {
            const auto [begin, end] = words[chosen[i]];
            edited.replace(begin, end - begin,
                           with_numbers ? std::to_string(random() % 1000000) : any_word());
        }
        return edited;
    }

    std::string replace_share(const std::string& text, double share) {
        return replace_words(text, size_t(std::ceil(words_of(text, spaceless_).size() * share)),
                             false);
    }

    std::string add_advertisement(const std::string& text) {
        const auto words = words_of(text, spaceless_);
        const size_t place = words.empty() ? 0 : words[random() % words.size()].first;
        std::string advertisement;
        for (int i = 0; i < 20; i++)
            advertisement += any_word() + (spaceless_ ? "" : " ");
        return text.substr(0, place) + advertisement + text.substr(place);
    }

    std::string delete_line(const std::string& text) {
        std::vector<size_t> ends;
        for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
            ends.push_back(at);
        if (ends.size() < 2)
            return text;
        const size_t line = 1 + random() % (ends.size() - 1);
        return text.substr(0, ends[line - 1]) + text.substr(ends[line]);
    }

    static std::string change_dress(const std::string& text) {
        std::string edited;
        for (const char c : text) {
            if (ispunct(uint8_t(c)))
                edited += ' ';
            else
                edited += char(uint8_t(c) < 0x80 ? toupper(c) : c);
            if (c == ' ')
                edited += "  ";
        }
        return edited;
    }

    static std::string wrap_in_html(const std::string& text) {
        return "<!DOCTYPE html>\n<html><head><title>Page</title></head>\n<body><div "
               "class=\"main\"><p>" +
               text + "</p></div>\n</body></html>\n";
    }

    std::mt19937 random{42};

  private:
    const std::string& any_word() { return vocabulary_[random() % vocabulary_.size()]; }

    const bool spaceless_;
    std::vector<std::string> vocabulary_;
};

constexpr size_t kEditedDocuments = 300; // of a corpus

void print_edits(const char* corpus, const Documents& documents, bool spaceless) {
    Editor editor(documents, spaceless);
    Documents originals;
    for (size_t i = 0; i < std::min(kEditedDocuments, documents.size()); i++)
        originals.push_back(
            documents[i * documents.size() / std::min(kEditedDocuments, documents.size())]);
    const auto each = [&](const char* edit, auto change) {
        Documents edited;
        for (const std::string& original : originals)
            edited.push_back(change(original));
        for (const Candidate& candidate : kCandidates) {
            const Fingerprints before = fingerprints(originals, candidate.options);
            const Fingerprints after = fingerprints(edited, candidate.options);
            Histogram counted;
            for (size_t i = 0; i < before.size(); i++)
                counted.at[std::popcount(before[i] ^ after[i])]++;
            printf("edit\t%s\t%s\t%s", corpus, candidate.name, edit);
            for (int k = 0; k <= 10; k++)
                printf("\t%.4f", double(counted.within(k)) / before.size());
            printf("\n");
        }
    };
    each("3 tokens changed", [&](const auto& t) { return editor.replace_words(t, 3, true); });
    each("advertisement of 20 words", [&](const auto& t) { return editor.add_advertisement(t); });
    each("1 % of words replaced", [&](const auto& t) { return editor.replace_share(t, 0.01); });
    each("5 % of words replaced", [&](const auto& t) { return editor.replace_share(t, 0.05); });
    each("one line deleted", [&](const auto& t) { return editor.delete_line(t); });
    each("white space, case, punctuation", [](const auto& t) { return Editor::change_dress(t); });
    each("HTML tags around", [](const auto& t) { return Editor::wrap_in_html(t); });
}

void measure(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const bool spaceless = name.find("zh") != std::string::npos ||
                           name.find("ja") != std::string::npos ||
                           name.find("cjk") != std::string::npos;
    std::ifstream file(path, std::ios::binary);
    Documents documents;
    for (std::string document; std::getline(file, document, '\0');)
        documents.push_back(document);
    const Truth truth = find_truth(documents, spaceless);
    printf("corpus\t%s\t%zu\t%zu\t%zu\n", name.c_str(), documents.size(), truth.near.size(),
           truth.between.size());
    for (const Candidate& candidate : kCandidates) {
        const Fingerprints fps = fingerprints(documents, candidate.options);
        print_pairs(name.c_str(), candidate.name, fps, truth);
        print_bits(name.c_str(), candidate.name, fps);
    }
    print_edits(name.c_str(), documents, spaceless);
    fflush(stdout);
}

} // namespace

int main(int arguments, char** paths) {
    for (int i = 1; i < arguments; i++)
        measure(paths[i]);
}
