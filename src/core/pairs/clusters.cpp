// See clusters.hpp.
#include "core/pairs/clusters.hpp"

#include <algorithm>

namespace simhash {

constexpr size_t kFirstCapacity = 64;
constexpr size_t kGreatestCapacity = UINT32_MAX; // required by place_in()

namespace {

// Mixes the bits as splitmix64 does.
uint64_t hash_of(uint64_t fingerprint) {
    uint64_t mixed = (fingerprint ^ fingerprint >> 30) * 0xbf58476d1ce4e5b9;
    return (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
}

// The upper half of a hash, scaled to 0 .. size - 1. size < 2^32.
size_t place_in(size_t size, uint64_t hash) { return (hash >> 32) * size >> 32; }

} // namespace

Clusters::Clusters(Memory memory, size_t most_bytes, Full full, Pause pause)
    : memory_(memory), most_(std::clamp(most_bytes / sizeof(Link), size_t{2}, kGreatestCapacity)),
      full_(full), pause_(pause) {
    size_t first = most_; // divided by 4 until small, so that fourfold growth ends at most_
    while (first > kFirstCapacity)
        first = (first + 3) / 4;
    make_table(first);
}

void Clusters::make_table(size_t capacity) {
    capacity_ = capacity;
    // The table is never quite full: a search of the table ends at an empty link.
    limit_ = capacity < most_ ? capacity / 3 * 2 : capacity - (capacity + 8) / 9;
    links_ = static_cast<Link*>(memory_.allocate(memory_.context, capacity * sizeof(Link)));
    auto clear = [&](size_t begin, size_t end) {
        std::fill(links_ + begin, links_ + end, Link{0, 0});
    };
    in_pieces(capacity, clear, pause_);
}

void Clusters::grow() {
    if (capacity_ == most_)
        full_.report(full_.context, count_);
    Link* old = links_;
    size_t old_capacity = capacity_;
    make_table(std::min(capacity_ * 4, most_));
    auto move = [&](size_t i) {
        if (i + kAhead < old_capacity)
            // The places in the new table are random, so each would wait for memory.
            fetch(old[i + kAhead].fingerprint);
        if (!old[i].is_empty())
            *place_of(old[i].fingerprint) = old[i];
    };
    one_by_one(old_capacity, move, pause_);
    memory_.release(memory_.context, old);
}

// Asks the processor to fetch the memory of a fingerprint's link.
void Clusters::fetch(uint64_t fingerprint) const {
    prefetch(links_ + place_in(capacity_, hash_of(fingerprint)));
}

// The fingerprint's link, or the empty one where it belongs.
Clusters::Link* Clusters::place_of(uint64_t fingerprint) const {
    Link* link = links_ + place_in(capacity_, hash_of(fingerprint));
    while (!link->is_empty() && link->fingerprint != fingerprint)
        // Behind the last link comes the first one.
        if (++link == links_ + capacity_)
            link = links_;
    return link;
}

void Clusters::add(uint64_t fingerprint, uint64_t lesser) {
    if (count_ == limit_)
        grow();
    *place_of(fingerprint) = {fingerprint, lesser};
    count_++;
}

// Halves the path to the root on its way.
uint64_t Clusters::root_of(uint64_t fingerprint) {
    for (Link* link = place_of(fingerprint); !link->is_empty();) {
        Link* next = place_of(link->lesser);
        if (next->is_empty())
            return link->lesser;
        // The link now leads two steps further, to a fingerprint that is less still.
        fingerprint = link->lesser = next->lesser;
        link = place_of(fingerprint);
    }
    return fingerprint;
}

void Clusters::unite(Pair pair) {
    uint64_t a = root_of(pair.first), b = root_of(pair.second);
    if (a != b)
        // The greater root becomes a member, and so needs a link. The lesser one stays the root,
        // and the cluster's name.
        add(std::max(a, b), std::min(a, b));
}

// Puts the pair into the ring, and links the one whose place it takes.
void Clusters::receive(uint64_t a, uint64_t b) {
    Pair& slot = waiting_[received_ % kAhead];
    fetch(a);
    fetch(b);
    if (received_++ >= kAhead)
        unite(slot);
    slot = {a, b};
}

bool Clusters::unite_pair(void* clusters, uint64_t a, uint64_t b) {
    static_cast<Clusters*>(clusters)->receive(a, b);
    return true;
}

void Clusters::unite_all(void* clusters, const uint64_t* fingerprints, size_t count) {
    auto* all = static_cast<Clusters*>(clusters);
    one_by_one(
        count, [&](size_t i) { all->receive(fingerprints[0], fingerprints[i]); }, all->pause_);
}

void Clusters::finish() {
    for (size_t i = 0; i < std::min(received_, kAhead); i++)
        unite(waiting_[i]);
    auto find_name = [&](size_t i) {
        if (i + kAhead < capacity_)
            fetch(links_[i + kAhead].lesser);
        if (!links_[i].is_empty())
            // From now on each link leads to the name at once.
            links_[i].lesser = root_of(links_[i].fingerprint);
    };
    one_by_one(capacity_, find_name, pause_);
}

void Clusters::release() { memory_.release(memory_.context, links_); }

// Takes at most kAhead fingerprints. Looked up one after the other, each would wait for memory;
// together they wait at the same time.
void Clusters::replace_some_by_names(std::span<uint64_t> fingerprints) const {
    for (uint64_t fingerprint : fingerprints)
        fetch(fingerprint);
    for (uint64_t& fingerprint : fingerprints)
        if (const Link* link = place_of(fingerprint); !link->is_empty())
            fingerprint = link->lesser;
}

void Clusters::replace_by_names(std::span<uint64_t> fingerprints) const {
    static_assert(kEntriesPerPause % kAhead == 0);
    auto replace = [&](size_t begin, size_t end) {
        for (size_t i = begin; i < end; i += kAhead)
            replace_some_by_names(fingerprints.subspan(i, std::min(kAhead, end - i)));
    };
    in_pieces(fingerprints.size(), replace, pause_);
}

} // namespace simhash
