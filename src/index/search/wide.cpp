// Scans for values of several lanes. See the header.
#include "index/search/wide.hpp"

#include "core/layout/lane_radii.hpp"

#include <algorithm>

namespace simhash {
namespace {

// A lane with more matches than this holds them back. So many cost about as much as a search of one
// lane within one more bit.
constexpr size_t kFewMatches = 32;
// What a match costs, in the unit of a plan's cost: it is looked up, and its row compared.
constexpr double kMatchCost = 3;
// Within one more bit a lane is expected to have so many times the matches.
constexpr double kMatchGrowth = 4;
// The greatest number of bits by which a lane's radius grows: each takes more ranges than the last.
constexpr int kMostMoreBits = 3;

} // namespace

// The radius within which the lane whose turn it is is searched first.
int WideScan::first_radius() const {
    return saturate_radius(lane_radius(radius_, int(lanes_.size()), int(lane_)));
}

// True where every lane is searched, and the radius may be shared out to them in another way.
bool WideScan::may_share_again() const {
    return radius_.rule == LaneRule::kSum && radius_.bits >= int(lanes_.size());
}

// Begins to search the lane whose turn it is.
void WideScan::start_lane() {
    size_t few = may_share_again() && !is_shared_again_ ? kFewMatches : SIZE_MAX;
    lanes_[lane_]->within.start({centers_[lane_], radii_[lane_]}, {}, few);
}

// Goes on with the next lane. Returns false if there is none.
bool WideScan::next_lane() {
    if (!is_shared_again_) {
        // Where distances add up, and radius + 1 is less than the number of lanes, the last lanes
        // are not searched.
        if (++lane_ < lanes_.size() && radii_[lane_] >= 0) {
            start_lane();
            return true;
        }
        lane_ = 0;
        if (!share_again())
            return false;
    } else {
        lane_++;
    }
    for (; lane_ < lanes_.size(); lane_++) {
        WithinScan& within = lanes_[lane_]->within;
        if (radii_[lane_] > first_radius()) {
            start_lane();
            return true;
        }
        if (within.is_holding()) {
            within.release(radii_[lane_]);
            return true;
        }
    }
    lane_ = 0;
    return false;
}

// Shares the radius out again, now that the lanes' matches are known, if some are held back.
// Returns false if none is.
bool WideScan::share_again() {
    if (!may_share_again() || std::none_of(lanes_.begin(), lanes_.end(), [](LaneScan* lane) {
            return lane->within.is_holding();
        }))
        return false;
    is_shared_again_ = true;
    Thresholds<kMaxLanes, kMaxLanes * kFingerprintBits> thresholds(radius_.bits + 1);
    for (size_t i = 0; i < lanes_.size(); i++) {
        LaneScan& lane = *lanes_[i];
        // By radius + 1: what is left to do. The rows of a lane that holds nothing were returned.
        double costs[kFingerprintBits + 2] = {};
        if (lane.within.is_holding())
            for (uint64_t match : lane.matches.all())
                costs[hamming_distance(match, centers_[i]) + 1] += kMatchCost;
        int radius = radii_[i], greatest = std::min(radius + kMostMoreBits, kFingerprintBits);
        for (int t = 0; t <= radius; t++)
            costs[t + 1] += costs[t];
        double matches = costs[radius + 1] + kMatchCost * double(lane.within.loaded() + 1);
        for (int t = radius + 1; t <= greatest; t++) {
            matches *= kMatchGrowth;
            costs[t + 1] = lane.index.plan_for(t)->cost + matches;
        }
        thresholds.add(greatest, [&costs](int t) { return costs[t + 1]; });
    }
    for (size_t i = lanes_.size(); i-- > 0;)
        radii_[i] = thresholds.take_last();
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
    step_ = Step::kLanes;
    is_shared_again_ = false;
    for (lane_ = 0; lane_ < lanes_.size(); lane_++)
        radii_[lane_] = first_radius();
    lane_ = 0;
    start_lane();
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
        } else if (!next_lane()) {
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
// radius is cheap to search, they come in no order, none nearer than the bound: the server sorts.
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
    }
    pg_unreachable();
}

// ---- values of any number of lanes ----

void HashScan::start(std::span<const uint64_t> lanes) {
    seen_.clear();
    lane_->postings.stop();
    lane_->matches.clear();
    lane_->matches.append(lanes);
}

void HashScan::start_everything() {
    seen_.clear();
    lane_->matches.clear();
    lane_->postings.start(lane_->index.all_postings(), kEverything);
}

void HashScan::drop_seen() {
    if (!may_repeat)
        lane_->postings.keep_if([&](const Entry& posting) { return seen_.add(posting.tid); });
}

bool HashScan::next_leaf() {
    for (;;) {
        while (lane_->postings.next_leaf()) {
            drop_seen();
            if (!lane_->postings.is_empty())
                return true;
        }
        if (lane_->matches.all_taken())
            return false;
        lane_->postings.start(lane_->matches.take(), kEverything);
    }
}

} // namespace simhash
