// Scans ordered by distance: exact nearest neighbours, lazily.
//
// A scan goes on in stages of growing radius, each like a query within that radius, of which only
// what earlier stages have not returned is taken, sorted by distance, and looked up one fingerprint
// at a time:
//
//     stage      radius 3          radius 5        radius 7       ...   the last
//     returns    distances 0..3    4..5            6..7                 the others, then NULL
//
// So a LIMIT that is reached near by costs one cheap stage. Where a radius would cost as much as
// reading the posting table from end to end, the last stage begins: one pass over that table
// collects the matches where they are few, as they are within a ball, to be looked up like those of
// the other stages. Where they are many, it notes which distances occur, and each further pass
// returns one of them, straight from the leaves. At most 65 passes return everything, whatever the
// size, in no memory at all; matches of the earlier stages, which are few, are given up for the
// last stage where they outgrow work_mem.
//
// A condition on another centre that is cheap to search for needs one stage only: what is in its
// ball, sorted by distance from the target.
//
// ORDER BY fp <~> a, fp <~> b: the stages follow the first distance, and fingerprints at the same
// one are sorted by the next. In the last stage each pass then keeps its distance's fingerprints.
#include "index/scan.hpp"

#include <algorithm>

namespace simhash {

namespace {

constexpr int kRadiusStep = 2;

// The greatest distance from the target at which a row can meet all conditions.
int greatest_radius(const Scan* scan) {
    int greatest = kFingerprintBits;
    for (int i = 0; i < scan->ball_count; i++) {
        const Ball& ball = scan->balls[i];
        if (ball.radius < 0)
            return kNoRadius;
        greatest = std::min(greatest, hamming_distance(ball.center, scan->target) + ball.radius);
    }
    return greatest;
}

// Sorts the stage's matches by distance and drops repetitions.
void sort_matches(Scan* scan) {
    uint64_t* end = scan->matches + scan->match_count;
    std::sort(scan->matches, end, [scan](uint64_t a, uint64_t b) {
        for (int i = 0; i < scan->target_count; i++) {
            int to_a = hamming_distance(a, scan->targets[i]),
                to_b = hamming_distance(b, scan->targets[i]);
            if (to_a != to_b)
                return to_a < to_b;
        }
        return a < b;
    });
    scan->match_count = std::unique(scan->matches, end) - scan->matches;
    scan->fetched_match = 0;
}

// Adds the fingerprint to the stage's matches unless it is the last of them already.
void add_match(Scan* scan, uint64_t fingerprint) {
    if (scan->match_count == 0 || scan->matches[scan->match_count - 1] != fingerprint)
        add_matches(scan, &fingerprint, 1);
}

// The last stage's pass over what was not yet returned: its distances, and, if they are few, its
// matches.
void begin_last_stage(Scan* scan) {
    std::fill(std::begin(scan->distance_present), std::end(scan->distance_present), false);
    scan->ball = Ball{scan->target, scan->greatest_radius};
    scan->match_count = scan->next_match = 0;
    size_t few = std::min(scan->match_limit, size_t(scan->entries * kFewMatches));
    start_walk(scan, 0, 0, UINT64_MAX);
    while (continue_walk(scan, true))
        for (int i = 0; i < scan->posting_count; i++) {
            uint64_t fingerprint = scan->postings[i].fingerprint;
            scan->distance_present[hamming_distance(fingerprint, scan->target)] = true;
            if (scan->match_count <= few)
                add_match(scan, fingerprint);
        }
    if (scan->match_count <= few) {
        sort_matches(scan);
        scan->phase = Phase::kLookups;
        return;
    }
    scan->phase = Phase::kLevels;
    scan->level_begun = false;
}

// Begins the next stage, or the last, or the null rows.
void begin_stage(Scan* scan) {
    int radius = scan->done_radius < 0 ? scan->layout->radius : scan->ball.radius + kRadiusStep;
    if (scan->done_radius >= scan->greatest_radius) {
        scan->phase = Phase::kNulls;
        return;
    }
    scan->ball = Ball{scan->target, std::min(radius, scan->greatest_radius)};
    scan->plan = plan_for(scan, scan->ball.radius);
    start_runs(scan);
    if (scan->plan->read_all || !collect_matches(scan)) {
        begin_last_stage(scan);
        return;
    }
    sort_matches(scan);
    scan->phase = Phase::kLookups;
}

// Has the only stage look through the smallest ball, where that is cheap and around something else
// than the target. False where it is not.
bool begin_stage_elsewhere(Scan* scan) {
    if (scan->ball_count == 0 || scan->balls[0].center == scan->target || !scan->want_fingerprints)
        return false;
    scan->ball = scan->balls[0];
    scan->plan = plan_for(scan, scan->ball.radius);
    start_runs(scan);
    if (scan->plan->read_all || !collect_matches(scan))
        return false;
    sort_matches(scan);
    scan->greatest_radius = scan->ball.radius; // nothing is left for another stage
    scan->phase = Phase::kLookups;
    return true;
}

// Collects what the pass under way finds, to be sorted by further distances.
void collect_level(Scan* scan) {
    scan->match_count = scan->next_match = 0;
    while (continue_walk(scan, true)) {
        for (int i = 0; i < scan->posting_count; i++)
            add_match(scan, scan->postings[i].fingerprint);
    }
    sort_matches(scan);
    scan->phase = Phase::kLookups;
}

// Begins the pass of the next distance that occurs. False where there is none.
bool begin_level(Scan* scan) {
    int distance = scan->done_radius + 1;
    while (distance <= scan->greatest_radius && !scan->distance_present[distance])
        distance++;
    if (distance > scan->greatest_radius)
        return false;
    scan->done_radius = distance - 1;
    scan->ball = Ball{scan->target, distance};
    start_walk(scan, 0, 0, UINT64_MAX);
    if (scan->target_count > 1)
        collect_level(scan);
    return true;
}

void start_ordered(Scan* scan) {
    scan->done_radius = kNoRadius;
    scan->level_begun = false;
    if (begin_stage_elsewhere(scan))
        return;
    scan->greatest_radius = scan->want_fingerprints ? greatest_radius(scan) : kNoRadius;
    begin_stage(scan);
}

} // namespace

bool next_ordered_postings(Scan* scan) {
    if (scan->phase == Phase::kStart)
        start_ordered(scan);
    while (scan->phase == Phase::kLookups || scan->phase == Phase::kLevels) {
        bool levels = scan->phase == Phase::kLevels;
        if (scan->walk.active && continue_walk(scan, levels))
            return true;
        release_pin(scan);
        if (levels) {
            // The pass of distance ball.radius is over, or none was begun yet.
            if (scan->level_begun)
                scan->done_radius = scan->ball.radius;
            scan->level_begun = begin_level(scan);
            if (!scan->level_begun)
                scan->phase = Phase::kNulls;
        } else if (scan->next_match < scan->match_count) {
            start_lookup(scan);
        } else if (scan->level_begun) {
            scan->phase = Phase::kLevels;
        } else {
            scan->done_radius = scan->ball.radius;
            begin_stage(scan);
        }
    }
    return next_null_postings(scan);
}

} // namespace simhash
