// The cheapest thresholds by the pigeonhole principle: a radius is shared out to several items,
// block tables or lanes, so that the sum of (threshold + 1) is radius + 1.
#pragma once

#include <algorithm>
#include <cstdint>

namespace simhash {

// Dynamic programming over the items, at most most_items, and over the shares given out so far, at
// most most_shares.
template <int most_items, int most_shares>
class Thresholds {
  public:
    // `shares` is the sum of (threshold + 1): the radius + 1.
    explicit Thresholds(int shares) : shares_(shares) {
        std::fill_n(least_, shares + 1, kInfinite);
        least_[0] = 0;
    }

    // Adds an item whose threshold may be -1, for which it is not searched, up to `highest`. It
    // costs cost(threshold).
    template <typename Cost>
    void add(int highest, const Cost& cost) {
        int8_t* chosen = chosen_[count_++];
        // Downwards, so that least_[sum - ...] is still that of the items before.
        for (int sum = shares_; sum >= 0; sum--) {
            double least = kInfinite;
            chosen[sum] = -1;
            for (int t = -1; t <= highest && t < sum; t++)
                if (double all = least_[sum - (t + 1)] + cost(t); all < least) {
                    least = all;
                    chosen[sum] = int8_t(t);
                }
            least_[sum] = least;
        }
    }

    // False if the items cannot take all shares.
    bool are_found() const { return least_[shares_] < kInfinite; }
    // Returns the threshold of the item that was added last, and goes back to the one before.
    int take_last() {
        int threshold = chosen_[--count_][shares_];
        shares_ -= threshold + 1;
        return threshold;
    }

  private:
    static constexpr double kInfinite = 1e300;

    int count_ = 0, shares_;
    double least_[most_shares + 1];              // by sum: the least cost of the items so far
    int8_t chosen_[most_items][most_shares + 1]; // the last item's threshold in it
};

} // namespace simhash
