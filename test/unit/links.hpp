// Links the pairs that a search finds, also those that it tells in bulk.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "core/pairs/near_pairs.hpp"

namespace simhash::test {

class Links {
  public:
    PairReceiver receiver() const { return {*this, *this}; }
    bool operator()(uint64_t a, uint64_t b) const {
        link(a, b);
        return true;
    }
    void operator()(const uint64_t* all, size_t count) const {
        for (size_t i = 1; i < count; i++)
            link(all[0], all[i]);
    }

    // The least fingerprint that is linked with each, directly or through others.
    std::vector<uint64_t> names(std::vector<uint64_t> fingerprints) {
        for (uint64_t& fingerprint : fingerprints)
            fingerprint = root(fingerprint);
        return fingerprints;
    }

  private:
    uint64_t root(uint64_t fingerprint) const {
        auto lesser = lesser_.find(fingerprint);
        return lesser == lesser_.end() ? fingerprint : lesser->second = root(lesser->second);
    }
    void link(uint64_t a, uint64_t b) const {
        a = root(a), b = root(b);
        if (a != b)
            lesser_[std::max(a, b)] = std::min(a, b);
    }

    mutable std::map<uint64_t, uint64_t> lesser_; // a search takes const functions
};

} // namespace simhash::test
