// What the parts of an index scan share: the index as a scan sees it, what it looks for, and the
// room for what one leaf gives.
#pragma once

#include "core/bits/ball.hpp"
#include "core/bits/permutation.hpp"
#include "core/layout/probe_plan.hpp"
#include "index/cursor.hpp"

#include <span>

namespace simhash {

struct Posting {
    uint64_t fingerprint;
    uint64_t tid;
};

// What one leaf gives while it is locked. Nothing may be allocated then, and a leaf can give a lot
// more than most scans ever see. So there is one for the backend; no call leaves anything in it.
struct LeafYield {
    LeafReader::Hit hits[LeafReader::kHitRoom];
    Posting postings[kMaxLeafEntries];
    uint64_t fingerprints[kMaxLeafEntries];
};

// Which fingerprints are wanted: those in a ball ...
struct Filter {
    Ball ball;
    int done_radius = kNoRadius;       // ... but not within this radius of its centre, ...
    std::span<const Ball> others = {}; // ... that are in all of these, too, ...
    // ... and that none of the first so many probes of a plan around the centre reports.
    const ProbePlan* plan = nullptr;
    int reported_probes = 0;

    // Of a fingerprint in the ball.
    bool takes(uint64_t fingerprint) const {
        if (done_radius >= 0 && hamming_distance(fingerprint, ball.center) <= done_radius)
            return false;
        for (const Ball& other : others)
            if (!other.contains(fingerprint))
                return false;
        return !reported_by(reported_probes, fingerprint);
    }
    bool matches(uint64_t fingerprint) const {
        return ball.contains(fingerprint) && takes(fingerprint);
    }
    bool reported_by(int probes, uint64_t fingerprint) const {
        return probes > 0 && reported_earlier(*plan, probes, fingerprint ^ ball.center);
    }
};
constexpr Filter kEverything = {{0, kFingerprintBits}};

class SearchedIndex {
  public:
    // All memory of the scan comes from the current context.
    explicit SearchedIndex(Relation index);

    Relation relation() const { return relation_; }
    MemoryContext memory() const { return memory_; }
    const Layout& layout() const { return layout_; }
    // Number 0 .. layout().table_count, the null table.
    SearchedTree* tree(int number) { return &trees_[number]; }
    SearchedTree* posting_table() { return &trees_[0]; }
    const Permutation& permutation(int table) const { return permutations_[table]; }
    // Distinct fingerprints, estimated.
    double entries() const { return entries_; }
    // The plan for a radius of -1 .. 64.
    const ProbePlan* plan_for(int radius);
    LeafYield* yield() const { return &backend_yield_; }

    Snapshot snapshot = nullptr; // of the rows to be returned

  private:
    Relation relation_;
    MemoryContext memory_;
    Layout layout_; // a copy: the cached one goes when the relation is invalidated
    SearchedTree* trees_;
    Permutation* permutations_;
    double entries_;
    ProbePlan* plans_[kFingerprintBits + 1] = {}; // by radius, made when first needed
    static LeafYield backend_yield_;
};

} // namespace simhash
