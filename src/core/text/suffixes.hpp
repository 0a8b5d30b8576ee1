// The suffixes of a row of symbols in order, and how many symbols each has in common with the one
// before it. So equal parts of the row, whatever their length, are found side by side.
//
//     symbols   b a n a n a        order   suffix         shared
//     place     0 1 2 3 4 5        5       a              0
//                                  3       a n a          1
//                                  1       a n a n a      3
//                                  0       b a n a n a    0
//                                  4       n a            0
//                                  2       n a n a        2
//
// By induced sorting (Nong, Zhang and Chan, DCC 2009) and the method of Kasai and others (CPM
// 2001): the time is linear, whatever the symbols are.
#pragma once

#include <cstdint>
#include <span>

#include "core/bits/memory.hpp"
#include "core/bits/pause.hpp"

namespace simhash {

struct Suffixes {
    uint32_t* order;  // [symbols] where the suffixes begin, in order
    uint32_t* rank;   // [symbols] the place in `order` of the suffix that begins there
    uint32_t* shared; // [symbols] by places in `order`; of the first it is 0
};

// The symbols are below `alphabet`, and fewer than UINT32_MAX. The caller releases the arrays.
Suffixes sort_suffixes(std::span<const uint32_t> symbols, uint32_t alphabet, Memory memory,
                       Pause pause);

} // namespace simhash
