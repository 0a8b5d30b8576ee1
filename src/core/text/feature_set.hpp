// A document's set of features, as the hashes of its distinct features in ascending order, and the
// similarity of two sets. A set is made once for a document, and compared with many.
#pragma once

#include <span>

#include "core/text/document.hpp"

namespace simhash {

using FeatureHashes = std::span<const uint64_t>; // ascending, each once

// Collects a set: a consumer of each_feature().
class FeatureSet {
  public:
    explicit FeatureSet(Memory memory) : hashes_(memory) {}

    void operator()(const uint8_t* text, size_t bytes) {
        add(hash_feature(HashKind::kXxh3, text, bytes));
    }

    void add(uint64_t hash) {
        if (hashes_.size() == most_)
            drop_repetitions();
        hashes_.add(hash);
    }

    // The hashes of all features, sorted when they are asked for first. They are valid until the
    // next add(), clear() or release().
    FeatureHashes finish();
    // Takes out all features, and keeps the room for those of another document.
    void clear() {
        hashes_.clear();
        sorted_ = 0;
    }
    void release() {
        clear();
        hashes_.release();
    }

  private:
    void drop_repetitions();

    GrowingArray<uint64_t> hashes_;
    size_t sorted_ = 0;  // the first hashes, which are a set
    size_t most_ = 1024; // hashes, before repetitions are dropped
};

// Jaccard similarity: features that both have / that at least one has. False if neither has one.
bool set_similarity(FeatureHashes a, FeatureHashes b, double* similarity);

// The share of a's features that b has. False if a has none.
bool set_containment(FeatureHashes a, FeatureHashes b, double* containment);

// Whether set_similarity() is at least `threshold`. One of the sets has a feature. This stops as
// soon as the answer is known: sizes or the first hashes rule out most pairs of sets that differ.
bool is_set_similarity_at_least(FeatureHashes a, FeatureHashes b, double threshold);

} // namespace simhash
