// Distinct features with their texts. See feature_list.hpp.
#include "core/text/feature_list.hpp"

#include <algorithm>

#include "core/bits/standalone.hpp"

namespace simhash {

namespace {

// Doubles an array in the caller's memory until `needed` items fit.
template <typename Item>
void reserve(Memory memory, Item*& items, size_t used, size_t& room, size_t needed) {
    if (needed <= room)
        return;
    size_t new_room = std::max(needed, std::max<size_t>(2 * room, 64));
    Item* moved = static_cast<Item*>(memory.allocate(memory.context, new_room * sizeof(Item)));
    if (items != nullptr) {
        memcpy(moved, items, used * sizeof(Item));
        memory.release(memory.context, items);
    }
    items = moved;
    room = new_room;
}

} // namespace

void FeatureList::feature(const uint8_t* text, size_t bytes) {
    // Half of the slots are empty at least, so a search ends soon.
    if (2 * (count + 1) > slots_)
        grow_index();
    uint64_t hash = hash_feature(HashKind::kXxh3, text, bytes);
    size_t slot = hash & (slots_ - 1);
    for (; index_[slot] != 0; slot = (slot + 1) & (slots_ - 1))
        if (listed[index_[slot] - 1].hash == hash) {
            uint32_t& frequency = listed[index_[slot] - 1].frequency;
            frequency += frequency != UINT32_MAX;
            return;
        }
    reserve(memory_, listed, count, room_, count + 1);
    reserve(memory_, texts, texts_used_, texts_room_, texts_used_ + bytes);
    memcpy(texts + texts_used_, text, bytes);
    listed[count++] = {hash, texts_used_, uint32_t(bytes), 1};
    texts_used_ += bytes;
    index_[slot] = count;
}

void FeatureList::grow_index() {
    if (index_ != nullptr)
        memory_.release(memory_.context, index_);
    slots_ = slots_ == 0 ? 1024 : 2 * slots_;
    index_ = static_cast<size_t*>(memory_.allocate(memory_.context, slots_ * sizeof(*index_)));
    memset(index_, 0, slots_ * sizeof(*index_));
    for (size_t i = 0; i < count; i++) {
        size_t slot = listed[i].hash & (slots_ - 1);
        while (index_[slot] != 0)
            slot = (slot + 1) & (slots_ - 1);
        index_[slot] = i + 1;
    }
}

void FeatureList::release() {
    for (void* held :
         {static_cast<void*>(listed), static_cast<void*>(texts), static_cast<void*>(index_)})
        if (held != nullptr)
            memory_.release(memory_.context, held);
}

} // namespace simhash
