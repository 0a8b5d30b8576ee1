// Scans within a radius; see the header.
#include "index/within.hpp"

#include "index/fetch_ahead.hpp"

#include <algorithm>

namespace simhash {

namespace {

constexpr size_t kRowsAhead = 4; // of those that one leaf gives

} // namespace

void WithinScan::start(Ball ball, std::span<const Ball> others, Relation heap,
                       PostingReader* postings) {
    if (heap != heap_)
        row_bytes_ = heap == nullptr ? 0 : typical_row_bytes(heap);
    heap_ = heap;
    filter_ = {ball, kNoRadius, others, index_->plan_for(ball.radius)};
    step_ = Step::kProbePostings;
    probes_.start(filter_.plan, ball.center);
    matches_.clear();
    if (filter_.plan->read_all)
        postings->start(LeafCursor(index_->posting_table(), kAllKeys));
    else
        postings->stop();
}

void WithinScan::collect_one_leaf() {
    probes_.collect_leaf(filter_, &matches_);
    matches_.fetch_ahead(index_->posting_table());
}

// Searches the leaves of other probes that were fetched together with the posting table's, while
// the rows that were just found come nearer.
void WithinScan::collect_meanwhile(const PostingReader& postings) {
    if (heap_ == nullptr)
        return;
    std::span<const Entry> found = postings.postings();
    for (const Entry& posting : found.first(std::min(found.size(), kRowsAhead)))
        fetch_row_ahead(heap_, integer_to_tid(posting.tid), row_bytes_);
    const LeafCursor* range = nullptr;
    // A range that goes on to another leaf is left for later.
    while (!matches_.is_full() && probes_.current_is_fetched() && !probes_.current_has_postings() &&
           probes_.current() != range) {
        range = probes_.current();
        collect_one_leaf();
    }
}

void WithinScan::collect_rest() {
    while (!matches_.is_full() && probes_.current() != nullptr) {
        CHECK_FOR_INTERRUPTS();
        collect_one_leaf();
    }
}

// Begins the next range of postings. False where there is none.
bool WithinScan::begin_next(PostingReader* postings) {
    switch (step_) {
    case Step::kProbePostings:
        if (const LeafCursor* range = probes_.current();
            range != nullptr && probes_.current_has_postings()) {
            postings->start(*range);
            probes_.pass();
            return true;
        }
        collect_rest();
        if (matches_.is_full()) {
            // The posting table's own probe, the plan's first, has returned what it reports.
            filter_.reported_probes =
                filter_.plan->probe_count > 0 && filter_.plan->probes[0].table == 0;
            step_ = Step::kReadRest;
            postings->start(LeafCursor(index_->posting_table(), kAllKeys));
            return true;
        }
        step_ = Step::kLookUp;
        [[fallthrough]];
    case Step::kLookUp:
        if (matches_.all_taken())
            return false;
        postings->start(matches_.take(index_->posting_table()));
        return true;
    case Step::kReadRest:
        return false;
    }
    pg_unreachable();
}

bool WithinScan::next_leaf(PostingReader* postings) {
    do {
        bool filtered = step_ != Step::kLookUp;
        if (postings->next_leaf(index_, filtered ? filter_ : kEverything)) {
            if (step_ == Step::kProbePostings)
                collect_meanwhile(*postings);
            return true;
        }
    } while (begin_next(postings));
    return false;
}

} // namespace simhash
