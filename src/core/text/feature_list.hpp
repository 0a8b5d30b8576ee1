// A document's distinct features with their texts and frequencies, in order of first appearance.
// Features are identified by their 64-bit hash.
#pragma once

#include "core/bits/memory.hpp"
#include "core/text/feature_hash.hpp"
#include "core/text/hash_numbers.hpp"

namespace simhash {

struct ListedFeature {
    size_t begin;       // of the text, in FeatureList::texts
    uint32_t bytes;     // of the text
    uint32_t frequency; // at most UINT32_MAX
};

// A consumer of each_feature().
class FeatureList {
  public:
    explicit FeatureList(Memory memory) : listed(memory), texts(memory), numbers_(1024, memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        uint32_t number =
            numbers_.add(hash_feature(HashKind::kXxh3, text, bytes), uint32_t(listed.size()));
        if (number == listed.size()) {
            listed.add({texts.size(), uint32_t(bytes), 0});
            std::copy_n(text, bytes, texts.add_room(bytes));
            texts.added(bytes);
        }
        uint32_t& frequency = listed[number].frequency;
        frequency += frequency != UINT32_MAX;
    }

    void release() {
        listed.release();
        texts.release();
        numbers_.release();
    }

    GrowingArray<ListedFeature> listed;
    GrowingArray<uint8_t> texts;

  private:
    HashNumbers numbers_;
};

} // namespace simhash
