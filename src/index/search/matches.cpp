// The list of fingerprints to look up. See the header.
#include "index/search/matches.hpp"

#include "server/growing.hpp"

#include <algorithm>

namespace simhash {
namespace {

constexpr size_t kMinCapacity = 1024;

} // namespace

void Matches::clear() {
    count_ = next_ = fetched_ = held_ = 0;
    limit_ = std::max(index_->work_memory() / sizeof(uint64_t), kMinCapacity);
    is_full_ = false;
}

void Matches::add(std::span<const uint64_t> fingerprints) {
    // The postings of one fingerprint may lie on several leaves of the posting table, and each leaf
    // reports the fingerprint.
    if (count_ > 0 && fingerprints_[count_ - 1] == fingerprints.front())
        fingerprints = fingerprints.subspan(1);
    // The caller reads is_full() and goes over to a pass: a part of the matches would be of no use.
    is_full_ |= count_ + fingerprints.size() > limit_;
    if (!is_full_)
        append(fingerprints);
}

void Matches::append(std::span<const uint64_t> fingerprints) {
    size_t count = count_ + fingerprints.size();
    make_room(index_->memory(), &fingerprints_, &capacity_, count, kMinCapacity);
    std::copy(fingerprints.begin(), fingerprints.end(), fingerprints_ + count_);
    count_ = count;
}

void Matches::sort_by_distance(uint64_t target, int radius) {
    // The matches beyond the radius go to the front, and stay when clear_taken() drops the others.
    uint64_t* end = fingerprints_ + count_;
    Ball near = {target, radius};
    uint64_t* first = std::partition(
        fingerprints_, end, [near](uint64_t fingerprint) { return !near.contains(fingerprint); });
    std::sort(first, end, [target](uint64_t a, uint64_t b) {
        int to_a = hamming_distance(a, target), to_b = hamming_distance(b, target);
        // At equal distances the rows of one fingerprint must come together.
        return to_a != to_b ? to_a < to_b : a < b;
    });
    // Equal fingerprints are adjacent only because the comparison ends with their values.
    count_ = size_t(std::unique(first, end) - fingerprints_);
    held_ = next_ = fetched_ = size_t(first - fingerprints_);
}

void Matches::drop_beyond(Ball ball) {
    uint64_t* end = std::remove_if(fingerprints_, fingerprints_ + count_,
                                   [ball](uint64_t match) { return !ball.contains(match); });
    count_ = size_t(end - fingerprints_);
    // Others have the places of those whose leaves were fetched.
    fetched_ = 0;
}

void Matches::fetch_ahead() {
    fetched_ = std::max(fetched_, next_);
    size_t end = std::min(count_, next_ + kLookupsAhead);
    for (; fetched_ < end; fetched_++) {
        uint64_t fingerprint = fingerprints_[fetched_];
        // A ring: the cursor that is overwritten was taken kLookupsAhead matches ago.
        LeafCursor& lookup = lookups_[fetched_ % kLookupsAhead];
        lookup = LeafCursor(index_->posting_table(), {fingerprint, fingerprint});
        lookup.fetch_ahead();
    }
}

LeafCursor Matches::take() {
    fetch_ahead();
    return lookups_[next_++ % kLookupsAhead];
}

} // namespace simhash
