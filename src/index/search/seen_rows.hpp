// The rows that a scan has returned: where a value has several lanes, several of them may find it.
#pragma once

#include <variant>

#include "core/bits/hash_table.hpp"
#include "server/arguments.hpp"

namespace simhash {

// A set of TIDs, as integers.
class SeenRows {
    using Keys = HashTable<std::monostate>; // without values
    static_assert(sizeof(Keys::Slot) == sizeof(uint64_t));

  public:
    void clear() { rows_.clear(); }
    // True when the set has grown to its limit. It still takes the rows of one leaf.
    bool is_full() const { return rows_.size() * sizeof(Keys::Slot) * 4 > size_t(work_mem) * 1024; }
    bool contains(uint64_t tid) const { return rows_.find(key_of(tid)) != nullptr; }
    // Returns false if the row is there already.
    bool add(uint64_t tid) {
        size_t count = rows_.size();
        rows_.add(key_of(tid), {});
        return rows_.size() > count;
    }

  private:
    // The leading bits of a product with the golden ratio are spread evenly. The factor is odd, so
    // different TIDs have different products, and none has 0: no TID is 0.
    static uint64_t key_of(uint64_t tid) { return tid * 0x9e3779b97f4a7c15; }

    // In the current context: 16 to 32 bytes a row, and 48 while it grows.
    Keys rows_{server_memory()};
};

} // namespace simhash
