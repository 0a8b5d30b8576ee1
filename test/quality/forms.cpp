// The forms of fingerprints. See forms.hpp.
#include "forms.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <numeric>
#include <unordered_map>

#include "core/text/minhash.hpp"

using namespace simhash;

namespace quality {

namespace {

DocumentOptions words(int width, Weighting weighting) {
    return {FeatureKind::kWords, width, weighting, HashKind::kXxh3};
}

DocumentOptions characters(int width, Weighting weighting) {
    return {FeatureKind::kCharacters, width, weighting, HashKind::kXxh3};
}

struct Word {
    uint64_t hash;
    uint32_t bytes, frequency;
    bool number;
};

struct CountWords {
    std::unordered_map<uint64_t, Word> counted;
    void operator()(const uint8_t* text, size_t bytes) {
        const uint64_t hash = hash_feature(HashKind::kXxh3, text, bytes);
        const bool number = text[0] >= '0' && text[0] <= '9';
        counted.try_emplace(hash, Word{hash, uint32_t(bytes), 0, number}).first->second.frequency++;
    }
};

std::vector<Word> words_of(const std::string& document) {
    CountWords count;
    WholeText whole{document};
    each_feature(FeatureKind::kWords, 1, whole.source(), count);
    std::vector<Word> all;
    for (const auto& [hash, word] : count.counted)
        all.push_back(word);
    return all;
}

// A trial's weights, of small frequencies at hand.
class Weights {
  public:
    explicit Weights(const Trial& trial) : trial_(trial) {
        for (size_t f = 0; f < std::size(damped_); f++)
            damped_[f] = damped(uint32_t(f));
        for (size_t bytes = 0; bytes < std::size(factors_); bytes++)
            factors_[bytes] = std::sqrt(std::min(int(bytes), trial.greatest_length));
    }

    double operator()(const Word& word) const {
        const double of_frequency =
            word.frequency < std::size(damped_) ? damped_[word.frequency] : damped(word.frequency);
        return of_frequency * factors_[std::min<size_t>(word.bytes, std::size(factors_) - 1)] *
               (word.number ? trial_.number : 1);
    }

  private:
    double damped(uint32_t frequency) const {
        return std::pow(std::log2(1.0 + frequency), trial_.exponent);
    }

