// Memory that the caller gives to src/core. Inside the server `allocate` is a palloc, which may
// raise an error and not return, so nothing in core may rely on a destructor to release memory.
#pragma once

#include <cstddef>

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

} // namespace simhash
