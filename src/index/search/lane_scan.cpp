// Scans one lane within a radius. See the header.
#include "index/search/lane_scan.hpp"

namespace simhash {

void LaneScan::start(Ball ball, size_t few) {
    few_ = few;
    loaded_ = 0;
    // The backend keeps the plan: the next query asks for the same radius again.
    plan_ = index.plan_for(ball.radius);
    filter_ = {ball};
    step_ = Step::kProbePostings;
    matches.clear();
    matches.start(plan_, filter_);
    // A plan that reads everything has no probes: this range is the only one.
    if (plan_->read_all)
        postings.start_pass(filter_);
    else
        postings.stop();
}

void LaneScan::start(std::span<const uint64_t> fingerprints) {
    step_ = Step::kLookUp;
    matches.clear();
    matches.append(fingerprints);
    if (fingerprints.empty())
        postings.start_pass(kEverything);
    else
        postings.stop();
}

// Begins to read the posting table from end to end, because the matches outgrew work_mem.
void LaneScan::begin_rest() {
    // A probe of the posting table comes first in a plan. Until now the scan has returned the rows
    // of that probe and no others, so the filter leaves out just what that probe sees. But if
    // there are more than a few, not all ranges of the probe were read: the caller knows the rows.
    if (loaded_ <= few_ && plan_->probe_count > 0 && plan_->probes[0].table == 0)
        filter_.done_probe = &plan_->probes[0];
    step_ = Step::kReadRest;
    postings.start_pass(filter_);
}

// Begins the next range of postings. Returns false if there is none.
bool LaneScan::begin_next() {
    switch (step_) {
    case Step::kProbePostings:
        if (const LeafCursor* range = loaded_ <= few_ ? matches.take_postings() : nullptr) {
            postings.start(*range, filter_);
            return true;
        }
        // The other tables hold no TIDs, so their matches have to be looked up. We collect all of
        // them first: if they do not fit, one pass replaces all look-ups.
        if (!matches.collect(true)) {
            begin_rest();
            return true;
        }
        if (matches.count() > few_) {
            step_ = Step::kHolding;
            return false;
        }
        step_ = Step::kLookUp;
        [[fallthrough]];
    case Step::kLookUp:
        if (matches.all_taken())
            return false;
        // The fingerprint passed the filter when it was collected, so all its postings are wanted.
        // It may be an orphan: then there are none, and next_leaf() goes on to the next match.
        postings.start(matches.take(), kEverything);
        return true;
    case Step::kHolding:
    case Step::kReadRest:
        return false;
    }
    pg_unreachable();
}

void LaneScan::release(int radius) {
    matches.drop_beyond({filter_.ball.center, radius});
    step_ = Step::kLookUp;
}

bool LaneScan::next_leaf() {
    do {
        if (postings.next_leaf()) {
            loaded_ += postings.postings().size();
            return true;
        }
    } while (begin_next());
    return false;
}

} // namespace simhash
