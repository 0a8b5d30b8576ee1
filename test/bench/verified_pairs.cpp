// All pairs of documents with a similarity of .8 or more, text in, pairs out: by fingerprints and
// by MinHash, each candidate verified, both by the same number of threads.
//
//   verified_pairs THREADS DOCUMENTS BYTES CORPUS...
//
// With 0 threads it prints the documents, as COPY reads them, for verified_pairs.sh.
//
// A corpus is a file of documents that end in a NUL byte (the quality bench's). They are cut into
// pieces of so many bytes: from their beginning on; then, until there are so many, from a third of
// a piece on, and from two thirds on. Such pieces have a third or two thirds of their text in
// common.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <initializer_list>
#include <iterator>

#include "core/pairs/near_pairs.hpp"
#include "core/text/feature_set.hpp"
#include "core/text/minhash.hpp"
#include "documents.hpp"
#include "in_parallel.hpp"
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
        const auto now = Clock::now(), since = lap_;
        lap_ = now;
        return std::chrono::duration<double>(now - since).count();
    }
    // Of all threads, since the beginning.
    double processor_seconds() const { return double(clock() - began_) / CLOCKS_PER_SEC; }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point lap_ = Clock::now();
    clock_t began_ = clock();
};

Memory malloc_memory() {
    return {nullptr, [](void*, size_t bytes) { return malloc(bytes); },
            [](void*, void* held) { free(held); }};
}

