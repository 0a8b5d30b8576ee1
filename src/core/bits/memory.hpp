// Memory that the caller hands to src/core. Inside the server `allocate` is a palloc that may raise
// an error and not come back, so nothing in core may rely on a destructor to give memory back.
#pragma once

#include <cstddef>

namespace simhash {

struct Memory {
    void* context;
    // Uninitialised; does not return when there is none.
    void* (*allocate)(void* context, size_t bytes);
    void (*release)(void* context, void* memory);
};

} // namespace simhash
