// The parts of a scan that search one lane's trees.
#pragma once

#include "index/search/nearest.hpp"
#include "index/search/within.hpp"

namespace simhash {

struct LaneScan {
    // Of the first lane, or of another one. The arguments are those of SearchedIndex.
    template <typename... Arguments>
    explicit LaneScan(const Arguments&... arguments)
        : index(arguments...), matches(&index), probes(&index, &matches), postings(&index),
          within(&index, &matches, &probes, &postings),
          nearest(&index, &matches, &probes, &postings) {}
    // The parts have each other's addresses.
    LaneScan(const LaneScan&) = delete;
    LaneScan& operator=(const LaneScan&) = delete;

    SearchedIndex index;
    Matches matches;
    Probes probes;
    PostingReader postings;
    WithinScan within; // within and nearest use the members above; one of them runs at a time
    NearestScan nearest;
};

} // namespace simhash
