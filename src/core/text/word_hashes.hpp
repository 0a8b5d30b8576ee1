// The words of a text in order, each as its hash. Two words are the same if their hashes are.
#pragma once

#include <span>

#include "core/bits/memory.hpp"
#include "core/text/feature_hash.hpp"

namespace simhash {

using Words = std::span<const uint64_t>; // hashes, in the order of the text

// Collects them: a consumer of each_feature() for words of width 1.
class WordHashes {
  public:
    explicit WordHashes(Memory memory) : hashes_(memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        hashes_.add(hash_feature(HashKind::kXxh3, text, bytes));
    }
    // Valid until the next feature(), clear() or release().
    Words words() const { return {hashes_.data(), hashes_.size()}; }
    // Takes out all words, and keeps the room for those of another text.
    void clear() { hashes_.clear(); }
    void release() { hashes_.release(); }

  private:
    GrowingArray<uint64_t> hashes_;
};

} // namespace simhash
