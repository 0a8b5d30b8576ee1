// Scans within a radius; see the header.
#include "index/search/within.hpp"

#include "index/store/fetch_ahead.hpp"

#include <algorithm>

namespace simhash {

namespace {

constexpr size_t kRowsAhead = 4; // of those that one leaf gives

} // namespace

void WithinScan::start(Ball ball, std::span<const Ball> others, Relation heap) {
    if (heap != heap_)
        row_bytes_ = heap == nullptr ? 0 : typical_row_bytes(heap);
    heap_ = heap;
    plan_ = index_->plan_for(ball.radius);
    filter_ = {ball, kNoRadius, others};
    step_ = Step::kProbePostings;
    matches_->clear();
    probes_->start(plan_, filter_);
    if (plan_->read_all) // it has no probes, so this range is the only one
        postings_->start(index_->all_postings(), filter_);
    else
        postings_->stop();
}

void WithinScan::collect_one_leaf() {
    probes_->collect_leaf();
    matches_->fetch_ahead();
}

// Searches the leaves of other probes that were fetched together with the posting table's, while
// the rows that were just found come nearer.
void WithinScan::collect_meanwhile() {
    if (heap_ == nullptr)
        return;
    std::span<const Entry> found = postings_->postings();
    for (const Entry& posting : found.first(std::min(found.size(), kRowsAhead)))
        fetch_row_ahead(heap_, integer_to_tid(posting.tid), row_bytes_);
    const LeafCursor* range = nullptr;
    // A range that goes on to another leaf is left for later: that leaf was not fetched, and the
    // rows are here by then.
    while (!matches_->is_full() && probes_->current_is_fetched() &&
           !probes_->current_has_postings() && probes_->current() != range) {
        range = probes_->current();
        collect_one_leaf();
    }
}

void WithinScan::collect_rest() {
    while (!matches_->is_full() && probes_->current() != nullptr) {
        CHECK_FOR_INTERRUPTS();
        collect_one_leaf();
    }
}

// Begins to read the posting table from end to end, as the matches are more than memory holds.
void WithinScan::begin_rest() {
    // A probe of the posting table is the plan's first. Its rows were returned, and none but its.
    if (plan_->probe_count > 0 && plan_->probes[0].table == 0)
        filter_.done_probe = &plan_->probes[0];
    step_ = Step::kReadRest;
    postings_->start(index_->all_postings(), filter_);
}

// Begins the next range of postings. False where there is none.
bool WithinScan::begin_next() {
    switch (step_) {
    case Step::kProbePostings:
        if (const LeafCursor* range = probes_->current();
            range != nullptr && probes_->current_has_postings()) {
            postings_->start(*range, filter_);
            probes_->pass();
            return true;
        }
        // From here on matches have no TIDs, and are looked up when all ranges are done.
        collect_rest();
        if (matches_->is_full()) {
            begin_rest();
            return true;
        }
        step_ = Step::kLookUp;
        [[fallthrough]];
    case Step::kLookUp:
        if (matches_->all_taken())
            return false;
        // The filter took the fingerprint when it was collected; all its postings are wanted.
        postings_->start(matches_->take(), kEverything);
        return true;
    case Step::kReadRest:
        return false;
    }
    pg_unreachable();
}

bool WithinScan::next_leaf() {
    do {
        if (postings_->next_leaf()) {
            if (step_ == Step::kProbePostings)
                collect_meanwhile();
            return true;
        }
    } while (begin_next());
    return false;
}

} // namespace simhash
