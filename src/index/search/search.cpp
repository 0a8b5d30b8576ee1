// Finds the rows that conditions ask for. See the header.
#include "index/search/search.hpp"

#include "core/layout/lane_radii.hpp"

#include <algorithm>

namespace simhash {
namespace {

// Within one more bit a lane is expected to have so many times the matches.
constexpr double kMatchGrowth = 4;
// The greatest number of bits by which a lane's radius grows: each takes more ranges than the last.
constexpr int kMostMoreBits = 3;

} // namespace

// ---- Within a radius ----

// The radius within which a lane is searched first.
int Search::share(size_t lane) const {
    return saturate_radius(lane_radius(radius(), int(lanes_.size()), int(lane)));
}

// True where every lane is searched, and the radius may be shared out to them in another way.
bool Search::may_share_again() const {
    return lanes_.size() > 1 && radius().rule == LaneRule::kSum &&
           radius().bits >= int(lanes_.size());
}

// Begins with the first lane, of those from `from` on, that has something left to do: first each
// within its share of the radius, then those whose share has grown or that hold matches back.
// Returns false if there is none.
bool Search::start_lane_from(size_t from) {
    bool is_first = step_ == Step::kLanes;
    for (lane_ = from; lane_ < lanes_.size(); lane_++) {
        LaneScan& lane = lanes_[lane_];
        // Where distances add up, and radius + 1 is less than the number of lanes, the last lanes
        // have no radius: their plan has no probes. They are begun as well, so that none goes on
        // with what it held in the scan before.
        if (is_first || radii_[lane_] > share(lane_)) {
            lane.start({centers_[lane_], radii_[lane_]},
                       is_first && may_share_again() ? kFewOfLane : SIZE_MAX);
            return true;
        }
        if (lane.is_holding()) {
            lane.release(radii_[lane_]);
            return true;
        }
    }
    lane_ = 0;
    if (!is_first || std::ranges::none_of(lanes_, &LaneScan::is_holding))
        return false;
    step_ = Step::kLanesAgain;
    share_again();
    return start_lane_from(0);
}

// Shares the radius out again into radii_, now that the lanes' matches are known.
void Search::share_again() {
    Thresholds<kMaxLanes, kMaxLanes * kFingerprintBits> thresholds(radius().bits + 1);
    for (size_t i = 0; i < lanes_.size(); i++) {
        LaneScan& lane = lanes_[i];
        // By radius + 1: what is left to do. The rows of a lane that holds nothing were returned.
        double costs[kFingerprintBits + 2] = {};
        if (lane.is_holding())
            for (uint64_t match : lane.matches.all())
                costs[hamming_distance(match, centers_[i]) + 1] += kMatchCost;
        int radius = radii_[i], greatest = std::min(radius + kMostMoreBits, kFingerprintBits);
        for (int t = 0; t <= radius; t++)
            costs[t + 1] += costs[t];
        double matches = costs[radius + 1] + kMatchCost * double(lane.loaded() + 1);
        for (int t = radius + 1; t <= greatest; t++) {
            matches *= kMatchGrowth;
            costs[t + 1] = lane.index.plan_for(t)->cost + matches;
        }
        thresholds.add(greatest, [&costs](int t) { return costs[t + 1]; });
    }
    for (size_t i = lanes_.size(); i-- > 0;)
        radii_[i] = thresholds.take_last();
}

// Begins to search one lane after the other.
void Search::begin_lanes() {
    step_ = Step::kLanes;
    for (size_t i = 0; i < lanes_.size(); i++)
        radii_[i] = share(i);
    start_lane_from(0);
}

// Begins to read every row that was not returned yet.
void Search::begin_everything() {
    step_ = Step::kEverything;
    postings()->stop();
    lane_ = 0;
    // Where distances add up, a row within the radius differs in its first lane by no more than
    // that. Where any lane decides, the first one tells nothing.
    Ball ball = {centers_[0], saturate_radius(radius().bits)};
    postings()->start_pass(radius().rule == LaneRule::kSum ? Filter{ball} : kEverything);
}

void Search::begin_within() {
    centers_ = conditions_.center();
    if (conditions_.lanes_vary()) {
        // The lanes of the query are looked up in the one table. If it has none, all is read.
        step_ = Step::kLanes;
        lanes_[0].start(centers_);
        return;
    }
    if (lanes_.size() > 1 && radius().rule == LaneRule::kSum &&
        one_pass_is_cheaper(first_plan(), radius().bits, int(lanes_.size())))
        begin_everything();
    else
        begin_lanes();
}

// ---- In order of distance ----

void Search::begin_nearest() {
    centers_ = conditions_.target();
    // A small index: the first stages would be passes already.
    if (lanes_.size() > 1 && lanes_[0].index.plan_for(lanes_[0].index.layout().radius)->read_all) {
        begin_rest();
        return;
    }
    step_ = Step::kNearest;
    // Each of several lanes finds its nearest rows for itself: no condition on the value bounds one
    // lane. When all have come up to their shares of the radius, the rows within it were found.
    Ball ball = kEverything.ball;
    if (lanes_.size() == 1)
        ball = {conditions_.center()[0], share(0)};
    for (size_t i = 0; i < lanes_.size(); i++)
        lanes_[i].nearest.start(centers_[i], ball, std::max(0, share(i)));
}

// Begins to return the rows that are left, where a lane cannot go on in order at a low cost. If the
// radius is cheap to search, they come in no order, none nearer than the bound, and the server
// sorts them.
void Search::begin_rest() {
    stop();
    if (sums_are_cheaper(first_plan())) {
        step_ = Step::kDistances;
        distances_.start(centers_, radius().bits, &seen_);
    } else {
        begin_lanes();
    }
}

// Computes the bound, and gives the turn to the lane that has come least far.
void Search::choose_lane() {
    // Each lane's scan has returned all rows nearer in that lane than its frontier.
    int least = INT_MAX, sum = 0;
    for (size_t i = 0; i < lanes_.size(); i++) {
        int frontier = lanes_[i].nearest.frontier();
        sum += frontier;
        if (frontier < least) {
            least = frontier;
            lane_ = i;
        }
    }
    // The bound must never fall: the server has relied on it for the rows before.
    bound_ = std::max(bound_, sum);
}

// ---- All ----

void Search::start(bool may_repeat) {
    lane_ = 0;
    bound_ = 0;
    seen_.clear();
    remembers_ = !may_repeat && (lanes_.size() > 1 || conditions_.lanes_vary());
    // If both are the same value, the rows within the radius are the first ones of the order.
    auto is_same = [&] { return std::ranges::equal(conditions_.center(), conditions_.target()); };
    if (!conditions_.want_fingerprints())
        begin_nulls();
    else if (conditions_.is_ordered() &&
             (lanes_.size() == 1 || !conditions_.has_radius() || is_same()))
        begin_nearest();
    else
        // Of an order, the rows within the radius of another value come in no order, and the server
        // sorts them.
        begin_within();
}

void Search::stop() {
    for (LaneScan& lane : lanes_)
        lane.postings.stop();
}

// Begins to read the rows without a fingerprint, if they are wanted.
void Search::begin_nulls() {
    stop();
    step_ = conditions_.want_nulls() ? Step::kNulls : Step::kDone;
    // All keys of the null table are 0, so one range has them all.
    if (step_ == Step::kNulls)
        postings()->start(LeafCursor(lanes_[lane_].index.null_table(), kAllKeys), kEverything);
}

// Drops the loaded rows that were loaded before. Returns false if none is left.
bool Search::drop_seen() {
    // A pass meets each row once, and so do the last steps, so these add none.
    if (step_ == Step::kEverything)
        postings()->keep_if([this](const Entry& posting) { return !seen_.contains(posting.tid); });
    else if (remembers_ && step_ != Step::kDistances && step_ != Step::kNulls)
        postings()->keep_if([this](const Entry& posting) { return seen_.add(posting.tid); });
    return !postings()->is_empty();
}

// Loads the next rows of the step, or none yet, or begins another step. Returns false at the end of
// the fingerprints, and of the null table.
bool Search::go_on() {
    switch (step_) {
    case Step::kLanes:
    case Step::kLanesAgain:
        // What was returned so far is in seen_, and the pass leaves it out. Rows of which several
        // hashes are in the one table are remembered all.
        if (seen_.is_full() && !conditions_.lanes_vary()) {
            begin_everything();
            return true;
        }
        return lanes_[lane_].next_leaf() || start_lane_from(lane_ + 1);
    case Step::kEverything:
    case Step::kNulls:
        return postings()->next_leaf();
    case Step::kNearest:
        CHECK_FOR_INTERRUPTS();
        choose_lane();
        // Every row that is left lies beyond the radius.
        if (lanes_.size() > 1 && bound_ > radius().bits)
            return false;
        if (lanes_.size() > 1 && (lanes_[lane_].nearest.is_at_pass() || seen_.is_full())) {
            begin_rest();
            return true;
        }
        return lanes_[lane_].nearest.go_on();
    case Step::kDistances: {
        // None was returned before: they are left out of the sums.
        std::span<const uint64_t> tids = distances_.next();
        if (tids.empty())
            return false;
        bound_ = std::max(bound_, distances_.distance());
        postings()->load(tids);
        return true;
    }
    case Step::kDone:
        return false;
    }
    pg_unreachable();
}

bool Search::next_leaf() {
    while (step_ != Step::kDone) {
        if (go_on()) {
            if (drop_seen())
                return true;
        } else if (step_ == Step::kNulls) {
            step_ = Step::kDone;
        } else {
            begin_nulls();
        }
    }
    return false;
}

} // namespace simhash
