// A document's fingerprint. See document.hpp.
#include "core/document.hpp"
#include "core/mixed.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace simhash {

namespace {

// floor(sqrt(n)), by bits: the same everywhere.
constexpr uint64_t integer_sqrt(uint64_t n) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= n)
            root |= bit;
    return root;
}

// log2(n) with kDocumentFraction bits, rounded down, by repeated squaring of the mantissa.
constexpr uint64_t integer_log2(uint32_t n) {
    const int whole = std::bit_width(n) - 1;
    uint64_t mantissa = ((uint64_t)n << 32) >> whole; // 1 <= mantissa / 2^32 < 2
    mantissa >>= 1;                                   // 31 bits behind the point: squares fit 64
    uint64_t log = (uint64_t)whole;
    for (int i = 0; i < kDocumentFraction; i++) {
        mantissa = mantissa * mantissa >> 31;
        log = log << 1 | (mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return log;
}

constexpr uint64_t kOne = 1 << kDocumentFraction;
constexpr uint64_t kLn2 = 2977044472; // ln 2 * 2^32

constexpr uint64_t log_weight(uint32_t frequency) {
    return kOne + (integer_log2(frequency) * kLn2 >> 32);
}

// Nearly all frequencies are small.
constexpr int kTabled = 64;
constexpr std::array<uint16_t, kTabled> log_weights() {
    std::array<uint16_t, kTabled> table{};
    for (int i = 1; i < kTabled; i++)
        table[i] = (uint16_t)log_weight(i);
    return table;
}
constexpr auto kLogWeights = log_weights();

class FingerprintConsumer {
  public:
    FingerprintConsumer(const DocumentOptions& options, Memory memory)
        : options(options), counts(memory), block(votes) {}

    void feature(const uint8_t* text, size_t bytes) {
        const uint64_t hash = hash_feature(options.hash, text, bytes);
        if (counts.add(hash) == FeatureCounts::Added::kSectionFull) {
            end_section();
            counts.add(hash);
        }
    }

    bool finish(uint64_t* fingerprint) {
        end_section();
        block.flush();
        counts.release();
        return votes.fingerprint(fingerprint);
    }

  private:
    void end_section() {
        counts.each([this](const FeatureCount& feature) {
            block.add(feature.hash, feature_weight(options.weighting, feature.frequency));
        });
        counts.clear();
    }

    const DocumentOptions& options;
    FeatureCounts counts;
    Votes votes;
    VoteBlock block;
};

} // namespace

uint64_t feature_weight(Weighting weighting, uint32_t frequency) {
    switch (weighting) {
    case Weighting::kTf:
        return (uint64_t)frequency << kDocumentFraction;
    case Weighting::kSqrt:
        return integer_sqrt((uint64_t)frequency << (2 * kDocumentFraction));
    case Weighting::kLog:
        return frequency < kTabled ? kLogWeights[frequency] : log_weight(frequency);
    case Weighting::kBinary:
        break;
    }
    return kOne;
}

bool document_fingerprint(const DocumentOptions& options, TextSource source, Memory memory,
                          uint64_t* fingerprint) {
    if (options.features == FeatureKind::kMixed)
        return mixed_fingerprint(source, memory, fingerprint);
    FingerprintConsumer consumer(options, memory);
    each_feature(options.features, options.width, source, consumer);
    return consumer.finish(fingerprint);
}

} // namespace simhash
