// A document's fingerprint. See document.hpp.
#include "core/text/document.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "core/bits/standalone.hpp"

namespace simhash {

namespace {

// floor(sqrt(n)), by bits: the same everywhere.
constexpr uint64_t integer_sqrt(uint64_t n) {
    uint64_t root = 0;
    for (uint64_t bit = uint64_t(1) << 31; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= n)
            root |= bit;
    return root;
}

// Intermediate results have 16 bits after the point.
constexpr int kFraction = 16;
constexpr uint64_t kLn2 = 2977044472; // ln 2 * 2^32

// log2(n), rounded down, by repeated squaring of the mantissa.
constexpr uint64_t integer_log2(uint64_t n) {
    const int whole = std::bit_width(n) - 1;
    uint64_t mantissa = n << 31 >> whole; // 1 <= mantissa / 2^31 < 2: squares fit 64 bits
    uint64_t log = uint64_t(whole);
    for (int i = 0; i < kFraction; i++) {
        mantissa = mantissa * mantissa >> 31;
        log = log << 1 | (mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return log;
}

constexpr uint64_t root(uint64_t n) {
    return integer_sqrt(n << kFraction);
}

constexpr uint64_t product(uint64_t a, uint64_t b) {
    return a * b >> kFraction;
}

constexpr uint64_t to_weight(uint64_t n) {
    return n >> (kFraction - kDocumentFraction);
}

constexpr uint64_t log_weight(uint32_t frequency) {
    return to_weight((1 << kFraction) + (integer_log2(frequency) * kLn2 >> 32));
}

// log2(1 + frequency)^(9/4); at most 2^28.
constexpr uint64_t damped(uint32_t frequency) {
    const uint64_t log = integer_log2(uint64_t(frequency) + 1);
    return product(product(log, log), root(root(log)));
}

constexpr uint32_t kGreatestLength = 12; // bytes
constexpr std::array<uint64_t, kGreatestLength + 1> length_factors() {
    std::array<uint64_t, kGreatestLength + 1> table{};
    for (uint32_t bytes = 1; bytes <= kGreatestLength; bytes++)
        table[bytes] = root(uint64_t(bytes) << kFraction);
    return table;
}
constexpr auto kLengthFactors = length_factors();

// Nearly all frequencies are small.
constexpr uint32_t kTabled = 64;
template <uint64_t function(uint32_t frequency)>
constexpr std::array<uint32_t, kTabled> tabled() {
    std::array<uint32_t, kTabled> table{};
    for (uint32_t i = 1; i < kTabled; i++)
        table[i] = uint32_t(function(i));
    return table;
}
constexpr auto kLogWeights = tabled<log_weight>();
constexpr auto kDamped = tabled<damped>();

uint64_t balanced_weight(uint32_t frequency, uint32_t bytes) {
    return to_weight(product(frequency < kTabled ? kDamped[frequency] : damped(frequency),
                             kLengthFactors[std::min(bytes, kGreatestLength)]));
}

class FingerprintConsumer {
  public:
    FingerprintConsumer(const DocumentOptions& options, Memory memory)
        : options_(options), counts_(memory), block_(votes_) {}

    void feature(const uint8_t* text, size_t bytes) {
        const uint64_t hash = hash_feature(options_.hash, text, bytes);
        if (!counts_.add(hash, uint32_t(bytes))) {
            end_section();
            counts_.add(hash, uint32_t(bytes));
        }
    }

    bool finish(uint64_t* fingerprint) {
        end_section();
        block_.flush();
        counts_.release();
        return votes_.fingerprint(fingerprint);
    }

  private:
    void end_section() {
        counts_.each([this](const FeatureCount& feature) {
            block_.add(feature.hash,
                       feature_weight(options_.weighting, feature.frequency, feature.bytes));
        });
        counts_.clear();
    }

    const DocumentOptions& options_;
    FeatureCounts counts_;
    Votes votes_;
    VoteBlock block_;
};

} // namespace

uint64_t feature_weight(Weighting weighting, uint32_t frequency, uint32_t bytes) {
    switch (weighting) {
    case Weighting::kBalanced:
        return balanced_weight(frequency, bytes);
    case Weighting::kTf:
        return uint64_t(frequency) << kDocumentFraction;
    case Weighting::kSqrt:
        return integer_sqrt(uint64_t(frequency) << (2 * kDocumentFraction));
    case Weighting::kLog:
        return frequency < kTabled ? kLogWeights[frequency] : log_weight(frequency);
    case Weighting::kBinary:
        break;
    }
    return 1 << kDocumentFraction;
}

bool document_fingerprint(const DocumentOptions& options, TextSource source, Memory memory,
                          uint64_t* fingerprint) {
    FingerprintConsumer consumer(options, memory);
    each_feature(options.features, options.width, source, consumer);
    return consumer.finish(fingerprint);
}

} // namespace simhash
