// The ranges of probes. See the header.
#include "index/search/probes.hpp"

#include <algorithm>

namespace simhash {
namespace {

// Returns the range of the keys that begin with a prefix. `prefix` is right-aligned.
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
    // A threshold of -1 has no prefix: the first call of make_range() begins the first probe.
    neighbours_ = PrefixNeighbours(0, 1, -1);
}

// Returns the threshold with which the earlier plan searched the probe's prefixes. Returns -1 if it
// did not search them, or searched them in fewer slices than the probe needs.
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

// Makes the next range of the plan. Returns false if there is none.
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
        // The range begins with its first slice; what is before need not be read.
        slices.advance(&keys.first);
        *range = LeafCursor(index_->table(probe.table), keys, slices);
    } else {
        *range = LeafCursor(index_->table(probe.table), keys);
    }
    return true;
}

// Makes the next ranges and fetches their leaves. Returns false if there are none.
bool Probes::fetch_more() {
    // The first batch is small: a LIMIT may end the scan after its first rows.
    int ahead = count_ == 0 ? kFirstAhead : kAhead;
    next_ = count_ = 0;
    while (count_ < ahead && make_range(&ranges_[count_]))
        origins_[count_++] = origin_;
    // One leaf alone is read right away, so there is nothing to do meanwhile.
    if (count_ > 1)
        LeafCursor::fetch_ahead(ranges_, count_);
    return count_ > 0;
}

// Collects the fingerprints of one leaf of the current range that no earlier probe of the plan
// reports. After the range's last leaf, passes the range. Reports a fingerprint once for each leaf
// of the posting table that has it.
void Probes::collect_leaf() {
    LeafCursor& range = ranges_[next_];
    Origin origin = origins_[next_];
    Permutation permutation = index_->permutation(table_of(origin));
    LeafYield* yield = index_->yield();
    LeafReader reader = range.lock(index_->snapshot);
    // A permutation of bits keeps distances, so we compare permuted keys with the permuted center
    // and permute only the matches back.
    KeyRange keys = range.rest();
    int hit_count = reader.keys_within(keys.first, keys.last, origin.target, filter_.ball.radius,
                                       yield->hits, range.slices());
    size_t count = 0;
    for (int i = 0; i < hit_count; i++) {
        uint64_t fingerprint = permutation.invert(yield->hits[i].key);
        // Another posting of the same fingerprint.
        if (count > 0 && yield->fingerprints[count - 1] == fingerprint)
            continue;
        // A fingerprint that several probes see is reported by the first of them only. That needs
        // no memory of earlier matches: probe and difference of bits decide it.
        if (filter_.takes(fingerprint) &&
            !reported_earlier(*plan_, origin.probe, fingerprint ^ filter_.ball.center))
            yield->fingerprints[count++] = fingerprint;
    }
    // Matches are added below, after the lock is released: add() may allocate memory.
    range.go_on();
    range.release();
    // The next leaf begins with postings of the fingerprint with which this one ends. If that one
    // has many rows, its postings fill many leaves. They tell us nothing new, unless the
    // fingerprint matches and this leaf, which ends just before its first posting, did not show it.
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

bool Probes::collect(bool in_order) {
    while (!matches_->is_full() && current() != nullptr) {
        CHECK_FOR_INTERRUPTS();
        collect_leaf();
        if (in_order)
            matches_->fetch_ahead();
    }
    return !matches_->is_full();
}

} // namespace simhash
