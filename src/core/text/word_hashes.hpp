// The words of a text in order, each as its hash. Two words are the same if their hashes are.
#pragma once

#include <algorithm>
#include <span>

#include "core/bits/memory.hpp"
#include "core/text/feature_hash.hpp"

namespace simhash {

using Words = std::span<const uint64_t>; // hashes, in the order of the text

// Collects them: a consumer of each_feature() for words of width 1.
class WordHashes {
  public:
    explicit WordHashes(Memory memory) : memory_(memory) {}

    void feature(const uint8_t* text, size_t bytes) {
        if (count_ == room_)
            make_room();
        hashes_[count_++] = hash_feature(HashKind::kXxh3, text, bytes);
    }
    // Valid until the next feature(), clear() or release().
    Words words() const { return {hashes_, count_}; }
    // Takes out all words, and keeps the room for those of another text.
    void clear() { count_ = 0; }
    void release() {
        if (hashes_ != nullptr)
            memory_.release(memory_.context, hashes_);
        hashes_ = nullptr;
    }

  private:
    void make_room() {
        constexpr size_t kFirstRoom = 1024;
        size_t room = std::max(kFirstRoom, 2 * room_);
        auto* moved =
            static_cast<uint64_t*>(memory_.allocate(memory_.context, room * sizeof(uint64_t)));
        std::copy_n(hashes_, count_, moved);
        release();
        hashes_ = moved;
        room_ = room;
    }

    Memory memory_;
    uint64_t* hashes_ = nullptr;
    size_t count_ = 0, room_ = 0;
};

} // namespace simhash
