// What the steps of a search cost: the one list by which probe plans, scans and the planner choose
// between two ways to the same rows. A wrong price costs time, never a row.
//
// Prices are microseconds, of pages and rows in memory, and only their ratios matter to a scan. The
// measurements: `make plan-grid` times every plan of some 230 queries and holds that the chosen one
// takes at most twice as long as the best; the others are named where they stand.
#pragma once

#include <cstddef>

namespace simhash {

// ---- A probe ----

struct ProbeCosts {
    double visit;              // find a range
    double candidate;          // decode and check a fingerprint in it
    double read_all_per_entry; // the same if table 0 is read from end to end
};

constexpr ProbeCosts kTypicalProbeCosts = {1.0, 0.003, 0.003};

// Finding a slice takes as long as checking this many candidates.
constexpr double kCandidatesOfSlice = 100;

// ---- What becomes of a match, a fingerprint within the radius ----

// Compare a row with the query, where many are compared. So one pass over the first lane of codes
// pays within about 100 of 256 bits and more, where 10 000 codes were measured.
constexpr double kComparison = 0.3;
// Look up a row in no order of the table.
constexpr double kLookup = 1;
// All that a match of one lane of several takes: its postings are found, and its row is read and
// compared. Codes of 10 million rows as skewed as PDQ take .85 of the time by it, random ones 1.00.
constexpr double kMatchCost = 3;
// A lane with more matches than this holds them back until the radius is shared out again: about
// what a search of one lane within one more bit costs.
constexpr size_t kFewOfLane = 32;

// ---- An order by distance: stages, and passes over the posting table ----

// Number of matches within the radius of a stage that is a pass, enough for most limits. The ten
// nearest of a million random fingerprints take half as long as by a pass for each distance.
constexpr double kPassMatches = 256;
// As each pass costs the same, the next one is within a radius for this many times the matches.
constexpr double kPassGrowth = 16;
// The share of all fingerprints up to which matches are looked up one by one. For more matches, a
// pass over the posting table for each distance takes less time.
constexpr double kFewMatches = 1.0 / 32;
// Stages beyond this radius look ahead. That makes each of them dearer, and the nearer stages cost
// too little to be worth saving.
constexpr int kNearRadius = 8;
// They look ahead to the least radius at which this many matches are expected: enough for most
// limits.
constexpr double kFarMatches = 64;
// Among the lanes of a value, a stage that costs more than this part of a pass counts as one: it
// raises the bound by few bits, and several more may follow.
constexpr double kStagesOfPass = 4;

// ---- In the planner's unit ----

// The planner charges a row cpu_tuple_cost, 0.01, for about 0.1 µs of work.
constexpr double kPlannerCostOfMicrosecond = 0.1;
// Number of stages, each a probe of every tree, that the first neighbours cost.
constexpr double kFirstStages = 3;

} // namespace simhash
