// A document's set of features, as the hashes of its distinct features in ascending order; and how
// much two such sets have in common. It is made once for a document, and compared with many.
#pragma once

#include <span>

#include "core/text/document.hpp"

namespace simhash {

using FeatureHashes = std::span<const uint64_t>; // ascending, each once

// Collects a set, as a consumer of each_feature().
class FeatureSet {
  public:
    explicit FeatureSet(Memory memory) : memory_(memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        if (count_ == room_)
            make_room();
        hashes_[count_++] = hash_feature(HashKind::kXxh3, text, bytes);
    }

    // The hashes, once all features are there. They last until release().
    FeatureHashes finish();
    void release();

  private:
    void make_room();

    Memory memory_;
    uint64_t* hashes_ = nullptr;
    size_t count_ = 0, room_ = 0;
};

// Jaccard similarity: features that both have / that at least one has. False where neither has one.
bool set_similarity(FeatureHashes a, FeatureHashes b, double* similarity);

// Whether set_similarity() gives `threshold` or more, of sets of which one at least has a feature.
// This looks no further than it must: most pairs of sets that differ are told apart by their sizes or
// by their first hashes.
bool is_set_similarity_at_least(FeatureHashes a, FeatureHashes b, double threshold);

} // namespace simhash
