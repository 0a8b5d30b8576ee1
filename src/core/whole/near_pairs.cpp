// All pairs within a radius, by blocks (the batch problem of Manku, Jain, Das Sarma, WWW 2007).
//
// Cut the bits into radius + 1 blocks: two fingerprints within the radius agree in one of them at
// least. So bring together, block by block, the fingerprints that agree in it (a group) and look
// for pairs within each group. A pair that agrees in several blocks is taken in the first of them
// only:
//
//     radius 1, blocks AB and CD          a = 01 10    b = 01 11    c = 11 10
//     groups of block AB:  {a, b}, {c}    a b differ in one bit: a pair
//     groups of block CD:  {a, c}, {b}    a c: a pair, and they differ in block AB: not seen before
//
// A group is a smaller problem of the same kind, on the bits in which its members still differ: it
// is compared pair by pair where it is small, and cut into blocks of those bits where it is large.
// So the number of block tables follows from the number of fingerprints, and fingerprints that
// share many bits (a skewed group) are divided by the others. For 10 million random ones and radius
// 3, a group has 150 members: four passes over the data, each comparing 75 times per fingerprint
// what the cache already holds.
//
// A path of nested groups carries the blocks that came before those it chose: a pair is taken where
// it differs in every one of them. Blocks may be cut short where fewer bits divide well enough; the
// rule needs radius + 1 disjoint blocks, whatever their lengths.
//
// Between two sets it is the same: a group has members of both, and a pair has one of each.
//
// Memory for n distinct fingerprints: themselves (8 bytes), and the same again to sort into (8).
#include "core/whole/near_pairs.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/bits/distance.hpp"
#include "core/bits/highest.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {
namespace {

constexpr size_t kWorkPerPause = size_t{1} << 21; // comparisons or moves

// The end of the group that begins at `begin`.
size_t group_end(const FingerprintArray& set, size_t begin, uint64_t block) {
    size_t end = begin + 1;
    while (end < set.count && ((set.fingerprints[begin] ^ set.fingerprints[end]) & block) == 0)
        ++end;
    return end;
}

uint64_t differences(const FingerprintArray& set, uint64_t from) {
    uint64_t differing = 0;
    for (size_t i = 0; i < set.count; ++i)
        differing |= from ^ set.fingerprints[i];
    return differing;
}

} // namespace

void find_near_pairs(const FingerprintArray& set, int radius, const PairReceiver& receiver,
                     Pause pause) {
    if (radius > 0 && set.count > 1)
        NearPairsSearch(false, radius, receiver, pause).search({set}, true);
}

void find_pairs_between(const FingerprintArray& a, const FingerprintArray& b, int radius,
                        const PairReceiver& receiver, Pause pause) {
    if (a.count > 0 && b.count > 0)
        NearPairsSearch(true, radius, receiver, pause).search({a, b}, true);
}

void NearPairsSearch::search(const PairSets& sets, bool sorted) {
    uint64_t varying = varying_bits(sets);
    if (all_are_pairs(varying)) {
        receiver_.all_pairs(receiver_.context, sets.a.fingerprints, sets.a.count);
        return;
    }
    int bits = block_bits(sets.a.count, sets.b.count, varying);
    if (bits > 0)
        search_blocks(sets, varying, bits, sorted);
    else if (between_)
        compare_between(sets.a, sets.b);
    else
        compare_within(sets.a);
}

void NearPairsSearch::worked(size_t work) {
    work_ += work;
    if (work_ >= kWorkPerPause) {
        work_ = 0;
        pause_();
    }
}

uint64_t NearPairsSearch::varying_bits(const PairSets& sets) {
    uint64_t first = sets.a.fingerprints[0];
    worked((sets.a.count + sets.b.count) / 4);
    return differences(sets.a, first) | differences(sets.b, first);
}

bool NearPairsSearch::all_are_pairs(uint64_t varying) const {
    return receiver_.all_pairs != nullptr && std::popcount(varying) <= radius_;
}

// ---- dividing ----

