// See distinct.hpp.
#include "core/pairs/distinct.hpp"

#include <algorithm>
#include <functional>

#include "core/bits/sort_ascending.hpp"
#include "core/pairs/radix_sort.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {

size_t sort_distinct(std::span<uint64_t> fingerprints, std::span<uint64_t> scratch, Pause pause) {
    constexpr size_t kFew = 512; // below this, the radix sort's counters cost more than it saves
    // Those of a sort come in order.
    if (std::adjacent_find(fingerprints.begin(), fingerprints.end(), std::greater_equal<>()) ==
        fingerprints.end())
        return fingerprints.size();
    if (fingerprints.size() <= kFew)
        sort_ascending(fingerprints.begin(), fingerprints.end());
    else
        radix_sort(fingerprints, scratch, pause);
    // Equal ones are neighbours now. The kept ones move to the front, in place.
    size_t kept = 0;
    one_by_one(
        fingerprints.size(),
        [&](size_t i) {
            if (kept == 0 || fingerprints[kept - 1] != fingerprints[i])
                fingerprints[kept++] = fingerprints[i];
        },
        pause);
    return kept;
}

} // namespace simhash
