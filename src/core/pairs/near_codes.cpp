// The radius in which each lane is searched. See near_codes.hpp.
#include "core/pairs/near_codes.hpp"

#include <cmath>

namespace simhash {
namespace {

constexpr double kWeightOfEqual = 1.0 / 32; // of pairs with the same lane

// The probabilities of the binomial distribution of `bits` bits, each 1 in half of the cases, one
// after the other. bits need not be a whole number.
class Binomial {
  public:
    void begin(double bits) {
        bits_ = bits;
        probability_ = std::exp2(-bits);
    }

    double next() const { return probability_; }

    void step() {
        probability_ *= std::max(0.0, bits_ - ones_) / (ones_ + 1);
        ones_++;
    }

  private:
    double bits_ = 0, probability_ = 1;
    int ones_ = 0; // of which next() is the probability
};

} // namespace

double SampledDistances::mean(int lane) const {
    double sum = 0;
    for (int distance = 0; distance <= kFingerprintBits; distance++)
        sum += double(distance) * counts_[lane][distance];
    return sum / double(std::max<size_t>(pairs_, 1));
}

CodeRadii SampledDistances::radii(int radius) const {
    CodeRadii radii = {};
    Binomial of_lane[kMaxCodeLanes];
    for (int lane = 0; lane < lanes_; lane++) {
        radii.of_lane[lane] = kNotSearched;
        // A lane whose strangers differ in m bits on average behaves as one of 2 m random bits.
        of_lane[lane].begin(2 * mean(lane));
    }
    auto next_strangers = [&](int lane) {
        int distance = radii.of_lane[lane] + 1;
        double sampled = double(counts_[lane][distance]) / double(std::max<size_t>(pairs_, 1));
        return of_lane[lane].next() + (distance == 0 ? sampled * kWeightOfEqual : sampled);
    };
    // There are radius + 1 steps: the sum of (t + 1) over the lanes. The first step of a lane takes
    // it from -1, not searched, to 0.
    for (int given = 0; given <= radius; given++) {
        int best = -1;
        for (int lane = 0; lane < lanes_; lane++)
            if (radii.of_lane[lane] < kFingerprintBits &&
                (best < 0 || next_strangers(lane) < next_strangers(best)))
                best = lane;
        if (best < 0)
            break;
        radii.strangers += next_strangers(best);
        radii.of_lane[best]++;
        of_lane[best].step();
    }
    return radii;
}

} // namespace simhash
