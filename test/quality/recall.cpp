// Counts what near_duplicate() finds. See recall.hpp.
#include "recall.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "core/bits/simd.hpp"
#include "core/text/document_lanes.hpp"
#include "distances.hpp"
#include "edits.hpp"
#include "minhash.hpp"
#include "truth.hpp"

using namespace simhash;

namespace quality {

namespace {

DocumentLanes lanes_of(const std::string& document) {
    DocumentLanes lanes;
    WholeText whole{document};
    document_lanes(FeatureKind::kWords, 3, whole.source(), &lanes);
    return lanes;
}

constexpr Banding kPeer{16, 8};

bool share_a_band(const Signature& a, const Signature& b) {
    for (int band = 0; band < kPeer.bands; band++)
        if (std::equal(&a[band * kPeer.rows], &a[(band + 1) * kPeer.rows], &b[band * kPeer.rows]))
            return true;
    return false;
}

// ---- the pairs of a corpus ----

struct Measured {
    std::vector<Shingles> sets;
    std::vector<Shingles> before; // the same as `sets`, where the documents were not dressed
    std::vector<DocumentLanes> lanes;
    std::vector<Signature> signatures;
};

// Whether documents share as much. 29 / 50 in floating point may be the least bit below .58.
bool share(const std::vector<Shingles>& sets, int a, int b, double similarity) {
    return jaccard(sets[a], sets[b]) >= similarity - 1e-9;
}

template <typename IsFound>
void print_method(const std::string& corpus, const char* method, const Measured& of,
                  const Pairs& near, IsFound is_found) {
    long found = 0, compared = 0;
    for (const auto& [a, b] : near)
        found += is_found(a, b) && share(of.sets, a, b, kAlikeSimilarity);
    for (int a = 0; a < int(of.sets.size()); a++)
        for (int b = 0; b < a; b++)
            compared += is_found(a, b);
    printf("recall\t%s\t%s\t%zu\t%ld\t%ld\n", corpus.c_str(), method, near.size(), found, compared);
}

void print_methods(const std::string& corpus, const Measured& of, const Pairs& near) {
    print_method(corpus, "near_duplicate", of, near, [&](int a, int b) {
        return nearest_lane(of.lanes[a], of.lanes[b]) <= kAlikeRadius;
    });
    for (const int radius : {8, 10, 12})
        print_method(corpus, ("one fingerprint within " + std::to_string(radius)).c_str(), of, near,
                     [&](int a, int b) {
                         return hamming_distance(of.lanes[a][0], of.lanes[b][0]) <= radius;
                     });
    print_method(corpus, "MinHash, 16 bands of 8", of, near,
                 [&](int a, int b) { return share_a_band(of.signatures[a], of.signatures[b]); });
}

// Pairs that share 50 to 51 %, 55 to 56 % ... of their shingles, where these are the least that are
// asked for.
void print_by_similarity(const std::string& corpus, const Measured& of, const Truth& truth) {
    long pairs[101] = {}, found[101] = {};
    for (const Pairs* some : {&truth.near, &truth.between})
        for (const auto& [a, b] : *some) {
            const double similarity = jaccard(of.before[a], of.before[b]);
            const int percent = int(std::floor(similarity * 100 + 1e-9)), asked = percent / 5 * 5;
            if (percent - asked >= 2)
                continue;
            pairs[asked]++;
            found[asked] += nearest_lane(of.lanes[a], of.lanes[b]) <= near_radius(asked / 100.0) &&
                            share(of.sets, a, b, asked / 100.0);
        }
    for (int asked = 50; asked <= 100; asked += 5)
        printf("similar\t%s\t%d\t%ld\t%ld\n", corpus.c_str(), asked, pairs[asked], found[asked]);
}

// ---- short texts ----

// As each word is one of three shingles, most edits of a short text make it another text. These
// leave it a near-duplicate of itself: a word is added, or goes, at one end; longer texts have a
// word replaced anywhere.
std::string edited(const std::vector<std::string>& words, const std::string& other,
                   std::mt19937& random) {
    std::vector<std::string> changed = words;
    switch (random() % 4) {
    case 0:
        changed.push_back(other);
        break;
    case 1:
        changed.insert(changed.begin(), other);
        break;
    case 2:
        changed.erase(random() % 2 ? changed.begin() : changed.end() - 1);
        break;
    default:
        changed[random() % changed.size()] = other;
    }
    std::string text;
    for (const std::string& word : changed)
        text += word + " ";
    return text;
}

constexpr int kLeastWords = 5, kMostWords = 30;
constexpr int kTextsOfLength = 400; // of a corpus

void print_short_texts(const Corpus& corpus) {
    std::mt19937 random(11);
    // Runs of words of the documents, cut without overlaps.
    std::vector<std::vector<std::string>> words;
    for (const std::string& document : corpus.documents) {
        std::vector<std::string> of_document;
        for (const auto& [begin, end] : words_of(document, corpus.spaceless))
            of_document.push_back(document.substr(begin, end - begin));
        if (of_document.size() > kMostWords)
            words.push_back(std::move(of_document));
    }
    if (words.empty())
        return;
    for (int length = kLeastWords; length <= kMostWords; length++) {
        long pairs = 0, found = 0, found_by_minhash = 0;
        for (int i = 0; i < kTextsOfLength; i++) {
            const auto& document = words[random() % words.size()];
            const auto begin = document.begin() + random() % (document.size() - length);
            const std::vector<std::string> run(begin, begin + length);
            const auto& others = words[random() % words.size()];
            std::string original;
            for (const std::string& word : run)
                original += word + " ";
            const std::string copy = edited(run, others[random() % others.size()], random);
            const Shingles a = word_shingles(original), b = word_shingles(copy);
            const double similarity = jaccard(a, b);
            // What counts as the same word (case, punctuation) makes equal texts of some.
            if (similarity < kAlikeSimilarity || similarity == 1)
                continue;
            pairs++;
            found += nearest_lane(lanes_of(original), lanes_of(copy)) <= kAlikeRadius;
            found_by_minhash += share_a_band(signature(a), signature(b));
        }
        printf("edited\t%s\t%d\t%ld\t%ld\t%ld\n", corpus.name.c_str(), length, pairs, found,
               found_by_minhash);
    }
}

// ---- many documents ----

constexpr int kLeastAsked = 50, kMostAsked = 90; // per cent, by tens
constexpr double kAtSimilarity = 0.025;          // pairs up to this much above are counted apart

// How many pairs of documents have which distance of their nearest lanes.
std::array<long, kFingerprintBits + 1> count_distances(const std::vector<DocumentLanes>& lanes) {
    std::array<long, kFingerprintBits + 1> pairs{};
    std::vector<uint8_t> row(lanes.size());
    for (size_t a = 0; a < lanes.size(); a++) {
        at_best_level(
            kHighestSimdLevel, [&]<SimdLevel>() __attribute__((always_inline)) {
                for (size_t b = 0; b < a; b++)
                    row[b] = uint8_t(nearest_lane(lanes[a], lanes[b]));
            });
        for (size_t b = 0; b < a; b++)
            pairs[row[b]]++;
    }
    return pairs;
}

template <typename IsFound>
void print_found_at(int asked, const char* method, const std::vector<SimilarPair>& similar,
                    long compared, IsFound is_found) {
    long pairs = 0, found = 0, pairs_at = 0, found_at = 0;
    for (const auto& [a, b, similarity] : similar) {
        if (similarity < asked / 100.0 - 1e-9)
            continue;
        const bool hit = is_found(a, b), at = similarity <= asked / 100.0 + kAtSimilarity + 1e-9;
        pairs++;
        found += hit;
        pairs_at += at;
        found_at += hit && at;
    }
    printf("found\t%d\t%s\t%ld\t%ld\t%ld\t%ld\t%ld\n", asked, method, pairs, found, pairs_at,
           found_at, compared);
}

} // namespace

void print_found(const std::string& path) {
    std::vector<Shingles> sets;
    std::vector<DocumentLanes> lanes;
    std::vector<Signature> signatures;
    for (const std::string& document : read_corpus(path).documents) {
        Shingles set = word_shingles(document);
        if (set.empty()) // resembles nothing
            continue;
        lanes.push_back(lanes_of(document));
        signatures.push_back(signature(set));
        sets.push_back(std::move(set));
    }
    const std::vector<SimilarPair> similar = similar_pairs(sets, kLeastAsked / 100.0);
    const auto distances = count_distances(lanes);
    const long in_bands = long(candidates(signatures, kPeer).size());
    for (int asked = kLeastAsked; asked <= kMostAsked; asked += 10) {
        const int radius = near_radius(asked / 100.0);
        const long near = std::accumulate(distances.begin(), distances.begin() + radius + 1, 0L);
        print_found_at(asked, "near_duplicate", similar, near,
                       [&](int a, int b) { return nearest_lane(lanes[a], lanes[b]) <= radius; });
        print_found_at(asked, "MinHash, 16 bands of 8", similar, in_bands,
                       [&](int a, int b) { return share_a_band(signatures[a], signatures[b]); });
    }
}

void print_recall(const Corpus& corpus) {
    const bool dressed = !corpus.before.empty();
    Measured of;
    of.sets = word_shingles(corpus.documents);
    of.before = dressed ? word_shingles(corpus.before) : of.sets;
    for (size_t i = 0; i < of.sets.size(); i++) {
        of.lanes.push_back(lanes_of(corpus.documents[i]));
        of.signatures.push_back(signature(of.sets[i]));
    }
    const Truth truth = find_truth(of.before);
    print_methods(corpus.name, of, truth.near);
    print_by_similarity(corpus.name, of, truth);
    if (dressed) {
        size_t same = 0;
        for (size_t i = 0; i < of.sets.size(); i++)
            same += of.sets[i] == of.before[i];
        printf("dressed\t%s\t-\t%zu\t%zu\n", corpus.name.c_str(), of.sets.size(), same);
    }
    // Of the other corpora those without spaces stay out: there these are characters, not words.
    if (!corpus.spaceless || dressed)
        print_short_texts(corpus);
}

} // namespace quality
