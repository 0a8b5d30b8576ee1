// Arrays that grow, in a memory context of the server. They may be larger than 1 GB.
#pragma once

#include "server/pg.hpp"

#include <algorithm>

namespace simhash {

// Returns the items in room for `count`. Null is an array without items.
template <typename Item>
Item* resized(MemoryContext context, Item* items, size_t count) {
    size_t bytes = count * sizeof(Item);
    return static_cast<Item*>(items == nullptr ? MemoryContextAllocHuge(context, bytes)
                                               : repalloc_huge(items, bytes));
}

// Makes room for `needed` items. The capacity doubles at least, so that each item is moved a few
// times at most, however many are added.
template <typename Item>
void make_room(MemoryContext context, Item** items, size_t* capacity, size_t needed,
               size_t least = 64) {
    if (needed <= *capacity)
        return;
    size_t grown = std::max({needed, 2 * *capacity, least});
    *items = resized(context, *items, grown);
    *capacity = grown;
}

} // namespace simhash
