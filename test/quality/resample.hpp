// How far figures would differ for other documents of the same kind: each replicate draws as many
// documents as a corpus has, with replacement; a pair counts as often as both of its documents
// together. All forms are measured on the same replicates, so that differences have intervals too.
#pragma once

#include <array>
#include <random>
#include <vector>

#include "truth.hpp"

namespace quality {

constexpr int kReplicates = 200;
constexpr int kRadii = 13; // 0..12

// Pairs within each radius, by what they are in truth.
struct Counts {
    std::array<double, kRadii> near{}, between{}, others{};
};

class Replicates {
  public:
    explicit Replicates(size_t documents) : drawn_(kReplicates, std::vector<int>(documents)) {
        std::mt19937 random(7);
        for (std::vector<int>& times : drawn_)
            for (size_t i = 0; i < documents; i++)
                times[random() % documents]++;
    }

    // How often a replicate has the documents.
    const std::vector<int>& operator[](int replicate) const { return drawn_[replicate]; }

    double pairs(int replicate, const Pairs& pairs) const {
        const std::vector<int>& times = drawn_[replicate];
        double sum = 0;
        for (const auto& [a, b] : pairs)
            sum += times[a] * times[b];
        return sum;
    }

  private:
    std::vector<std::vector<int>> drawn_;
};

} // namespace quality
