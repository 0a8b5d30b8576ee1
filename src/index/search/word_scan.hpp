// The parts of a scan that search one word's trees.
#pragma once

#include "index/search/nearest.hpp"
#include "index/search/within.hpp"

namespace simhash {

struct WordScan {
    // Of the first word, or of another one. The arguments are those of SearchedIndex.
    template <typename... Arguments>
    explicit WordScan(const Arguments&... arguments)
        : index(arguments...), matches(&index), probes(&index, &matches), postings(&index),
          within(&index, &matches, &probes, &postings),
          nearest(&index, &matches, &probes, &postings) {}
    // The parts have each other's addresses.
    WordScan(const WordScan&) = delete;
    WordScan& operator=(const WordScan&) = delete;

    SearchedIndex index;
    Matches matches;
    Probes probes;
    PostingReader postings;
    WithinScan within; // within and nearest use the members above; one of them runs at a time
    NearestScan nearest;
};

} // namespace simhash
