// Scans ordered by distance. See the header.
#include "index/search/nearest.hpp"

#include "core/bits/ball_size.hpp"

#include <algorithm>

namespace simhash {

// Returns how many fingerprints are expected within a radius of the target by chance.
double NearestScan::expected_matches(int radius) const {
    return index_->entries() * ball_share(radius);
}

// True when the matches are too many to look up one by one: a pass for each distance takes less.
bool NearestScan::are_too_many() const {
    // In a small index the share would be a handful of matches.
    double few = std::max(index_->entries() * kFewMatches, 4 * kPassMatches);
    return matches_->is_full() || double(matches_->count()) > few;
}

// Collects and sorts the matches of a stage by a pass over the posting table. Returns false if
// there are too many.
bool NearestScan::collect_by_pass() {
    // Held-back matches go, too: the pass meets them again.
    matches_->clear();
    searched_ = nullptr;
    postings_->start_pass(filter(radius_));
    while (!are_too_many() && postings_->next_leaf())
        for (const Entry& posting : postings_->postings())
            // In the packed part the postings of a fingerprint are neighbours, and add() skips all
            // but the first. The tail may repeat it, which sort_by_distance() drops.
            matches_->add({&posting.key, 1});
    postings_->stop();
    if (are_too_many())
        return false;
    matches_->sort_by_distance(target_);
    return true;
}

// Collects and sorts the matches of a stage by probes. Matches beyond the stage's radius but within
// `far_radius` are held back for later stages. Ranges that earlier stages searched with the same
// far radius are left out. Returns false if the matches outgrow work_mem.
bool NearestScan::collect_by_probes(const ProbePlan* plan, int far_radius) {
    if (searched_ != nullptr && searched_radius_ == far_radius) {
        // The held-back matches are all that the earlier ranges have within this radius and that
        // was not returned yet. So the new search needs the new ranges only.
        matches_->clear_taken();
    } else {
        matches_->clear();
        searched_ = nullptr;
        searched_radius_ = far_radius;
    }
    matches_->start(plan, filter(far_radius), searched_);
    searched_ = plan;
    if (!matches_->collect(false))
        return false;
    matches_->sort_by_distance(target_, radius_);
    return true;
}

// Begins a stage that searches the ball, and is the only one. Returns false if the ball is around
// the target itself or not cheap to search.
bool NearestScan::begin_stage_elsewhere() {
    // Around the target itself, stages find the same rows and can stop early.
    if (ball_.center == target_)
        return false;
    const ProbePlan* plan = index_->plan_for(ball_.radius);
    if (plan->read_all)
        return false;
    matches_->clear();
    matches_->start(plan, {ball_});
    if (!matches_->collect(false))
        return false;
    matches_->sort_by_distance(target_);
    radius_ = greatest_radius_; // nothing is left for another stage
    return true;
}

// Returns the radius of the next stage.
int NearestScan::next_radius() const {
    constexpr int kRadiusStep = 2;
    // A stage within the searched radius repeats no range, so small steps are cheap there. The
    // stage takes one distance if the next two are expected to have a match.
    bool is_short =
        done_radius_ < searched_radius_ && expected_matches(done_radius_ + kRadiusStep) >= 1;
    int radius = done_radius_ < 0 ? first_radius_ : done_radius_ + (is_short ? 1 : kRadiusStep);
    if (radius >= greatest_radius_ || !index_->plan_for(radius)->read_all)
        return radius;
    // A pass costs the same for any radius. So its radius grows until enough matches are expected.
    double enough = std::max(kPassMatches, kPassGrowth * expected_matches(done_radius_));
    while (radius < greatest_radius_ && expected_matches(radius) < enough)
        radius++;
    return radius;
}

// Returns the distance up to which a stage keeps matches, for itself and for later stages.
int NearestScan::far_radius() const {
    int radius = radius_;
    if (done_radius_ >= 0 && radius_ > kNearRadius && looks_ahead_)
        while (radius < greatest_radius_ && expected_matches(radius) < kFarMatches &&
               !index_->plan_for(radius + 1)->read_all)
            radius++;
    return radius;
}

// Collects and sorts the matches of the stage. Returns false if there are too many.
bool NearestScan::collect_stage() {
    const ProbePlan* plan = index_->plan_for(radius_);
    if (plan->read_all)
        return collect_by_pass();
    if (collect_by_probes(plan, far_radius()))
        return true;
    // The matches outgrew work_mem. The matches of this stage alone may still fit.
    if (searched_radius_ == radius_)
        return false;
    looks_ahead_ = false;
    return collect_by_probes(plan, radius_);
}

// Begins the next stage, or the last one. Returns false if all rows were returned.
bool NearestScan::begin_stage() {
    if (done_radius_ >= greatest_radius_)
        return false;
    // A stage uses the plan of a query within its radius, so it finds every row up to there. That
    // makes the order exact: no later stage can find a nearer row.
    int radius = next_radius();
    // If one distance is left for another stage, this one takes it: two cost nearly twice as much.
    bool is_last = radius >= greatest_radius_ - (done_radius_ < 0 ? 0 : 1);
    radius_ = is_last ? greatest_radius_ : radius;
    return collect_stage() || begin_last_stage();
}

// Begins the last stage: one pass finds out which distances occur among the rows that were not yet
// returned, and one more pass for each of these returns its rows.
bool NearestScan::begin_last_stage() {
    // Without the first pass, a pass for a distance at which there is no row would be wasted.
    std::fill(std::begin(distance_occurs_), std::end(distance_occurs_), false);
    matches_->clear();
    postings_->start_pass(filter(greatest_radius_));
    while (postings_->next_leaf())
        for (const Entry& posting : postings_->postings())
            distance_occurs_[hamming_distance(posting.key, target_)] = true;
    return begin_pass(done_radius_ + 1);
}

// Begins the pass of the first distance from `distance` on that occurs. Returns false if none does.
// A row that was inserted since the first pass is missed here; the scan's snapshot does not see it.
bool NearestScan::begin_pass(int distance) {
    while (distance <= greatest_radius_ && !distance_occurs_[distance])
        distance++;
    if (distance > greatest_radius_)
        return false;
    // Earlier stages and passes returned all nearer rows, so this pass takes one distance.
    done_radius_ = distance - 1;
    radius_ = distance;
    postings_->start_pass(filter(radius_));
    is_last_stage_ = true;
    return true;
}

// Begins the next range of postings, or goes over to another step. Returns false at the end.
bool NearestScan::begin_next() {
    if (is_last_stage_)
        return begin_pass(radius_ + 1);
    if (!matches_->all_taken()) {
        // For frontier(): the rows of this match are all at that distance.
        looked_up_ = hamming_distance(matches_->next(), target_);
        postings_->start(matches_->take(), kEverything);
        return true;
    }
    // All rows within the radius were returned, so the filter of later stages leaves them out.
    done_radius_ = radius_;
    return begin_stage();
}

void NearestScan::start(uint64_t target, const Ball& ball, int first_radius) {
    target_ = target;
    ball_ = ball;
    first_radius_ = std::min(index_->layout().radius, first_radius);
    done_radius_ = searched_radius_ = kNoRadius;
    searched_ = nullptr;
    looks_ahead_ = true;
    is_last_stage_ = false;
    greatest_radius_ = kNoRadius;
    if (ball.radius >= 0)
        greatest_radius_ =
            std::min(kFingerprintBits, hamming_distance(ball.center, target) + ball.radius);
    postings_->stop();
    if (!begin_stage_elsewhere() && !begin_stage()) {
        radius_ = greatest_radius_; // with nothing to look up
        matches_->clear();
    }
}

int NearestScan::frontier() const {
    if (is_last_stage_)
        return radius_;
    if (postings_->is_reading())
        return looked_up_;
    return matches_->all_taken() ? radius_ + 1 : hamming_distance(matches_->next(), target_);
}

bool NearestScan::is_at_pass() {
    if (is_last_stage_)
        return true;
    if (!matches_->all_taken() || postings_->is_reading() || radius_ >= greatest_radius_)
        return false;
    const ProbePlan* plan = index_->plan_for(radius_ + 1);
    double pass = index_->entries() * kTypicalProbeCosts.read_all_per_entry;
    return plan->read_all || plan->cost * kStagesOfPass > pass;
}

} // namespace simhash
