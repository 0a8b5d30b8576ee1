// A tree over a row of numbers that knows the greatest number of each part of the row. It finds the
// greatest of a range, and the nearest number to the left or right of a place that is greater than
// a bound, in as many steps as the number of places has bits.
//
//     node 1                 9
//     nodes 2, 3        7         9
//     nodes 4 .. 7    7   3     9   2        the row is 7 3 9 2; place p is node 4 + p
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/bits/memory.hpp"

namespace simhash {

class MaxTree {
  public:
    static constexpr size_t kNone = SIZE_MAX;

    MaxTree(size_t places, Memory memory)
        : first_(std::bit_ceil(places)), node_(allocate_array<uint32_t>(memory, 2 * first_)) {
        std::fill_n(node_, 2 * first_, 0);
    }

    // Sets a place without telling the nodes above; all are told by finish().
    void prepare(size_t place, uint32_t number) { node_[first_ + place] = number; }
    void finish() {
        for (size_t node = first_; node-- > 1;)
            node_[node] = std::max(node_[2 * node], node_[2 * node + 1]);
    }

    void set(size_t place, uint32_t number) {
        size_t node = first_ + place;
        node_[node] = number;
        // Where a node stays as it was, all above it do.
        while ((node /= 2) > 0) {
            uint32_t greatest = std::max(node_[2 * node], node_[2 * node + 1]);
            if (node_[node] == greatest)
                break;
            node_[node] = greatest;
        }
    }

    uint32_t operator[](size_t place) const { return node_[first_ + place]; }
    uint32_t greatest() const { return node_[1]; }

    // Of the places begin .. end - 1; 0 if there is none.
    uint32_t greatest(size_t begin, size_t end) const {
        uint32_t result = 0;
        for (begin += first_, end += first_; begin < end; begin /= 2, end /= 2) {
            if (begin % 2 == 1)
                result = std::max(result, node_[begin++]);
            if (end % 2 == 1)
                result = std::max(result, node_[--end]);
        }
        return result;
    }

    // The last place, up to `place`, with a number greater than the bound.
    size_t last_above(size_t place, uint32_t bound) const {
        size_t node = first_ + place;
        // A node without a number above the bound gives way to the one at its left. Where a row of
        // nodes ends, there is none.
        while (node_[node] <= bound) {
            while (node % 2 == 0)
                node /= 2;
            if (node == 1)
                return kNone;
            node--;
        }
        while (node < first_)
            node = 2 * node + (node_[2 * node + 1] > bound);
        return node - first_;
    }

    // The first place, from `place` on, with a number greater than the bound.
    size_t first_above(size_t place, uint32_t bound) const {
        size_t node = first_ + place;
        while (node_[node] <= bound) {
            while (node % 2 == 1 && node > 1)
                node /= 2;
            if (node <= 1)
                return kNone;
            node++;
        }
        while (node < first_)
            node = 2 * node + (node_[2 * node] <= bound);
        return node - first_;
    }

  private:
    size_t first_; // node of place 0, a power of two
    uint32_t* node_;
};

} // namespace simhash
