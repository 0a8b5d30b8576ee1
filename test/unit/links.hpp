// Links the pairs that a search finds, also those that it tells in bulk.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "core/pairs/near_pairs.hpp"

namespace simhash::test {

class Links {
  public:
    PairReceiver receiver() {
        return {[](void* links, uint64_t a, uint64_t b) {
                    static_cast<Links*>(links)->link(a, b);
                    return true;
                },
                [](void* links, const uint64_t* all, size_t count) {
                    for (size_t i = 1; i < count; i++)
                        static_cast<Links*>(links)->link(all[0], all[i]);
                },
                this};
    }

    // The least fingerprint that is linked with each, directly or through others.
    std::vector<uint64_t> names(std::vector<uint64_t> fingerprints) {
        for (uint64_t& fingerprint : fingerprints)
            fingerprint = root(fingerprint);
        return fingerprints;
    }

  private:
    uint64_t root(uint64_t fingerprint) {
        auto lesser = lesser_.find(fingerprint);
        return lesser == lesser_.end() ? fingerprint : lesser->second = root(lesser->second);
    }
    void link(uint64_t a, uint64_t b) {
        a = root(a), b = root(b);
        if (a != b)
            lesser_[std::max(a, b)] = std::min(a, b);
    }

    std::map<uint64_t, uint64_t> lesser_;
};

} // namespace simhash::test