// One move costs about as much as kMove comparisons.
int NearPairsSearch::block_bits(size_t a_count, size_t b_count, uint64_t varying) const {
    constexpr double kMove = 24;
    size_t count = a_count + b_count;
    int bits = std::min(
        {std::popcount(varying) / blocks(), int(std::bit_width(count)) + 1, kMaxBlockBits});
    if (bits == 0 || path_length_ + blocks() > kMaxPathLength)
        return 0;
    double pairs = double(a_count) * (between_ ? double(b_count) : double(a_count) / 2);
    double by_blocks = blocks() * (double(count) * kMove + pairs / double(size_t{1} << bits));
    return by_blocks < pairs ? bits : 0;
}

uint64_t NearPairsSearch::next_block(uint64_t varying, int bits, uint64_t* rest) const {
    uint64_t block = highest_ones(*rest, bits);
    // bits beyond `bits` are passed over
    *rest ^= highest_ones(*rest, std::popcount(varying) / blocks());
    return block;
}

void NearPairsSearch::search_blocks(const PairSets& sets, uint64_t varying, int bits, bool sorted) {
    int length = path_length_;
    uint64_t rest = varying;
    for (int i = 0; i < blocks(); ++i) {
        uint64_t block = next_block(varying, bits, &rest);
        search_block(sets, block, sorted && i == 0);
        add_to_path(block);
    }
    shorten_path(length);
}

void NearPairsSearch::search_block(const PairSets& sets, uint64_t block, bool sorted) {
    if (!sorted) {
        block_sort_.sort(sets.a, block, pause_);
        block_sort_.sort(sets.b, block, pause_);
        worked(3 * (sets.a.count + sets.b.count));
    }
    if (between_)
        search_groups_of_two(sets, block, sorted);
    else
        search_groups(sets.a, block, sorted);
}

void NearPairsSearch::search_groups(const FingerprintArray& set, uint64_t block, bool sorted) {
    for (size_t begin = 0; begin < set.count;) {
        size_t end = group_end(set, begin, block);
        worked(end - begin);
        if (end - begin > 1)
            search({set.part(begin, end)}, sorted);
        begin = end;
    }
}

void NearPairsSearch::search_groups_of_two(const PairSets& sets, uint64_t block, bool sorted) {
    BlockBits number(block);
    for (size_t i = 0, j = 0; i < sets.a.count && j < sets.b.count;) {
        uint32_t of_a = number(sets.a.fingerprints[i]), of_b = number(sets.b.fingerprints[j]);
        worked(1);
        if (of_a != of_b) {
            ++(of_a < of_b ? i : j);
            continue;
        }
        size_t a_end = group_end(sets.a, i, block), b_end = group_end(sets.b, j, block);
        worked(a_end - i + b_end - j);
        search({sets.a.part(i, a_end), sets.b.part(j, b_end)}, sorted);
        i = a_end;
        j = b_end;
    }
}

// ---- comparing ----

// In tiles, so that both sides of large groups stay in the cache.
void NearPairsSearch::compare_within(const FingerprintArray& set) {
    for (size_t tile = 0; tile < set.count; tile += kMaxMatchCount) {
        size_t end = std::min(tile + kMaxMatchCount, set.count);
        for (size_t i = tile; i + 1 < end; ++i)
            compare(set.fingerprints[i], set.fingerprints + i + 1, end - i - 1);
        compare_between(set.part(tile, end), set.part(end, set.count));
    }
}

void NearPairsSearch::compare_between(const FingerprintArray& these,
                                      const FingerprintArray& those) {
    for (size_t row = 0; row < these.count; row += kMaxMatchCount)
        for (size_t tile = 0; tile < those.count; tile += kMaxMatchCount)
            for (size_t i = row; i < std::min(row + kMaxMatchCount, these.count); ++i)
                compare(these.fingerprints[i], those.fingerprints + tile,
                        std::min(kMaxMatchCount, those.count - tile));
}

// count: 1 .. kMaxMatchCount.
void NearPairsSearch::compare(uint64_t fingerprint, const uint64_t* others, size_t count) {
    size_t found = match_(fingerprint, others, count, radius_, matches_);
    for (size_t i = 0; i < found; ++i)
        report(fingerprint, others[matches_[i]]);
    worked(count + found * 4);
}

void NearPairsSearch::report(uint64_t a, uint64_t b) {
    for (int i = 0; i < path_length_; ++i)
        if (((a ^ b) & path_[i]) == 0)
            return;
    if (!between_ && a > b)
        std::swap(a, b);
    receiver_.pair(receiver_.context, a, b);
}

} // namespace simhash
