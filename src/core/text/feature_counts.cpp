// How often each feature of a document occurs, and its weight. See feature_counts.hpp.
#include "core/text/feature_counts.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace simhash {

void FeatureCounts::grow() {
    // Both arrays double, and keep a quarter of the slots filled at most.
    uint32_t new_slots = 2 * slots_;
    auto* moved = allocate_array<FeatureCount>(memory_, new_slots / kSlotsPerFeature + 1);
    memcpy(moved, features_, distinct_ * sizeof *moved);
    uint32_t kept = distinct_;
    release();
    features_ = moved;
    index_ = allocate_array<uint32_t>(memory_, new_slots);
    slots_ = new_slots;
    shift_--;
    clear();
    // The features are distinct, so an empty slot is all that each needs.
    for (; distinct_ < kept; distinct_++) {
        uint32_t at = home(features_[distinct_].hash);
        while (index_[at] != 0)
            at = (at + 1) & (slots_ - 1);
        index_[at] = distinct_ + 1;
    }
}

// ---- weights ----

namespace {

// floor(sqrt(n)), bit by bit, in integers: the same on every machine.
constexpr uint64_t integer_sqrt(uint64_t n) {
    uint64_t root = 0;
    for (uint64_t bit = uint64_t(1) << 31; bit != 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= n)
            root |= bit;
    return root;
}

// Intermediate results have 16 bits after the point, and are rounded down.
constexpr int kFraction = 16;
constexpr uint64_t kLn2 = 2977044472; // ln 2 * 2^32

// By repeated squaring of the mantissa.
constexpr uint64_t integer_log2(uint64_t n) {
    int whole = std::bit_width(n) - 1;
    // The square of a number in [1, 2) is in [1, 4). If it is 2 or more, the next bit of the
    // logarithm is 1, and the square is halved.
    uint64_t mantissa = n << (63 - whole); // 1 <= mantissa / 2^63 < 2
    uint64_t log = uint64_t(whole);
    for (int i = 0; i < kFraction; i++) {
        unsigned __int128 square = static_cast<unsigned __int128>(mantissa) * mantissa;
        int carried = int(square >> 127);
        mantissa = uint64_t(square >> (63 + carried));
        log = log << 1 | uint64_t(carried);
    }
    return log;
}

// Both the number and its root have 16 bits after the point.
constexpr uint64_t root(uint64_t n) { return integer_sqrt(n << kFraction); }

constexpr uint64_t product(uint64_t a, uint64_t b) { return a * b >> kFraction; }

constexpr uint32_t log_weight(uint32_t frequency) {
    return uint32_t(((1 << kFraction) + (integer_log2(frequency) * kLn2 >> 32)) >>
                    (kFraction - kWeightBits));
}

// log2(1 + frequency)^(9/4); at most 2^28.
constexpr uint32_t damped(uint32_t frequency) {
    uint64_t log = integer_log2(uint64_t(frequency) + 1);
    return uint32_t(product(product(log, log), root(root(log))));
}

// The square root of the bytes that count; of a quarter of them if the feature begins with a digit.
constexpr uint32_t kGreatestLength = 12;
using LengthFactors = std::array<uint32_t, kGreatestLength + 1>;
constexpr LengthFactors length_factors(int parts) {
    LengthFactors table{};
    for (uint32_t bytes = 1; bytes <= kGreatestLength; bytes++)
        table[bytes] = uint32_t(root((uint64_t(bytes) << kFraction) / parts));
    return table;
}
constexpr LengthFactors kLengthFactors[] = {length_factors(1), length_factors(4)};

// Nearly all frequencies are small, so their factors are in a table.
constexpr uint32_t kTabled = 64;
template <uint32_t function(uint32_t frequency)>
constexpr std::array<uint32_t, kTabled> tabled() {
    std::array<uint32_t, kTabled> table{};
    for (uint32_t i = 1; i < kTabled; i++)
        table[i] = function(i);
    return table;
}
constexpr auto kLogWeights = tabled<log_weight>();
constexpr auto kDamped = tabled<damped>();

uint32_t balanced_weight(const FeatureCount& feature) {
    uint32_t frequency = feature.frequency;
    uint64_t of_frequency = frequency < kTabled ? kDamped[frequency] : damped(frequency);
    // The difference is unsigned: a character below '0' wraps around to a great number.
    bool digit = uint8_t(feature.first - '0') < 10;
    uint32_t length = std::min(uint32_t(feature.bytes), kGreatestLength);
    // Both factors have 16 bits after the point, and the weight has 8.
    return uint32_t(of_frequency * kLengthFactors[digit][length] >> (2 * kFraction - kWeightBits));
}

// No feature weighs more than an eighth of all weights.
constexpr uint32_t kLeastShare = 8;

// The greatest bound that is at most its share of all weights once the greater ones are lowered to
// it. The search comes from above: a weight above too high a bound is also above the right one.
uint64_t right_bound(const FeatureCount* features, size_t count, uint64_t sum) {
    for (uint64_t bound = sum / kLeastShare;;) {
        uint64_t greater = 0, rest = 0;
        for (size_t i = 0; i < count; i++)
            if (features[i].weight > bound)
                greater++;
            else
                rest += features[i].weight;
        if (greater * bound + rest >= kLeastShare * bound)
            return bound;
        // This is the bound b for which b = (greater * b + rest) / 8. It is lower than the last
        // one, so more weights may be above it: the loop goes on until no more are.
        bound = rest / (kLeastShare - greater);
    }
}

void lower(FeatureCount* features, size_t count, uint32_t bound) {
    for (size_t i = 0; i < count; i++)
        features[i].weight = std::min(features[i].weight, bound);
}

void weigh_balanced(FeatureCount* features, size_t count) {
    uint64_t sum = 0;
    uint32_t least = UINT32_MAX, greatest = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t weight = features[i].weight = balanced_weight(features[i]);
        sum += weight;
        least = std::min(least, weight);
        greatest = std::max(greatest, weight);
    }
    // With fewer than eight features one of them has more than an eighth whatever the bound is.
    // Then all get the same weight.
    if (count < kLeastShare)
        lower(features, count, least);
    else if (greatest > sum / kLeastShare)
        lower(features, count, uint32_t(right_bound(features, count, sum)));
}

} // namespace

uint32_t feature_weight(Weighting weighting, const FeatureCount& feature) {
    uint32_t frequency = feature.frequency;
    switch (weighting) {
    case Weighting::kBalanced:
        return balanced_weight(feature);
    case Weighting::kTf:
        return frequency;
    case Weighting::kSqrt:
        return uint32_t(integer_sqrt(uint64_t(frequency) << (2 * kWeightBits)));
    case Weighting::kLog:
        return frequency < kTabled ? kLogWeights[frequency] : log_weight(frequency);
    case Weighting::kBinary:
        break;
    }
    return 1;
}

void weigh(Weighting weighting, FeatureCount* features, size_t count) {
    if (weighting == Weighting::kBalanced) {
        weigh_balanced(features, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        features[i].weight = feature_weight(weighting, features[i]);
}

} // namespace simhash
