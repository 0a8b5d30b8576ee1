// Truth by exact similarity. See truth.hpp.
#include "truth.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace simhash;

namespace quality {

namespace {

struct CollectHashes {
    Shingles hashes;
    void operator()(const uint8_t* text, size_t bytes) {
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

// The shingles of each set that another set has, too, as numbers: the rarer, the lower. The others
// only count.
std::vector<std::vector<uint32_t>> number_by_rarity(const std::vector<Shingles>& sets) {
    struct Occurrence {
        uint64_t shingle;
        int set;
    };
    std::vector<Occurrence> all;
    for (int i = 0; i < int(sets.size()); i++)
        for (const uint64_t shingle : sets[i])
            all.push_back({shingle, i});
    std::sort(all.begin(), all.end(), [](const Occurrence& a, const Occurrence& b) {
        return std::pair(a.shingle, a.set) < std::pair(b.shingle, b.set);
    });
    std::vector<std::pair<size_t, size_t>> shared; // how many sets have it, where they begin
    for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
        while (end < all.size() && all[end].shingle == all[begin].shingle)
            end++;
        if (end - begin > 1)
            shared.push_back({end - begin, begin});
    }
    std::sort(shared.begin(), shared.end());
    std::vector<std::vector<uint32_t>> numbers(sets.size());
    for (uint32_t number = 0; number < shared.size(); number++)
        for (size_t i = 0; i < shared[number].first; i++)
            numbers[all[shared[number].second + i].set].push_back(number);
    return numbers;
}

// All pairs of sets with J >= least. A set's `prefix` is its rarest shingles: as many as it must
// have in common with a pair's other set, one of them at least, or too few are left (Chaudhuri,
// Ganti, Kaushik 2006; Bayardo, Ma, Srikant 2007). So only what shares one is compared.
class PrefixJoin {
  public:
    PrefixJoin(const std::vector<Shingles>& sets, double least)
        : sets_(sets), numbers_(number_by_rarity(sets)), least_(least) {}

    std::vector<SimilarPair> pairs() {
        std::vector<int> order; // from small to large
        for (int i = 0; i < int(sets_.size()); i++)
            if (!sets_[i].empty())
                order.push_back(i);
        std::sort(order.begin(), order.end(), [&](int a, int b) {
            return std::pair(sets_[a].size(), a) < std::pair(sets_[b].size(), b);
        });
        make_lists(order);
        std::vector<int> tried(sets_.size(), -1);
        for (const int larger : order) {
            for (size_t i = 0; i < prefix_of(larger); i++) {
                List& list = lists_[numbers_[larger][i]];
                // Sets that are too small for this one are too small for all that come.
                while (list.begin < list.end && !is_large_enough(list.begin->set, larger))
                    list.begin++;
                for (const Place* at = list.begin; at < list.end; at++)
                    if (std::exchange(tried[at->set], larger) != larger)
                        compare({larger, i}, *at);
                *list.end++ = {larger, i};
            }
        }
        return std::move(found_);
    }

  private:
    struct Place {
        int set;
        size_t at; // in its numbers
    };
    struct List { // of the sets so far that have a shingle in their prefix
        Place *begin, *end;
    };

    static size_t at_least(double share) { return size_t(std::ceil(share - 1e-9)); }
    bool is_large_enough(int smaller, int larger) const {
        return sets_[smaller].size() >= at_least(least_ * double(sets_[larger].size()));
    }
    // How many of the numbers are in the prefix, in which the shingles of this set alone come first.
    size_t prefix_of(int set) const {
        const size_t all = sets_[set].size(), shared = numbers_[set].size();
        const size_t prefix = all - at_least(least_ * double(all)) + 1, alone = all - shared;
        return prefix > alone ? std::min(prefix - alone, shared) : 0;
    }

    void make_lists(const std::vector<int>& order) {
        std::vector<uint32_t> lengths;
        for (const int set : order)
            for (size_t i = 0; i < prefix_of(set); i++) {
                const uint32_t number = numbers_[set][i];
                if (number >= lengths.size())
                    lengths.resize(number + 1);
                lengths[number]++;
            }
        places_.resize(std::accumulate(lengths.begin(), lengths.end(), size_t{0}));
        Place* next = places_.data();
        for (const uint32_t length : lengths) {
            lists_.push_back({next, next});
            next += length;
        }
    }

    // From the first shingle on that both have.
    void compare(Place a, Place b) {
        const std::vector<uint32_t>&of_a = numbers_[a.set], &of_b = numbers_[b.set];
        const size_t all = sets_[a.set].size() + sets_[b.set].size();
        const size_t needed = at_least(least_ / (1 + least_) * double(all));
        size_t common = 0, i = a.at, j = b.at;
        while (i < of_a.size() && j < of_b.size()) {
            if (common + std::min(of_a.size() - i, of_b.size() - j) < needed)
                return;
            const uint32_t next_of_a = of_a[i], next_of_b = of_b[j];
            common += next_of_a == next_of_b;
            i += next_of_a <= next_of_b;
            j += next_of_b <= next_of_a;
        }
        if (common >= needed)
            found_.push_back({std::min(a.set, b.set), std::max(a.set, b.set),
                              double(common) / double(all - common)});
    }

    const std::vector<Shingles>& sets_;
    const std::vector<std::vector<uint32_t>> numbers_;
    const double least_;
    std::vector<Place> places_;
    std::vector<List> lists_; // by number
    std::vector<SimilarPair> found_;
};

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

std::vector<SimilarPair> similar_pairs(const std::vector<Shingles>& sets, double least) {
    return PrefixJoin(sets, least).pairs();
}

Truth find_truth(const std::vector<Shingles>& sets) {
    Truth truth;
    for (const auto& [a, b, similarity] : similar_pairs(sets, 0.5))
        (similarity >= 0.8 ? truth.near : truth.between).push_back({a, b});
    return truth;
}

} // namespace quality
