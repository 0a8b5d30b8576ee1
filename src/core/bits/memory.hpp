// Memory that the caller gives to src/core. Inside the server `allocate` is a palloc, which may
// raise an error and not return, so nothing in core may rely on a destructor to release memory. And
// memory that the processor is to fetch before it is read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace simhash {

struct Memory {
    void* context;
    // The memory is uninitialised. Does not return if there is none.
    void* (*allocate)(void* context, size_t bytes);
    void (*release)(void* context, void* memory);
};

template <typename Item>
Item* allocate_array(Memory memory, size_t count) {
    return static_cast<Item*>(memory.allocate(memory.context, count * sizeof(Item)));
}

// An array that grows at its end, for items that may be copied as bytes.
template <typename Item>
class GrowingArray {
  public:
    explicit GrowingArray(Memory memory) : memory_(memory) {}

    size_t size() const { return size_; }
    Item* data() { return items_; }
    Item* end() { return items_ + size_; }
    const Item* data() const { return items_; }
    Item& operator[](size_t i) { return items_[i]; }
    const Item& operator[](size_t i) const { return items_[i]; }
    std::span<Item> all() { return {items_, size_}; }
    std::span<const Item> all() const { return {items_, size_}; }

    void add(const Item& item) { *add_room(1) = item, size_++; }
    void append(std::span<const Item> items) {
        std::copy(items.begin(), items.end(), add_room(items.size()));
        size_ += items.size();
    }
    // Makes room for `more` items behind the last one, and returns it.
    Item* add_room(size_t more) {
        if (room_ - size_ < more)
            grow(more);
        return items_ + size_;
    }
    // After add_room(): this many of the items there have been written.
    void added(size_t count) { size_ += count; }
    void clear() { size_ = 0; }
    // Keeps the items before `end`, one of them or end().
    void cut_to(const Item* end) { size_ = size_t(end - items_); }
    // Removes the items for which unwanted(item) is true. The others keep their order.
    void remove_if(const auto& unwanted) { cut_to(std::remove_if(items_, end(), unwanted)); }
    void release() {
        if (items_ != nullptr)
            memory_.release(memory_.context, items_);
        items_ = nullptr;
        size_ = room_ = 0;
    }

  private:
    void grow(size_t more) {
        size_t room = std::max({2 * room_, size_ + more, kFirstBytes / sizeof(Item)});
        auto* moved = allocate_array<Item>(memory_, room);
        std::copy_n(items_, size_, moved);
        if (items_ != nullptr)
            memory_.release(memory_.context, items_);
        items_ = moved;
        room_ = room;
    }

    static constexpr size_t kFirstBytes = 4096;

    Memory memory_;
    Item* items_ = nullptr;
    size_t size_ = 0, room_ = 0;
};

// Fetches the cache line at an address, which need not be valid. Without the empty statement a
// compiler may take the function for one without effect and drop calls to it (GCC with -flto does).
inline void prefetch(const void* address) {
    __builtin_prefetch(address);
    asm volatile("");
}

} // namespace simhash
