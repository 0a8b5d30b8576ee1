// A document's distinct features with their texts and frequencies, in order of first appearance.
// Features are identified by their 64-bit hash.
#pragma once

#include "core/text/document.hpp"

namespace simhash {

struct ListedFeature {
    uint64_t hash;
    size_t begin;       // of the text, in FeatureList::texts
    uint32_t bytes;     // of the text
    uint32_t frequency; // at most UINT32_MAX
};

class FeatureList {
  public:
    explicit FeatureList(Memory memory) : memory_(memory) {}

    void feature(const uint8_t* text, size_t bytes);
    void release();

    ListedFeature* listed = nullptr; // `count` features
    size_t count = 0;
    uint8_t* texts = nullptr;

  private:
    void grow_index();

    Memory memory_;
    size_t room_ = 0;         // of `listed`, in features
    size_t texts_used_ = 0;   // bytes
    size_t texts_room_ = 0;   // bytes
    size_t* index_ = nullptr; // `slots` numbers of features, from 1; 0: empty
    size_t slots_ = 0;        // a power of two, or 0
};

} // namespace simhash
