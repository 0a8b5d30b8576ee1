// Sorts by <, for all of our code. libc++ has std::sort of numbers by < compiled in its library,
// which we do not link; with a comparison of our own the sort is compiled here.
#pragma once

#include <algorithm>

namespace simhash {

template <typename Iterator>
void sort_ascending(Iterator begin, Iterator end) {
    std::sort(begin, end, [](const auto& a, const auto& b) { return a < b; });
}

} // namespace simhash
