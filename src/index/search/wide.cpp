// Scans for values of several lanes. See the header.
#include "index/search/wide.hpp"

#include <algorithm>

namespace simhash {

// Begins the search of the lane whose turn it is. Returns false if it is not searched.
bool WideScan::start_lane() {
    int radius = lane_radius(radius_, int(lanes_.size()), int(lane_));
    // Where distances add up, and radius + 1 is less than the number of lanes, the last lanes are
    // not searched.
    if (radius < 0)
        return false;
    lanes_[lane_]->within.start({centers_[lane_], saturate_radius(radius)}, {});
    return true;
}

// Begins to read every row that was not returned yet.
void WideScan::begin_everything() {
    step_ = Step::kEverything;
    postings()->stop();
    lane_ = 0;
    // Where distances add up, a row within the radius differs in its first lane by no more than
    // that. Where any lane decides, the first one tells nothing.
    Ball ball = {centers_[0], saturate_radius(radius_.bits)};
    postings()->start(lanes_[0]->index.all_postings(),
                      radius_.rule == LaneRule::kSum ? Filter{ball} : kEverything);
}

void WideScan::start(std::span<const uint64_t> centers, const ValueRadius& radius) {
    centers_ = centers;
    radius_ = radius;
    lane_ = 0;
    bound_ = 0;
    seen_.clear();
}

// The plan for the first lane, whose radius is the greatest.
const ProbePlan& WideScan::first_plan() {
    int greatest = saturate_radius(lane_radius(radius_, int(lanes_.size()), 0));
    return *lanes_[0]->index.plan_for(greatest);
}

// Begins to search one lane after the other.
void WideScan::begin_lanes() {
    lane_ = 0;
    // A negative radius searches no lane.
    step_ = start_lane() ? Step::kLanes : Step::kEnd;
}

void WideScan::start_within(std::span<const uint64_t> centers, const ValueRadius& radius) {
    start(centers, radius);
    if (radius_.rule == LaneRule::kSum &&
        one_pass_is_cheaper(first_plan(), radius_.bits, int(lanes_.size())))
        begin_everything();
    else
        begin_lanes();
}

// Drops the loaded rows that were loaded before. Returns false if none is left.
bool WideScan::drop_seen() {
    if (!may_repeat)
        postings()->keep_if([this](const Entry& posting) { return seen_.add(posting.tid); });
    return !postings()->is_empty();
}

// Loads the next rows of the lane whose turn it is, or of the next one.
bool WideScan::next_of_lanes() {
    for (;;) {
        // What was returned so far is in seen_, and the pass leaves it out.
        if (seen_.is_full()) {
            begin_everything();
            return next_of_everything();
        }
        if (lanes_[lane_]->within.next_leaf()) {
            if (drop_seen())
                return true;
        } else if (lane_ + 1 == lanes_.size()) {
            return false;
        } else {
            lane_++;
            if (!start_lane())
                return false;
        }
    }
}

// Loads the next rows of the pass.
bool WideScan::next_of_everything() {
    while (postings()->next_leaf()) {
        // The pass meets each row once, so it adds none.
        postings()->keep_if([this](const Entry& posting) { return !seen_.contains(posting.tid); });
        if (!postings()->is_empty())
            return true;
    }
    return false;
}

void WideScan::start_nearest(std::span<const uint64_t> centers, const ValueRadius& greatest) {
    start(centers, greatest);
    // A small index: the first stages would be passes already.
    if (lanes_[0]->index.plan_for(lanes_[0]->index.layout().radius)->read_all) {
        begin_rest();
        return;
    }
    step_ = Step::kNearest;
    for (size_t i = 0; i < lanes_.size(); i++)
        // Each lane finds its nearest rows for itself: no condition on the value bounds one lane.
        // When all have come up to their shares of the radius, the rows within it were found.
        lanes_[i]->nearest.start(centers_[i], {},
                                 std::max(0, lane_radius(radius_, int(lanes_.size()), int(i))));
}

// Begins to return the rows that are left, where a lane cannot go on in order at a low cost. If the
// radius is cheap to search, they come in no order, none nearer than the bound, and the server
// sorts them.
void WideScan::begin_rest() {
    for (LaneScan* lane : lanes_)
        lane->postings.stop();
    if (sums_are_cheaper(first_plan())) {
        step_ = Step::kDistances;
        distances_.start(centers_, radius_.bits, &seen_);
    } else {
        begin_lanes();
    }
}

// Computes the bound, and gives the turn to the lane that has come least far.
void WideScan::choose_lane() {
    // Each lane's scan has returned all rows nearer in that lane than its frontier.
    int least = INT_MAX, sum = 0;
    for (size_t i = 0; i < lanes_.size(); i++) {
        int frontier = lanes_[i]->nearest.frontier();
        sum += frontier;
        if (frontier < least) {
            least = frontier;
            lane_ = i;
        }
    }
    // The bound must never fall: the server has relied on it for the rows before.
    bound_ = std::max(bound_, sum);
}

// Goes on with the lane that has come least far, until it has rows.
bool WideScan::next_nearest() {
    for (;;) {
        CHECK_FOR_INTERRUPTS();
        choose_lane();
        // Every row that is left lies beyond the radius.
        if (bound_ > radius_.bits)
            return false;
        NearestScan& nearest = lanes_[lane_]->nearest;
        if (nearest.is_at_pass() || seen_.is_full()) {
            begin_rest();
            return next_leaf();
        }
        switch (nearest.go_on()) {
        case NearestScan::Progress::kLoaded:
            if (drop_seen())
                return true;
            break;
        case NearestScan::Progress::kSearched:
            break;
        case NearestScan::Progress::kEnded:
            // This lane has returned all rows.
            return false;
        }
    }
}

// Loads the rows at the next distance. None was returned before: they are left out of the sums.
bool WideScan::next_distance() {
    std::span<const uint64_t> tids = distances_.next();
    if (tids.empty())
        return false;
    bound_ = std::max(bound_, distances_.distance());
    postings()->load(tids);
    return true;
}

bool WideScan::next_leaf() {
    switch (step_) {
    case Step::kLanes:
        return next_of_lanes();
    case Step::kEverything:
        return next_of_everything();
    case Step::kNearest:
        return next_nearest();
    case Step::kDistances:
        return next_distance();
    case Step::kEnd:
        return false;
    }
    pg_unreachable();
}

} // namespace simhash
