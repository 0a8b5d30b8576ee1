// All pairs of documents with a similarity of .8 or more, text in, pairs out: by fingerprints and by
// MinHash, each candidate verified. On one core, in processor time.
//
//   verified_pairs DOCUMENTS BYTES CORPUS...
//
// A corpus is a file of documents that end in a NUL byte (the quality bench's). They are cut into
// pieces of so many bytes, until there are so many.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>

#include "core/text/feature_set.hpp"
#include "core/whole/near_pairs.hpp"
#include "documents.hpp"
#include "minhash.hpp"

using namespace quality;
using namespace simhash;

namespace {

constexpr double kThreshold = 0.8;
constexpr int kWidth = 3;

class Stopwatch {
  public:
    // Since the last time it was asked.
    double seconds() {
        const clock_t now = clock(), since = began_;
        began_ = now;
        return double(now - since) / CLOCKS_PER_SEC;
    }

  private:
    clock_t began_ = clock();
};

Memory malloc_memory() {
    return {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
            [](void*, void* held) { free(held); }};
}

// Pieces end where a character does.
void cut(const std::string& document, size_t bytes, size_t most, Documents& pieces) {
    for (size_t begin = 0; begin + bytes <= document.size() && pieces.size() < most;) {
        size_t end = begin + bytes;
        while (end < document.size() && (uint8_t(document[end]) & 0xC0) == 0x80)
            end++;
        pieces.push_back(document.substr(begin, end - begin));
        begin = end;
    }
}

Shingles shingles_of(const std::string& document) {
    FeatureSet set(malloc_memory());
    WholeText whole{document};
    each_feature(FeatureKind::kWords, kWidth, whole.source(), set);
    const FeatureHashes hashes = set.finish();
    Shingles shingles(hashes.begin(), hashes.end());
    set.release();
    return shingles;
}

// Those of the candidates that are similar. A document's set is made when it is first asked for.
Pairs verified(const Documents& documents, std::vector<Shingles>& sets, const Pairs& found) {
    const auto set_of = [&](int i) -> const Shingles& {
        if (sets[i].empty())
            sets[i] = shingles_of(documents[i]);
        return sets[i];
    };
    Pairs similar;
    for (const auto& [a, b] : found) {
        const Shingles &of_a = set_of(a), &of_b = set_of(b);
        if (!of_a.empty() && !of_b.empty() && is_set_similarity_at_least(of_a, of_b, kThreshold))
            similar.push_back({a, b});
    }
    return similar;
}

Pairs near_documents(const Fingerprints& of_documents, int radius) {
    std::vector<std::pair<uint64_t, int>> order;
    for (size_t i = 0; i < of_documents.size(); i++)
        order.push_back({of_documents[i], int(i)});
    std::sort(order.begin(), order.end());
    std::vector<uint64_t> distinct;
    std::vector<std::vector<int>> having;
    for (const auto& [print, document] : order) {
        if (distinct.empty() || distinct.back() != print) {
            distinct.push_back(print);
            having.emplace_back();
        }
        having.back().push_back(document);
    }
    struct Found {
        const std::vector<std::vector<int>>& having;
        Pairs pairs;
    } found{having, {}};
    for (const std::vector<int>& equal : having)
        for (size_t i = 0; i < equal.size(); i++)
            for (size_t j = 0; j < i; j++)
                found.pairs.push_back(std::minmax(equal[i], equal[j]));
    std::vector<uint64_t> scratch(distinct.size());
    std::vector<uint32_t> positions(distinct.size()), position_scratch(distinct.size());
    const auto pair = [](void* context, uint32_t a, uint32_t b) {
        auto* into = static_cast<Found*>(context);
        for (const int i : into->having[a])
            for (const int j : into->having[b])
                into->pairs.push_back(std::minmax(i, j));
    };
    find_near_pairs({distinct.size(), distinct.data(), scratch.data(), positions.data(),
                     position_scratch.data()},
                    radius, {pair, nullptr, &found}, {[](void*) {}, nullptr});
    return found.pairs;
}

void print_line(const char* method, const char* what, double keeping, double searching,
                double verifying, size_t candidates, size_t found) {
    printf("| %s%s | %.1f | %.1f | %.1f | **%.1f** | %zu | %zu |\n", method, what, keeping,
           searching, verifying, keeping + searching + verifying, candidates, found);
    fflush(stdout);
}

void by_fingerprints(const Documents& documents) {
    for (const int radius : {3, 6, 8, 10}) {
        Stopwatch watch;
        const Fingerprints prints = fingerprints(documents, {});
        const double keeping = watch.seconds();
        const Pairs found = near_documents(prints, radius);
        const double searching = watch.seconds();
        std::vector<Shingles> sets(documents.size());
        const Pairs similar = verified(documents, sets, found);
        print_line("fingerprints, radius ", std::to_string(radius).c_str(), keeping, searching,
                   watch.seconds(), found.size(), similar.size());
    }
}

void by_minhash(const Documents& documents) {
    for (const Banding& banding : {banding_for(kThreshold), Banding{16, 8}}) {
        Stopwatch watch;
        std::vector<Shingles> sets;
        std::vector<Signature> signatures;
        for (const std::string& document : documents) {
            sets.push_back(shingles_of(document));
            signatures.push_back(signature(sets.back()));
        }
        const double keeping = watch.seconds();
        const Pairs found = candidates(signatures, banding);
        const double searching = watch.seconds();
        const Pairs similar = verified(documents, sets, found);
        const std::string bands =
            std::to_string(banding.bands) + " bands of " + std::to_string(banding.rows);
        print_line("MinHash, ", bands.c_str(), keeping, searching, watch.seconds(), found.size(),
                   similar.size());
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count < 4) {
        fprintf(stderr, "usage: %s DOCUMENTS BYTES CORPUS...\n", arguments[0]);
        return 2;
    }
    const size_t most = strtoul(arguments[1], nullptr, 10);
    const size_t bytes = strtoul(arguments[2], nullptr, 10);
    Documents documents;
    for (int i = 3; i < count; i++)
        for (const std::string& document : read_corpus(arguments[i]).documents)
            cut(document, bytes, most, documents);
    printf("%zu documents of %zu bytes\n\n"
           "| | make, s | search, s | verify, s | all, s | pairs compared | pairs found |\n"
           "|---|--:|--:|--:|--:|--:|--:|\n",
           documents.size(), bytes);
    by_fingerprints(documents);
    by_minhash(documents);
}
