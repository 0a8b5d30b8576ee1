// Scans for values of any number of lanes. See the header.
#include "index/search/hashes.hpp"

namespace simhash {

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
