// Scans ordered by distance; see the header.
#include "index/search/nearest.hpp"

#include "core/bits/ball_size.hpp"
#include "index/access_method.hpp"

#include <algorithm>

namespace simhash {

namespace {

constexpr int kRadiusStep = 2;

// Stages beyond this radius look ahead: that makes each of them dearer, and the nearer ones cost
// too little to be saved.
constexpr int kNearRadius = 8;
// They look so far that so many matches are to be expected, which is enough for most limits.
constexpr double kFarMatches = 64;

} // namespace

// Fingerprints within a radius of the target that are to be expected by chance.
double NearestScan::expected_matches(int radius) const {
    return index_->entries() * ball_share(radius);
}

// The greatest distance from the target at which a row can lie in all balls.
int NearestScan::find_greatest_radius() const {
    int greatest = kFingerprintBits;
    for (const Ball& ball : balls_) {
        if (ball.radius < 0)
            return kNoRadius;
        greatest = std::min(greatest, hamming_distance(ball.center, target()) + ball.radius);
    }
    return greatest;
}

// Few matches are looked up one by one; for many, a pass for each distance takes less time.
bool NearestScan::are_too_many() const {
    double few = std::max(index_->entries() * kFewMatches, 4 * kPassMatches);
    return matches_->is_full() || double(matches_->count()) > few;
}

// Adds the fingerprints of the postings of a leaf, each once.
void NearestScan::add_matches_of_leaf() {
    LeafYield* yield = index_->yield();
    size_t count = 0;
    for (const Entry& posting : postings_->postings())
        if (count == 0 || yield->fingerprints[count - 1] != posting.key)
            yield->fingerprints[count++] = posting.key;
    if (count > 0)
        matches_->add({yield->fingerprints, count});
}

// Has what lies within the stage's radius looked up next, in order, by a pass over the posting
// table. False where it is too much.
bool NearestScan::collect_by_pass() {
    matches_->clear();
    searched_ = nullptr;
    postings_->start(index_->all_postings(), filter(radius_));
    while (!are_too_many() && postings_->next_leaf())
        add_matches_of_leaf();
    postings_->stop();
    if (are_too_many())
        return false;
    matches_->sort_by_distance(targets_);
    return true;
}

// The same by probes, which hold back for later stages what they meet within `far_radius`. Ranges
// that earlier stages searched as far are not searched again.
bool NearestScan::collect_by_probes(const ProbePlan* plan, int far_radius) {
    if (searched_ != nullptr && searched_radius_ == far_radius) {
        // What was held back is what the earlier searches met within this radius.
        matches_->clear_taken();
    } else {
        matches_->clear();
        searched_ = nullptr;
        searched_radius_ = far_radius;
    }
    probes_->start(plan, filter(far_radius), searched_);
    searched_ = plan;
    if (!probes_->collect())
        return false;
    matches_->sort_by_distance(targets_, radius_);
    return true;
}

// Has the only stage look through the smallest ball, where that is cheap and around something else
// than the target. False where it is not.
bool NearestScan::begin_stage_elsewhere() {
    // Around the target itself the stages find the same, and stop early.
    if (balls_.empty() || balls_[0].center == target())
        return false;
    const ProbePlan* plan = index_->plan_for(balls_[0].radius);
    if (plan->read_all)
        return false;
    matches_->clear();
    probes_->start(plan, {balls_[0], kNoRadius, balls_.subspan(1)});
    if (!probes_->collect())
        return false;
    matches_->sort_by_distance(targets_);
    step_ = Step::kStage;
    radius_ = greatest_radius_; // nothing is left for another stage
    return true;
}

// The radius of the next stage.
int NearestScan::next_radius() const {
    // Where a stage repeats nothing, and some matches are to be expected, it goes one distance on.
    bool is_short =
        done_radius_ < searched_radius_ && expected_matches(done_radius_ + kRadiusStep) >= 1;
    int radius =
        done_radius_ < 0 ? index_->layout().radius : done_radius_ + (is_short ? 1 : kRadiusStep);
    if (radius >= greatest_radius_ || !index_->plan_for(radius)->read_all)
        return radius;
    double enough = std::max(kPassMatches, kPassGrowth * expected_matches(done_radius_));
    while (radius < greatest_radius_ && expected_matches(radius) < enough)
        radius++;
    return radius;
}

// Up to which distance from the target a stage keeps matches: for itself, and for later stages.
int NearestScan::far_radius() const {
    int radius = radius_;
    if (done_radius_ >= 0 && radius_ > kNearRadius && looks_ahead_)
        while (radius < greatest_radius_ && expected_matches(radius) < kFarMatches &&
               !index_->plan_for(radius + 1)->read_all)
            radius++;
    return radius;
}

// Has what lies within the stage's radius looked up next, in order. False where it is too much.
bool NearestScan::collect_stage() {
    const ProbePlan* plan = index_->plan_for(radius_);
    if (plan->read_all)
        return collect_by_pass();
    if (collect_by_probes(plan, far_radius()))
        return true;
    // The matches outgrew work_mem. Those of this stage alone may still fit.
    if (searched_radius_ == radius_)
        return false;
    looks_ahead_ = false;
    return collect_by_probes(plan, radius_);
}

// Begins the next stage, or the last. False where all was returned.
bool NearestScan::begin_stage() {
    if (done_radius_ >= greatest_radius_)
        return false;
    // The plans of stages are those of queries within their radius: what one finds is complete.
    int radius = next_radius();
    // A stage that leaves one distance to the next costs nearly as much as that one.
    bool is_last = radius >= greatest_radius_ - (done_radius_ < 0 ? 0 : 1);
    radius_ = is_last ? greatest_radius_ : radius;
    step_ = Step::kStage;
    return collect_stage() || begin_last_stage();
}

// A pass over what was not yet returned, which tells its distances; then one for each of them.
bool NearestScan::begin_last_stage() {
    // A pass for a distance at which there is no row would be wasted.
    std::fill(std::begin(distance_occurs_), std::end(distance_occurs_), false);
    matches_->clear();
    postings_->start(index_->all_postings(), filter(greatest_radius_));
    while (postings_->next_leaf())
        for (const Entry& posting : postings_->postings())
            distance_occurs_[hamming_distance(posting.key, target())] = true;
    return begin_pass(done_radius_ + 1);
}

// Begins the pass of the first distance that occurs, from `distance` on. False where there is none.
bool NearestScan::begin_pass(int distance) {
    while (distance <= greatest_radius_ && !distance_occurs_[distance])
        distance++;
    if (distance > greatest_radius_)
        return false;
    // All nearer rows were returned by earlier passes and stages, so this one takes its distance
    // only.
    done_radius_ = distance - 1;
    radius_ = distance;
    postings_->start(index_->all_postings(), filter(radius_));
    step_ = Step::kPass;
    if (targets_.size() == 1)
        return true;
    // Rows at one distance are still to be ordered by the next target, so all must be there,
    // however much memory they take.
    step_ = Step::kLookUp;
    matches_->clear(false);
    while (postings_->next_leaf())
        add_matches_of_leaf();
    matches_->sort_by_distance(targets_);
    return true;
}

bool NearestScan::begin_lookup() {
    if (matches_->all_taken())
        return false;
    postings_->start(matches_->take(), kEverything);
    return true;
}

// Begins the next range of postings, or goes over to another step. False at the end.
bool NearestScan::begin_next() {
    switch (step_) {
    case Step::kStage:
        if (begin_lookup())
            return true;
        // All within the radius was returned, so later stages leave it out.
        done_radius_ = radius_;
        return begin_stage();
    case Step::kLookUp:
        return begin_lookup() || begin_pass(radius_ + 1);
    case Step::kPass:
        return begin_pass(radius_ + 1);
    }
    pg_unreachable();
}

void NearestScan::start(std::span<const uint64_t> targets, std::span<const Ball> balls) {
    targets_ = targets;
    balls_ = balls;
    done_radius_ = searched_radius_ = kNoRadius;
    searched_ = nullptr;
    looks_ahead_ = true;
    greatest_radius_ = find_greatest_radius();
    postings_->stop();
    if (!begin_stage_elsewhere() && !begin_stage()) {
        step_ = Step::kStage; // with nothing to look up
        radius_ = greatest_radius_;
        matches_->clear();
    }
}

bool NearestScan::next_leaf() {
    do {
        if (postings_->next_leaf())
            return true;
    } while (begin_next());
    return false;
}

} // namespace simhash
