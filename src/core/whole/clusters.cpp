// See clusters.hpp.
#include "core/whole/clusters.hpp"

#include <algorithm>

#include "core/bits/standalone.hpp"

namespace simhash {
namespace {

// Union-find where every set's root is its least member.
class Components {
  public:
    explicit Components(uint32_t* parents) : parents_(parents) {}

    void unite(uint32_t a, uint32_t b) {
        a = root_of(a);
        b = root_of(b);
        if (a != b)
            parents_[std::max(a, b)] = std::min(a, b);
    }

  private:
    uint32_t root_of(uint32_t i) {
        while (parents_[i] != i) {
            parents_[i] = parents_[parents_[i]];
            i = parents_[i];
        }
        return i;
    }

    uint32_t* parents_;
};

void unite_pair(void* parents, uint32_t a, uint32_t b) {
    Components(static_cast<uint32_t*>(parents)).unite(a, b);
}

void unite_all(void* parents, const uint32_t* positions, size_t count) {
    Components components(static_cast<uint32_t*>(parents));
    for (size_t i = 1; i < count; ++i)
        components.unite(positions[0], positions[i]);
}

} // namespace

void find_clusters(const NearPairsMemory& memory, int radius, uint32_t* labels, Pause pause) {
    one_by_one(
        memory.count, [&](size_t i) { labels[i] = uint32_t(i); }, pause);
    find_near_pairs(memory, radius, {unite_pair, unite_all, labels}, pause);
    one_by_one( // a parent is never to the right of its child
        memory.count, [&](size_t i) { labels[i] = labels[labels[i]]; }, pause);
}

ClusterNames::ClusterNames(std::span<const uint64_t> distinct, const uint32_t* labels,
                           Entry* entries, Pause pause)
    : entries_(entries), entry_count_(entries_for(distinct.size())) {
    constexpr Entry kEmpty = {0, 1};
    in_pieces(
        entry_count_,
        [&](size_t begin, size_t end) { std::fill(entries + begin, entries + end, kEmpty); },
        pause);
    in_pieces(
        distinct.size(),
        [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i) {
                Entry* entry = home_of(distinct[i]);
                while (entry->name <= entry->fingerprint)
                    if (++entry == entries_ + entry_count_)
                        entry = entries_;
                *entry = {distinct[i], distinct[labels[i]]};
            }
        },
        pause);
}

bool ClusterNames::find(uint64_t fingerprint, uint64_t* name) const {
    for (Entry* entry = home_of(fingerprint); entry->name <= entry->fingerprint;) {
        if (entry->fingerprint == fingerprint) {
            *name = entry->name;
            return true;
        }
        if (++entry == entries_ + entry_count_)
            entry = entries_;
    }
    return false;
}

void ClusterNames::replace_by_names(std::span<uint64_t> fingerprints, Pause pause) const {
    in_pieces(
        fingerprints.size(),
        [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i)
                find(fingerprints[i], &fingerprints[i]);
        },
        pause);
}

// Mixes the bits as splitmix64 does, then scales the upper half to the number of entries, < 2^32.
ClusterNames::Entry* ClusterNames::home_of(uint64_t fingerprint) const {
    uint64_t mixed = (fingerprint ^ fingerprint >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return entries_ + ((mixed >> 32) * entry_count_ >> 32);
}

} // namespace simhash
