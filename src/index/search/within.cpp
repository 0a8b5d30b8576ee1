// Scans within a radius. See the header.
#include "index/search/within.hpp"

#include "index/store/fetch_ahead.hpp"

#include <algorithm>

namespace simhash {

namespace {

// A LIMIT may need none of the others.
constexpr size_t kRowsAhead = 4; // rows of one leaf whose pages of the table are fetched

} // namespace

void WithinScan::start(Ball ball, std::span<const Ball> others, Relation heap) {
    if (heap != heap_)
        row_bytes_ = heap == nullptr ? 0 : typical_row_bytes(heap);
    heap_ = heap;
    // The index keeps the plan: a nested loop asks for the same radius again.
    plan_ = index_->plan_for(ball.radius);
    filter_ = {ball, kNoRadius, others};
    step_ = Step::kProbePostings;
    matches_->clear();
    probes_->start(plan_, filter_);
    // A plan that reads everything has no probes: this range is the only one.
    if (plan_->read_all)
        postings_->start(index_->all_postings(), filter_);
    else
        postings_->stop();
}

// Collects the matches of one leaf, and fetches the posting leaves of the first ones: they arrive
// while the next leaves are searched.
void WithinScan::collect_one_leaf() {
    probes_->collect_leaf();
    matches_->fetch_ahead();
}

// Fetches the table's pages of the rows just found. While these arrive, searches leaves of other
// probes, which were fetched together with the posting table's and so are near by now.
void WithinScan::collect_meanwhile() {
    // Null where the scan keeps a pin or makes a bitmap, and where the user has turned prefetching
    // off.
    if (heap_ == nullptr)
        return;
    std::span<const Entry> found = postings_->postings();
    for (const Entry& posting : found.first(std::min(found.size(), kRowsAhead)))
        fetch_row_ahead(heap_, integer_to_tid(posting.tid), row_bytes_);
    const LeafCursor* range = nullptr;
    // We stop at a range that goes on to another leaf. That leaf was not fetched, so we would wait
    // for it, and the rows are here by then.
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

// Begins to read the posting table from end to end, because the matches outgrew work_mem.
void WithinScan::begin_rest() {
    // A probe of the posting table comes first in a plan. Until now the scan has returned the rows
    // of that probe and no others, so the filter leaves out just what that probe sees.
    if (plan_->probe_count > 0 && plan_->probes[0].table == 0)
        filter_.done_probe = &plan_->probes[0];
    step_ = Step::kReadRest;
    postings_->start(index_->all_postings(), filter_);
}

// Begins the next range of postings. Returns false if there is none.
bool WithinScan::begin_next() {
    switch (step_) {
    case Step::kProbePostings:
        if (const LeafCursor* range = probes_->current();
            range != nullptr && probes_->current_has_postings()) {
            postings_->start(*range, filter_);
            // postings_ has a copy of the range from here on.
            probes_->pass();
            return true;
        }
        // The other tables hold no TIDs, so their matches have to be looked up. We collect all of
        // them first: if they do not fit, one pass replaces all look-ups.
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
        // The fingerprint passed the filter when it was collected, so all its postings are wanted.
        // It may be an orphan: then there are none, and next_leaf() goes on to the next match.
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
