// What the files of the index scan share: scan.cpp (walks, probes, unordered scans, callbacks) and
// knn.cpp (scans ordered by distance).
#pragma once

#include "index/index.hpp"
#include "index/recent_leaves.hpp"

namespace simhash {

constexpr int kMinPostingCapacity = 64;
// Leaves that are fetched before the first of them is read: at first, and from then on.
constexpr int kFirstRunsAhead = 4;
constexpr int kRunsAhead = 16;
constexpr int kLookupsAhead = 8; // of matches
constexpr int kRowsAhead = 4;    // rows of the table, of those that one leaf gives

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

// The keys of a block table or the posting table that share a prefix, first to last; what a probe
// looks through.
struct Run {
    int probe;
    const TreeContext* tree;
    uint64_t target;  // the centre's key
    TreeKey position; // entries before it are done
    uint64_t last;
    LeafHint leaf; // of `position`
};

// A run of a tree of postings, read leaf by leaf.
struct Walk {
    bool active;
    bool begun;
    const TreeContext* tree;
    TreeKey position;  // entries before it are done
    uint64_t last_key; // the run ends behind it
    LeafHint next;     // where `position` is expected
};

// Unordered: kStart, kPostingProbes, kLookups (or kRest, where there are too many to look up),
// kNulls, kDone. Ordered: kStart, kLookups (a stage), kLevels (the last stage), kNulls, kDone.
enum class Phase { kStart, kPostingProbes, kLookups, kRest, kLevels, kNulls, kDone };

struct Scan {
    MemoryContext memory; // holds all of the scan's; deleted at its end
    Relation index;
    const Layout* layout;
    const TreeContext* trees;        // [tree_count(*layout)]
    const Permutation* permutations; // [layout->table_count]
    double entries;                  // distinct fingerprints, estimated
    Snapshot snapshot;               // of the rows to be returned
    Relation heap; // whose rows will be looked at next, if they are to be fetched ahead
    int row_bytes; // of the heap, about

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
    RecentLeaves leaves;
    // The plan's runs, in order of their probes: those fetched ahead, and where to go on behind
    // them.
    Run runs[kRunsAhead]; // [run_count]
    int run_count, next_run, next_probe;
    PrefixNeighbours neighbours{0, 1, -1}; // of the probe before next_probe
    uint64_t probe_target;                 // the centre's key in its table
    Walk walk;
    uint64_t* matches; // fingerprints of the stage to look up
    size_t match_count, match_capacity, next_match, fetched_match;
    size_t match_limit;                    // of work_mem
    LeafHint lookup_leaves[kLookupsAhead]; // of matches to come, by number
    bool too_many_matches;                 // for work_mem: they are not all there

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
void start_walk(Scan* scan, int tree, uint64_t first_key, uint64_t last_key,
                const LeafHint& leaf = {});
// Goes to the next leaf of the walk that has matching postings, and keeps it pinned. False at the
// walk's end. `filtered`: postings must match the ball and the conditions; else all of the walk's
// do.
bool continue_walk(Scan* scan, bool filtered);
// The plan for a radius of -1 .. 64.
const ProbePlan* plan_for(Scan* scan, int radius);
// Adds fingerprints to scan->matches.
void add_matches(Scan* scan, const uint64_t* found, int count);
// Begins the walk over the postings of the next match.
void start_lookup(Scan* scan);
// Begins the runs of scan->plan, without matches yet.
void start_runs(Scan* scan);
// Collects the matching fingerprints of the runs that are left into scan->matches. Those of the
// posting table may be repeated. False where they outgrow work_mem: not all are there then.
bool collect_matches(Scan* scan);
// The null table's postings, one leaf's; the last phase of each scan. False at its end.
bool next_null_postings(Scan* scan);

// ---- knn.cpp ----

// Loads the next postings of an ordered scan, one leaf's. False at its end.
bool next_ordered_postings(Scan* scan);

} // namespace simhash
