// The ranges of probes; see the header.
#include "index/search/probes.hpp"

#include <algorithm>

namespace simhash {

namespace {

// The keys with a prefix, a right-aligned number.
KeyRange keys_with_prefix(uint64_t prefix, int prefix_bits) {
    uint64_t first = prefix << (kFingerprintBits - prefix_bits);
    return {first, first | (prefix_bits == kFingerprintBits ? 0 : UINT64_MAX >> prefix_bits)};
}

} // namespace

void Probes::start(const ProbePlan* plan, const Filter& filter, const ProbePlan* searched) {
    plan_ = plan;
    searched_ = searched;
    filter_ = filter;
    count_ = next_ = 0;
    origin_ = {-1, 0};
    neighbours_ = PrefixNeighbours(0, 1, -1);
}

// The threshold with which the probe's prefixes were searched before; below 0 if they were not, or
// only in slices, of which the probe needs more.
int Probes::searched_threshold(const Probe& probe) const {
    for (int i = 0; i < searched_->probe_count; i++)
        if (const Probe& other = searched_->probes[i];
            other.table == probe.table && other.prefix_bits == probe.prefix_bits &&
            (other.slice_bits == 0 || other.slice_bits == probe.slice_bits))
            return other.threshold;
    return -1;
}

void Probes::begin_probe() {
    const Probe& probe = plan_->probes[origin_.probe];
    origin_.target = index_->permutation(probe.table).apply(filter_.ball.center);
    neighbours_ = PrefixNeighbours(origin_.target >> (kFingerprintBits - probe.prefix_bits),
                                   probe.prefix_bits, probe.threshold);
    if (searched_ != nullptr)
        neighbours_.leave_out(searched_threshold(probe));
}

// The next range of the plan. False where there is none.
bool Probes::make_range(LeafCursor* range) {
    uint64_t prefix;
    while (!neighbours_.next(&prefix)) {
        if (origin_.probe + 1 == plan_->probe_count)
            return false;
        origin_.probe++;
        begin_probe();
    }
    const Probe& probe = plan_->probes[origin_.probe];
    KeyRange keys = keys_with_prefix(prefix, probe.prefix_bits);
    if (probe.slice_bits > 0) {
        Slices slices = {origin_.target, uint8_t(probe.prefix_bits), uint8_t(probe.slice_bits)};
        slices.advance(&keys.first);
        *range = LeafCursor(index_->tree(probe.table), keys, slices);
    } else {
        *range = LeafCursor(index_->tree(probe.table), keys);
    }
    return true;
}

// Makes the next ranges and has their leaves fetched. False where there are none.
bool Probes::fetch_more() {
    // A scan that is given up after its first rows shall not pay for many ranges.
    int ahead = count_ == 0 ? kFirstAhead : kAhead;
    next_ = count_ = 0;
    while (count_ < ahead && make_range(&ranges_[count_]))
        origins_[count_++] = origin_;
    if (count_ > 1)
        LeafCursor::fetch_ahead(ranges_, count_);
    return count_ > 0;
}

void Probes::collect_leaf() {
    LeafCursor& range = ranges_[next_];
    Origin origin = origins_[next_];
    const Permutation& permutation = index_->permutation(range.tree().number);
    LeafYield* yield = index_->yield();
    LeafReader reader = range.lock(index_->snapshot);
    // Distances are the same under the permutation: only matches are permuted back.
    KeyRange keys = range.rest();
    int hit_count = reader.keys_within(keys.first, keys.last, origin.target, filter_.ball.radius,
                                       yield->hits, range.slices());
    size_t count = 0;
    for (int i = 0; i < hit_count; i++) {
        uint64_t fingerprint = permutation.invert(yield->hits[i].key);
        if (count > 0 && yield->fingerprints[count - 1] == fingerprint)
            continue; // another posting
        if (filter_.takes(fingerprint) &&
            !reported_earlier(*plan_, origin.probe, fingerprint ^ filter_.ball.center))
            yield->fingerprints[count++] = fingerprint;
    }
    // Matches are added after the lock is released: that may allocate memory.
    range.go_on();
    range.release();
    // A leaf that ends among the postings of a fingerprint is, if that one has many rows, followed
    // by more such leaves. They show nothing new, unless they are the first to show a match.
    if (range.is_among_postings()) {
        uint64_t key = range.position().key;
        bool was_hit = std::any_of(yield->hits, yield->hits + hit_count,
                                   [key](const LeafReader::Hit& hit) { return hit.key == key; });
        if (was_hit || !filter_.ball.contains(permutation.invert(key)))
            range.pass_key();
    }
    if (range.at_end())
        pass();
    if (count > 0)
        matches_->add({yield->fingerprints, count});
}

bool Probes::collect() {
    while (!matches_->is_full() && current() != nullptr) {
        CHECK_FOR_INTERRUPTS();
        collect_leaf();
    }
    return !matches_->is_full();
}

} // namespace simhash
