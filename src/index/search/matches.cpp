// Finds fingerprints and lists them. See the header.
#include "index/search/matches.hpp"

#include <algorithm>

namespace simhash {
namespace {

constexpr size_t kLeastLimit = 1024;

// Returns the range of the keys that begin with a prefix. `prefix` is right-aligned.
KeyRange keys_with_prefix(uint64_t prefix, int prefix_bits) {
    uint64_t first = prefix << (kFingerprintBits - prefix_bits);
    return {first, first | (prefix_bits == kFingerprintBits ? 0 : UINT64_MAX >> prefix_bits)};
}

} // namespace

void Matches::clear() {
    fingerprints_.clear();
    next_ = fetched_ = held_ = 0;
    limit_ = std::max(index_->work_memory() / sizeof(uint64_t), kLeastLimit);
    is_full_ = false;
}

void Matches::add(std::span<const uint64_t> fingerprints) {
    // The postings of one fingerprint may lie on several leaves of the posting table, and each leaf
    // reports the fingerprint.
    if (count() > 0 && all().back() == fingerprints.front())
        fingerprints = fingerprints.subspan(1);
    // The caller reads is_full() and goes over to a pass: a part of the matches would be of no use.
    is_full_ |= count() + fingerprints.size() > limit_;
    if (!is_full_)
        append(fingerprints);
}

void Matches::sort_by_distance(uint64_t target, int radius) {
    // The matches beyond the radius go to the front, and stay when clear_taken() drops the others.
    Ball near = {target, radius};
    uint64_t* end = fingerprints_.end();
    uint64_t* first = std::partition(fingerprints_.data(), end, [near](uint64_t fingerprint) {
        return !near.contains(fingerprint);
    });
    std::sort(first, end, [target](uint64_t a, uint64_t b) {
        int to_a = hamming_distance(a, target), to_b = hamming_distance(b, target);
        // At equal distances the rows of one fingerprint must come together.
        return to_a != to_b ? to_a < to_b : a < b;
    });
    // Equal fingerprints are adjacent only because the comparison ends with their values.
    fingerprints_.cut_to(std::unique(first, end));
    held_ = next_ = fetched_ = size_t(first - fingerprints_.data());
}

void Matches::drop_beyond(Ball ball) {
    fingerprints_.remove_if([ball](uint64_t match) { return !ball.contains(match); });
    // Others have the places of those whose leaves were fetched.
    fetched_ = 0;
}

void Matches::fetch_ahead() {
    fetched_ = std::max(fetched_, next_);
    size_t end = std::min(count(), next_ + kLookupsAhead);
    for (; fetched_ < end; fetched_++) {
        uint64_t fingerprint = fingerprints_[fetched_];
        // A ring: the cursor that is overwritten was taken kLookupsAhead matches ago.
        LeafCursor& lookup = lookups_[fetched_ % kLookupsAhead];
        lookup = LeafCursor(index_->posting_table(), {fingerprint, fingerprint});
        LeafCursor::fetch_ahead(&lookup, 1);
    }
}

LeafCursor Matches::take() {
    fetch_ahead();
    return lookups_[next_++ % kLookupsAhead];
}

// ---- Probes ----

void Matches::start(const ProbePlan* plan, const Filter& filter, const ProbePlan* searched) {
    plan_ = plan;
    searched_ = searched;
    filter_ = filter;
    range_count_ = next_range_ = 0;
    origin_ = {-1, 0};
    // A threshold of -1 has no prefix: the first call of make_range() begins the first probe.
    neighbours_ = PrefixNeighbours(0, 1, -1);
}

// Returns the threshold with which the earlier plan searched the probe's prefixes. Returns -1 if it
// did not search them, or searched them in fewer slices than the probe needs.
int Matches::searched_threshold(const Probe& probe) const {
    for (int i = 0; i < searched_->probe_count; i++)
        if (const Probe& other = searched_->probes[i];
            other.table == probe.table && other.prefix_bits == probe.prefix_bits &&
            (other.slice_bits == 0 || other.slice_bits == probe.slice_bits))
            return other.threshold;
    return -1;
}

void Matches::begin_probe() {
    const Probe& probe = plan_->probes[origin_.probe];
    origin_.target = index_->permutation(probe.table).apply(filter_.ball.center);
    neighbours_ = PrefixNeighbours(origin_.target >> (kFingerprintBits - probe.prefix_bits),
                                   probe.prefix_bits, probe.threshold);
    if (searched_ != nullptr)
        neighbours_.leave_out(searched_threshold(probe));
}

// Makes the next range of the plan. Returns false if there is none.
bool Matches::make_range(LeafCursor* range) {
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
bool Matches::fetch_more() {
    // The first batch is small: a LIMIT may end the scan after its first rows.
    int ahead = range_count_ == 0 ? kFirstAhead : kAhead;
    next_range_ = range_count_ = 0;
    while (range_count_ < ahead && make_range(&ranges_[range_count_]))
        origins_[range_count_++] = origin_;
    // One leaf alone is read right away, so there is nothing to do meanwhile.
    if (range_count_ > 1)
        LeafCursor::fetch_ahead(ranges_, range_count_);
    return range_count_ > 0;
}

// Collects the fingerprints of one leaf of the current range that no earlier probe of the plan
// reports. After the range's last leaf, passes the range. Reports a fingerprint once for each leaf
// of the posting table that has it.
void Matches::collect_leaf() {
    LeafCursor& range = ranges_[next_range_];
    Origin origin = origins_[next_range_];
    Permutation permutation = index_->permutation(table_of(origin));
    LeafYield* yield = index_->yield();
    size_t count = 0;
    // A permutation of bits keeps distances, so we compare permuted keys with the permuted center
    // and permute only the matches back.
    Ball ball = {origin.target, filter_.ball.radius};
    auto hits = index_->read_leaf(&range, ball, [&](const auto&, const LeafReader::Hit& hit) {
        uint64_t fingerprint = permutation.invert(hit.key);
        // Another posting of the same fingerprint.
        if (count > 0 && yield->fingerprints[count - 1] == fingerprint)
            return;
        // A fingerprint that several probes see is reported by the first of them only. That needs
        // no memory of earlier matches: probe and difference of bits decide it.
        if (filter_.takes(fingerprint) &&
            !reported_earlier(*plan_, origin.probe, fingerprint ^ filter_.ball.center))
            yield->fingerprints[count++] = fingerprint;
    });
    // They are added below, after the lock is released: add() may allocate memory.
    range.release();
    // The next leaf begins with postings of the fingerprint with which this one ends. If that one
    // has many rows, its postings fill many leaves. They tell us nothing new, unless the
    // fingerprint matches and this leaf, which ends just before its first posting, did not show it.
    if (range.is_among_postings()) {
        uint64_t key = range.position().key;
        bool was_hit = std::any_of(hits.begin(), hits.end(),
                                   [key](const LeafReader::Hit& hit) { return hit.key == key; });
        if (was_hit || !filter_.ball.contains(permutation.invert(key)))
            range.pass_key();
    }
    if (range.at_end())
        next_range_++;
    if (count > 0)
        add({yield->fingerprints, count});
}

bool Matches::collect(bool in_order) {
    while (!is_full_ && has_range()) {
        CHECK_FOR_INTERRUPTS();
        collect_leaf();
        if (in_order)
            fetch_ahead();
    }
    return !is_full_;
}

} // namespace simhash
