// Scans ordered by distance; see the header.
#include "index/nearest.hpp"

#include "index/access_method.hpp"

#include <algorithm>

namespace simhash {

namespace {

constexpr int kRadiusStep = 2;

} // namespace

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

// Has what the plan for the filter's ball finds looked up next, in order. False where reading the
// whole posting table is cheaper, or they outgrow work_mem.
bool NearestScan::collect(const Filter& filter) {
    const ProbePlan* plan = index_->plan_for(filter.ball.radius);
    if (plan->read_all)
        return false;
    probes_.start(plan, filter.ball.center);
    matches_.clear();
    if (!probes_.collect(filter, &matches_))
        return false;
    matches_.sort_by_distance(targets_);
    return true;
}

// Has the only stage look through the smallest ball, where that is cheap and around something else
// than the target. False where it is not.
bool NearestScan::begin_stage_elsewhere() {
    if (balls_.empty() || balls_[0].center == target() ||
        !collect({balls_[0], kNoRadius, balls_.subspan(1)}))
        return false;
    step_ = Step::kStage;
    radius_ = greatest_radius_; // nothing is left for another stage
    return true;
}

// Begins the next stage, or the last. False where all was returned.
bool NearestScan::begin_stage(PostingReader* postings) {
    if (done_radius_ >= greatest_radius_)
        return false;
    int radius = done_radius_ < 0 ? index_->layout().radius : done_radius_ + kRadiusStep;
    // A stage that leaves one distance to the next costs nearly as much as that one.
    bool is_last = radius >= greatest_radius_ - (done_radius_ < 0 ? 0 : 1);
    radius_ = is_last ? greatest_radius_ : radius;
    step_ = Step::kStage;
    return collect(filter(radius_)) || begin_last_stage(postings);
}

// Adds the fingerprints of the postings of a leaf, each once.
void NearestScan::add_matches_of(const PostingReader& postings) {
    LeafYield* yield = index_->yield();
    size_t count = 0;
    for (const Posting& posting : postings.postings())
        if (count == 0 || yield->fingerprints[count - 1] != posting.fingerprint)
            yield->fingerprints[count++] = posting.fingerprint;
    if (count > 0)
        matches_.add({yield->fingerprints, count});
}

// A pass over what was not yet returned: its distances, and, if they are few, its matches.
bool NearestScan::begin_last_stage(PostingReader* postings) {
    std::fill(std::begin(distance_occurs_), std::end(distance_occurs_), false);
    matches_.clear();
    size_t few = size_t(index_->entries() * kFewMatches);
    radius_ = greatest_radius_;
    postings->start(LeafCursor(index_->posting_table(), kAllKeys));
    while (postings->next_leaf(index_, filter(radius_))) {
        for (const Posting& posting : postings->postings())
            distance_occurs_[hamming_distance(posting.fingerprint, target())] = true;
        if (matches_.count() <= few)
            add_matches_of(*postings);
    }
    if (matches_.is_full() || matches_.count() > few) {
        radius_ = done_radius_;
        return begin_pass(postings);
    }
    matches_.sort_by_distance(targets_);
    return true;
}

// Begins the pass of the next distance that occurs. False where there is none.
bool NearestScan::begin_pass(PostingReader* postings) {
    done_radius_ = radius_;
    int distance = done_radius_ + 1;
    while (distance <= greatest_radius_ && !distance_occurs_[distance])
        distance++;
    if (distance > greatest_radius_)
        return false;
    done_radius_ = distance - 1;
    radius_ = distance;
    postings->start(LeafCursor(index_->posting_table(), kAllKeys));
    step_ = Step::kPass;
    if (targets_.size() == 1)
        return true;
    step_ = Step::kLookUp;
    matches_.clear(false);
    while (postings->next_leaf(index_, filter(radius_)))
        add_matches_of(*postings);
    matches_.sort_by_distance(targets_);
    return true;
}

bool NearestScan::begin_lookup(PostingReader* postings) {
    if (matches_.all_taken())
        return false;
    postings->start(matches_.take(index_->posting_table()));
    return true;
}

// Begins the next range of postings, or goes over to another step. False at the end.
bool NearestScan::begin_next(PostingReader* postings) {
    switch (step_) {
    case Step::kStage:
        if (begin_lookup(postings))
            return true;
        done_radius_ = radius_;
        return begin_stage(postings);
    case Step::kLookUp:
        return begin_lookup(postings) || begin_pass(postings);
    case Step::kPass:
        return begin_pass(postings);
    }
    pg_unreachable();
}

void NearestScan::start(std::span<const uint64_t> targets, std::span<const Ball> balls,
                        PostingReader* postings) {
    targets_ = targets;
    balls_ = balls;
    done_radius_ = kNoRadius;
    greatest_radius_ = find_greatest_radius();
    postings->stop();
    if (!begin_stage_elsewhere() && !begin_stage(postings)) {
        step_ = Step::kStage; // with nothing to look up
        radius_ = greatest_radius_;
        matches_.clear();
    }
}

bool NearestScan::next_leaf(PostingReader* postings) {
    do {
        if (postings->next_leaf(index_, step_ == Step::kPass ? filter(radius_) : kEverything))
            return true;
    } while (begin_next(postings));
    return false;
}

} // namespace simhash
