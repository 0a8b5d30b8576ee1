// Truth by exact similarity. See truth.hpp.
#include "truth.hpp"

#include <algorithm>
#include <unordered_map>

using namespace simhash;

namespace quality {

namespace {

struct CollectHashes {
    Shingles hashes;
    void feature(const uint8_t* text, size_t bytes) {
        hashes.push_back(hash_feature(HashKind::kXxh3, text, bytes));
    }
};

Shingles shingles_of(std::string_view document, FeatureKind features, int width) {
    CollectHashes collected;
    WholeText whole{document};
    each_feature(features, width, whole.source(), collected);
    Shingles& hashes = collected.hashes;
    std::sort(hashes.begin(), hashes.end());
    hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
    return std::move(hashes);
}

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

} // namespace

Shingles word_shingles(std::string_view document) {
    return shingles_of(document, FeatureKind::kWords, 3);
}

std::vector<Shingles> word_shingles(const Documents& documents) {
    std::vector<Shingles> sets;
    for (const std::string& document : documents)
        sets.push_back(word_shingles(document));
    return sets;
}

std::vector<Shingles> shingles_of(const Corpus& corpus) {
    std::vector<Shingles> sets;
    for (const std::string& document : corpus.documents)
        sets.push_back(corpus.spaceless ? shingles_of(document, FeatureKind::kCharacters, 5)
                                        : word_shingles(document));
    return sets;
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

Truth find_truth(const std::vector<Shingles>& sets) {
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

} // namespace quality