// Pieces begin and end where a character does.
void cut(const std::string& document, size_t from, size_t bytes, size_t most, Documents& pieces) {
    const auto next_character = [&document](size_t at) {
        while (at < document.size() && (uint8_t(document[at]) & 0xC0) == 0x80)
            at++;
        return at;
    };
    size_t begin = next_character(from);
    while (begin + bytes <= document.size() && pieces.size() < most) {
        const size_t end = next_character(begin + bytes);
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

bool is_similar(const Shingles& a, const Shingles& b) {
    return !a.empty() && !b.empty() && is_set_similarity_at_least(a, b, kThreshold);
}

// Those of the candidates that are similar.
Pairs verified(const std::vector<Shingles>& sets, const Pairs& found) {
    std::vector<char> similar(found.size());
    in_parallel(found.size(), 1024, [&](size_t i) {
        similar[i] = is_similar(sets[found[i].first], sets[found[i].second]);
    });
    Pairs pairs;
    for (size_t i = 0; i < found.size(); i++)
        if (similar[i])
            pairs.push_back(found[i]);
    return pairs;
}

// The sets of those documents that are in a candidate.
std::vector<Shingles> sets_of(const Documents& documents, const Pairs& found) {
    std::vector<char> asked_for(documents.size());
    for (const auto& [a, b] : found)
        asked_for[a] = asked_for[b] = true;
    std::vector<Shingles> sets(documents.size());
    in_parallel(documents.size(), 64, [&](size_t i) {
        if (asked_for[i])
            sets[i] = shingles_of(documents[i]);
    });
    return sets;
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
    const auto documents = [&](uint64_t print) -> const std::vector<int>& {
        return having[std::lower_bound(distinct.begin(), distinct.end(), print) - distinct.begin()];
    };
    Pairs found;
    for (const std::vector<int>& equal : having)
        for (size_t i = 0; i < equal.size(); i++)
            for (size_t j = 0; j < i; j++)
                found.push_back(std::minmax(equal[i], equal[j]));
    std::vector<uint64_t> searched = distinct, scratch(distinct.size());
    const auto pair = [&](uint64_t a, uint64_t b) {
        for (const int i : documents(a))
            for (const int j : documents(b))
                found.push_back(std::minmax(i, j));
        return true;
    };
    find_near_pairs({searched.data(), scratch.data(), searched.size()}, radius, {pair},
                    {[](void*) {}, nullptr});
    return found;
}

struct Times {
    double making, searching, verifying, processor;
};

void print_line(const char* method, const char* what, const Times& times, size_t candidates,
                size_t found) {
    printf("| %s%s | %.2f | %.2f | %.2f | **%.2f** | %.2f | %zu | %zu |\n", method, what,
           times.making, times.searching, times.verifying,
           times.making + times.searching + times.verifying, times.processor, candidates, found);
    fflush(stdout);
}

using MakeFingerprint = uint64_t (*)(const std::string& document);

uint64_t simhash_of(const std::string& document) { return fingerprint(document, {}); }

uint64_t minhash_of(const std::string& document) {
    WholeText whole{document};
    Minima minima;
    add_document(FeatureKind::kWords, kWidth, whole.source(), minima);
    return minhash(minima).value_or(0);
}

void by_fingerprints(const Documents& documents, const char* name, MakeFingerprint make,
                     std::initializer_list<int> radii) {
    for (const int radius : radii) {
        Stopwatch watch;
        Times times;
        Fingerprints prints(documents.size());
        in_parallel(documents.size(), 64, [&](size_t i) { prints[i] = make(documents[i]); });
        times.making = watch.seconds();
        const Pairs found = near_documents(prints, radius);
        times.searching = watch.seconds();
        const Pairs similar = verified(sets_of(documents, found), found);
        times.verifying = watch.seconds();
        times.processor = watch.processor_seconds();
        print_line(name, std::to_string(radius).c_str(), times, found.size(), similar.size());
    }
}

void by_minhash(const Documents& documents) {
    for (const Banding& banding : {banding_for(kThreshold), Banding{16, 8}}) {
        Stopwatch watch;
        Times times;
        std::vector<Signature> signatures(documents.size());
        in_parallel(documents.size(), 64,
                    [&](size_t i) { signatures[i] = signature(documents[i]); });
        times.making = watch.seconds();
        const Pairs found = candidates(signatures, banding);
        times.searching = watch.seconds();
        const Pairs similar = verified(sets_of(documents, found), found);
        times.verifying = watch.seconds();
        times.processor = watch.processor_seconds();
        const std::string bands =
            std::to_string(banding.bands) + " bands of " + std::to_string(banding.rows);
        print_line("MinHash, ", bands.c_str(), times, found.size(), similar.size());
    }
}

// As COPY reads them.
void print_documents(const Documents& documents) {
    for (const std::string& document : documents) {
        for (const char c : document)
            switch (c) {
            case '\\':
                fputs("\\\\", stdout);
                break;
            case '\n':
                fputs("\\n", stdout);
                break;
            case '\r':
                fputs("\\r", stdout);
                break;
            case '\t':
                fputs("\\t", stdout);
                break;
            default:
                putchar(c);
            }
        putchar('\n');
    }
}

} // namespace

int main(int count, char** arguments) {
    if (count < 5) {
        fprintf(stderr, "usage: %s THREADS DOCUMENTS BYTES CORPUS...\n", arguments[0]);
        return 2;
    }
    threads = atoi(arguments[1]);
    const size_t most = strtoul(arguments[2], nullptr, 10);
    const size_t bytes = strtoul(arguments[3], nullptr, 10);
    std::vector<Documents> corpora;
    for (int i = 4; i < count; i++)
        corpora.push_back(read_corpus(arguments[i]).documents);
    Documents documents;
    for (const size_t from : {size_t(0), bytes / 3, bytes * 2 / 3})
        for (const Documents& corpus : corpora)
            for (const std::string& document : corpus)
                cut(document, from, bytes, most, documents);
    if (threads == 0) {
        print_documents(documents);
        return 0;
    }
    printf("%zu documents of %zu bytes, %d threads\n\n"
           "| | make, s | search, s | verify, s | all, s | processor, s | pairs compared "
           "| pairs found |\n"
           "|---|--:|--:|--:|--:|--:|--:|--:|\n",
           documents.size(), bytes, threads);
    by_fingerprints(documents, "simhash, radius ", simhash_of, {3, 6, 8, 10});
    by_fingerprints(documents, "minhash, radius ", minhash_of, {8, 10});
    by_minhash(documents);
}
