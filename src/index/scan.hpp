// What the files of the index scan share: scan.cpp (walks, probes, unordered scans, callbacks) and
// knn.cpp (scans ordered by distance).
#pragma once

#include "index/index.hpp"
#include "index/upper_levels.hpp"

namespace simhash {

constexpr int kNoRadius = -1;
constexpr int kMinPostingCapacity = 64;

// fp within radius of center. Radius -1: nothing matches; 64: everything.
struct Ball {
    uint64_t center;
    int radius;

    bool contains(uint64_t fingerprint) const {
        return hamming_distance(fingerprint, center) <= radius;
    }
};

struct Posting {
    uint64_t fingerprint;
    uint64_t tid;
};

// A run of a tree of postings, read leaf by leaf.
struct Walk {
    bool active;
    TreeContext tree;
    TreeKey position;  // entries before it are done
    uint64_t last_key; // the run ends behind it
    BlockNumber next;  // where `position` is expected; InvalidBlockNumber: descend
};

// Unordered: kStart, kPostingProbes, kLookups, kNulls, kDone. Ordered: kStart, kLookups (a stage),
// kLevels (the last stage), kNulls, kDone.
enum class Phase { kStart, kPostingProbes, kLookups, kLevels, kNulls, kDone };

struct Scan {
    MemoryContext memory; // holds all of the scan's; deleted at its end
    const Layout* layout;
    double entries;    // distinct fingerprints, estimated
    Snapshot snapshot; // of the rows to be returned

    // The conditions. Row fingerprints must lie in all balls; the first, the smallest, drives the
    // scan.
    Ball* balls;
    int ball_count;
    bool want_fingerprints, want_nulls;

    // What is being read.
    Phase phase;
    Ball ball;       // the driving ball of this stage
    int done_radius; // fingerprints within it were returned by earlier stages; -1: none
    const ProbePlan* plan;
    ProbePlan* plans[kFingerprintBits + 1]; // by radius, made when first needed
    PrefixNeighbours neighbours{0, 1, -1};
    UpperLevels upper_levels;
    Walk walk;
    uint64_t* matches; // fingerprints of the stage to look up
    size_t match_count, match_capacity, next_match;

    // The current leaf's matching postings, and the pin that protects them where the snapshot alone
    // does not.
    bool keep_pin;
    Buffer pinned;
    Posting* postings; // [posting_capacity]
    int posting_count, posting_capacity, next_posting;
    IndexTuple tuple;

    // Ordered scans.
    bool ordered;
    bool order_by_null;                          // ORDER BY fp <~> NULL: any order
    uint64_t target;                             // ORDER BY fp <~> target ...
    uint64_t* targets;                           // ... and, at equal distance, the others'
    int target_count;                            // the first included
    int greatest_radius;                         // that the conditions leave
    bool distance_present[kFingerprintBits + 1]; // in the last stage: distances that occur
    bool level_begun;                            // in the last stage: a distance is being returned
};

// ---- scan.cpp ----

void release_pin(Scan* scan);
void start_walk(Scan* scan, Relation index, int tree, uint64_t first_key, uint64_t last_key);
// Goes to the next leaf of the walk that has matching postings, and keeps it pinned. False at the
// walk's end. `filtered`: postings must match the ball and the conditions; else all of the walk's
// do.
bool continue_walk(Scan* scan, Relation index, bool filtered);
// The plan for a radius of -1 .. 64.
const ProbePlan* plan_for(Scan* scan, Relation index, int radius);
// Adds fingerprints to scan->matches.
void add_matches(Scan* scan, const uint64_t* found, int count);
// Collects the matching fingerprints that probes from `first_probe` on find into scan->matches.
// Those of the posting table may be repeated.
void collect_matches(Scan* scan, Relation index, int first_probe);
// The null table's postings, one leaf's; the last phase of each scan. False at its end.
bool next_null_postings(Scan* scan, Relation index);

// ---- knn.cpp ----

// Loads the next postings of an ordered scan, one leaf's. False at its end.
bool next_ordered_postings(Scan* scan, Relation index);

} // namespace simhash