    const Trial& trial_;
    double damped_[256];
    double factors_[17];
};

// Lowers the greatest weights until none has more than the share of all; where there are too few
// for that, all are made equal.
void bound_weights(std::vector<double>& weights, int least_share) {
    const size_t greatest = std::min(weights.size(), size_t(least_share));
    std::vector<double> falling(greatest);
    std::partial_sort_copy(weights.begin(), weights.end(), falling.begin(), falling.end(),
                           std::greater<>());
    double rest = std::accumulate(weights.begin(), weights.end(), 0.0), bound = falling.back();
    for (int greater = 0; greater < int(greatest); greater++) {
        const double share = rest / (least_share - greater);
        if (falling[greater] <= share) {
            bound = share;
            break;
        }
        rest -= falling[greater];
    }
    for (double& weight : weights)
        weight = std::min(weight, bound);
}

// Another hash of the feature that has this hash: a step of splitmix64.
uint64_t mixed(uint64_t hash, int which) {
    hash += (uint64_t(which) + 1) * 0x9E3779B97F4A7C15;
    hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9;
    hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EB;
    return hash ^ (hash >> 31);
}

// Eight sums, of the bits of one byte of the hash.
using Sums [[gnu::vector_size(32)]] = float;

const std::vector<Sums>& signs() {
    static const std::vector<Sums> of_byte = [] {
        std::vector<Sums> all(256);
        for (int byte = 0; byte < 256; byte++)
            for (int bit = 0; bit < 8; bit++)
                all[byte][bit] = byte >> bit & 1 ? 1 : -1;
        return all;
    }();
    return of_byte;
}

template <size_t minima>
Codes minhash_codes(const Documents& documents) {
    Codes codes{minima / 64, {}};
    for (const std::string& document : documents) {
        MinimaOf<minima> of_document;
        WholeText whole{document};
        each_feature(FeatureKind::kWords, 3, whole.source(), of_document);
        for (const uint64_t word : of_document.words())
            codes.all.push_back(word);
    }
    return codes;
}

uint64_t vote(const std::vector<Word>& words, const std::vector<double>& weights) {
    Sums sums[8] = {};
    for (size_t i = 0; i < words.size(); i++)
        for (int byte = 0; byte < 8; byte++)
            sums[byte] += signs()[words[i].hash >> (8 * byte) & 255] * float(weights[i]);
    uint64_t result = 0;
    for (int bit = 0; bit < 64; bit++)
        result |= uint64_t(sums[bit / 8][bit % 8] > 0) << bit;
    return result;
}

} // namespace

std::vector<Form> forms() {
    return {
        {"default: words, balanced", {}},
        {"words, tf (textbook)", words(1, Weighting::kTf)},
        {"word 3-shingles, tf (ClickHouse wordShingleSimHash)", words(3, Weighting::kTf)},
        {"characters 3, tf (ClickHouse ngramSimHash)", characters(3, Weighting::kTf)},
        {"characters 4, tf (usual Python package)", characters(4, Weighting::kTf)},
        {"window of 4 tokens (usual C++ library)", words(4, Weighting::kTf)},
        {"words, log", words(1, Weighting::kLog)},
        {"words, sqrt", words(1, Weighting::kSqrt)},
        {"words, binary", words(1, Weighting::kBinary)},
        {"word pairs, sqrt", words(2, Weighting::kSqrt)},
        {"word 3-shingles, binary", words(3, Weighting::kBinary)},
        {"characters 3, balanced", characters(3, Weighting::kBalanced)},
        {"characters 4, balanced", characters(4, Weighting::kBalanced)},
        {"characters 4, sqrt", characters(4, Weighting::kSqrt)},
        {"characters 4, log", characters(4, Weighting::kLog)},
        {"characters 4, binary", characters(4, Weighting::kBinary)},
        {"characters 5, log", characters(5, Weighting::kLog)},
        {"characters 5, binary", characters(5, Weighting::kBinary)},
        {"minhash", {}, 64},
        {"minhash, 128 bits, within 2 k", {}, 128},
        {"minhash, 256 bits, within 4 k", {}, 256},
    };
}

Codes codes(const Documents& documents, const Form& form) {
    switch (form.minima) {
    case 64:
        return minhash_codes<64>(documents);
    case 128:
        return minhash_codes<128>(documents);
    case 256:
        return minhash_codes<256>(documents);
    default:
        return {1, fingerprints(documents, form.options)};
    }
}

std::string Trial::name() const {
    const auto share = [](int parts) { return "1/" + std::to_string(parts); };
    char power[16];
    snprintf(power, sizeof power, "%.2f", exponent);
    return std::string("log2(1 + f)^") + power + (greatest_length > 1 ? ", length" : "") +
           (number < 1 ? ", numbers half" : "") +
           (least_share > 0 ? ", at most " + share(least_share) : "");
}

std::vector<Trial> trials() {
    std::vector<Trial> all;
    for (const double exponent : {1.5, 2.0, 2.25, 2.5, 3.0})
        for (const int greatest_length : {1, 12})
            for (const double number : {1.0, 0.5})
                for (const int least_share : {0, 8})
                    all.push_back({exponent, greatest_length, number, least_share});
    return all;
}

std::vector<Fingerprints> trial_fingerprints(const Documents& documents,
                                             const std::vector<Trial>& trials, int hash) {
    const std::vector<Weights> weights_of(trials.begin(), trials.end());
    std::vector<Fingerprints> all(trials.size());
    std::vector<double> weights;
    for (const std::string& document : documents) {
        std::vector<Word> words = words_of(document);
        for (Word& word : words)
            word.hash = mixed(word.hash, hash);
        for (size_t i = 0; i < trials.size(); i++) {
            weights.clear();
            for (const Word& word : words)
                weights.push_back(weights_of[i](word));
            if (trials[i].least_share > 0 && !words.empty())
                bound_weights(weights, trials[i].least_share);
            all[i].push_back(vote(words, weights));
        }
    }
    return all;
}

} // namespace quality
