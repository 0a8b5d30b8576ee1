// All pairs within a radius, by blocks (the batch problem of Manku, Jain, Das Sarma, WWW 2007).
//
// Cut the bits into radius + 1 blocks: two fingerprints within the radius agree in at least one.
// So, block by block, bring the fingerprints that agree in it together (a group) and look for pairs
// within each group. A pair that agrees in several blocks is taken only in the first of them:
//
//     radius 1, blocks AB and CD          a = 01 10    b = 01 11    c = 11 10
//     groups of block AB:  {a, b}, {c}    a b differ in one bit: a pair
//     groups of block CD:  {a, c}, {b}    a c: a pair, and they differ in block AB: not seen before
//
// A group is a smaller problem of the same kind. Its members agree in the group's block, so only
// the bits in which they still differ matter. Its pairs differ in each earlier block, otherwise
// they would have been taken there: each earlier block uses up one of the differences that the
// radius allows. So the group is searched in the bits outside of the earlier blocks, within the
// radius that is left. For radius 8:
//
//     groups of block   0   1   2   3   4   5   6   7   8
//     radius left       8   7   6   5   4   3   2   1   0
//
// A path of nested groups carries the blocks before the chosen ones. A pair is taken if it differs
// in every one of them. Groups are cut into blocks again, level by level, until comparing all pairs
// of a group costs less.
//
// The number of levels determines the length of the blocks. For k levels and radius r the bits are
// cut as if there were r + k blocks: a pair agrees in some k of them. There are C(r + k, k)
// choices, and for each one a fingerprint is compared with those that agree with it in k blocks.
// More levels make smaller groups and more sorts; levels() estimates which number costs least. For
// 10 million random fingerprints and radius 3 that is one level: 4 blocks of 16 bits, groups of
// 150. For radius 8 it is three: 11 blocks of 5 or 6 bits, 165 choices, groups of about 60.
//
// A block may be cut short if fewer bits divide well enough: the rule needs only disjoint blocks,
// one more than the radius that is left.
//
// The search between two sets is the same: a group has members of both, and a pair has one of each.
//
// Each distinct fingerprint takes 16 bytes of memory: 8 for itself, and 8 to sort into.
#include "core/pairs/near_pairs.hpp"

#include <cmath>
#include <utility>

#include "core/bits/sort.hpp"

namespace simhash {
namespace {

// These are about 1 000 comparisons, which take less time than a sort.
constexpr size_t kFew = 48; // fingerprints that are compared without trying to divide them
constexpr size_t kWorkPerPause = size_t{1} << 21; // comparisons or moves

// The end of the group that begins at `begin`.
size_t group_end(const FingerprintArray& set, size_t begin, uint64_t block) {
    size_t end = begin + 1;
    while (end < set.count && ((set.fingerprints[begin] ^ set.fingerprints[end]) & block) == 0)
        end++;
    return end;
}

uint64_t differences(const FingerprintArray& set, uint64_t from) {
    uint64_t differing = 0;
    for (size_t i = 0; i < set.count; i++)
        differing |= from ^ set.fingerprints[i];
    return differing;
}

} // namespace

void find_near_pairs(const FingerprintArray& set, int radius, const PairReceiver& receiver,
                     Pause pause) {
    // Within one set a radius of 0 has no pairs, because the fingerprints are distinct.
    if (radius > 0 && set.count > 1)
        NearPairsSearch(false, radius, receiver, pause).search({set}, true);
}

void find_pairs_between(const FingerprintArray& a, const FingerprintArray& b, int radius,
                        const PairReceiver& receiver, Pause pause) {
    if (a.count > 0 && b.count > 0)
        NearPairsSearch(true, radius, receiver, pause).search({a, b}, true);
}

void NearPairsSearch::search(const PairSets& sets, bool sorted) {
    if (is_ended_)
        return;
    if (sets.a.count + sets.b.count <= kFew) {
        compare_all(sets);
        return;
    }
    uint64_t varying = varying_bits(sets);
    // 2^20 fingerprints that differ in 20 bits only have 5 * 10^11 pairs within radius 20. Clusters
    // need only know that all of them belong together.
    if (all_are_pairs(varying)) {
        receiver_.all_pairs(sets.a.fingerprints, sets.a.count);
        return;
    }
    // Bits that do not vary divide nothing, so only the others are cut into blocks.
    Blocks blocks = blocks_of(sets.a.count, sets.b.count, varying);
    if (blocks.left() > 0)
        search_blocks(sets, blocks, varying, sorted);
    else
        compare_all(sets);
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
    return receiver_.all_pairs && std::popcount(varying) <= radius_;
}

// ---- dividing ----

Blocks NearPairsSearch::blocks_of(size_t a_count, size_t b_count, uint64_t varying) const {
    uint64_t bits = varying & ~path_bits();
    int radius = radius_ - path_length_;
    int levels = this->levels(a_count, b_count, std::popcount(bits), radius, 1);
    // More bits would make groups of one fingerprint, and cost passes of the sort.
    int longest = std::min(int(std::bit_width(a_count + b_count)) + 1, kMaxBlockBits);
    return levels > 0 ? Blocks(bits, radius + 1, levels, longest) : Blocks();
}

uint64_t NearPairsSearch::path_bits() const {
    uint64_t bits = 0;
    for (int i = 0; i < path_length_; i++)
        bits |= path_[i];
    return bits;
}

// The number of levels that costs least. Bringing a fingerprint into its group costs about as much
// as kMove comparisons. told: how much each bit tells, from 0 to 1; a random bit tells 1.
int NearPairsSearch::levels(size_t a_count, size_t b_count, int bits, int radius,
                            double told) const {
    constexpr double kMove = 128;
    double pairs = double(a_count) * (between_ ? double(b_count) : double(a_count) / 2);
    double least = pairs, moves = 0;
    double times = 1; // number of groups that each fingerprint is in
    int best = 0;
    for (int level = 1; radius + level <= bits && moves < least; level++) {
        // This is C(radius + level, level), computed from the one before.
        times *= double(radius + level) / level;
        // Every level moves each fingerprint into each of its groups once.
        moves += times * double(a_count + b_count) * kMove;
        // Two random fingerprints agree in `level` blocks with the probability 2 ^ -(their bits).
        double cost = moves + times * pairs * std::exp2(-told * (level * bits / (radius + level)));
        if (cost < least) {
            least = cost;
            best = level;
        }
    }
    return best;
}

void NearPairsSearch::search_blocks(const PairSets& sets, Blocks blocks, uint64_t varying,
                                    bool sorted) {
    int length = path_length_;
    int bits = std::popcount(varying & ~path_bits()), radius = radius_ - path_length_;
    for (bool first = true; blocks.left() > 0 && !is_ended_; first = false) {
        uint64_t block = blocks.take();
        // The first block is the highest bits: sets that are in order are in order of it.
        if (!sorted || !first)
            sort_by(block, sets);
        // If bits are far from random, groups may be so large that comparing all is better.
        // The cost is estimated again, now that one block shows how far from random its bits are.
        if (first && levels(sets.a.count, sets.b.count, bits, radius, told_by(block, sets)) == 0) {
            compare_all(sets);
            break;
        }
        if (between_)
            search_groups_of_two(sets, block, sorted && first);
        else
            search_groups(sets.a, block, sorted && first);
        // From now on pairs that agree in this block have been taken.
        add_to_path(block);
    }
    shorten_path(length);
}

// How much each bit of a block tells, 0 to 1: computed from the probability that two members of the
// larger set agree in the block. Expects sets that are sorted by it.
double NearPairsSearch::told_by(uint64_t block, const PairSets& sets) {
    const FingerprintArray& set = sets.a.count > sets.b.count ? sets.a : sets.b;
    // The share of pairs that agree (each is counted twice), 2 ^ -bits if the bits are random.
    double squares = 0, count = double(set.count);
    for (size_t begin = 0; begin < set.count;) {
        size_t end = group_end(set, begin, block);
        squares += double(end - begin) * double(end - begin - 1);
        begin = end;
    }
    worked(set.count);
    if (squares == 0)
        return 1;
    return std::clamp(-std::log2(squares / (count * count)) / std::popcount(block), 0.0, 1.0);
}

void NearPairsSearch::sort_by(uint64_t block, const PairSets& sets) {
    BlockFirst order(block);
    auto number = [&order](uint64_t fingerprint) { return order.number(fingerprint); };
    for (const FingerprintArray& set : {sets.a, sets.b})
        radix_sort_by(std::span(set.fingerprints, set.count), std::span(set.scratch, set.count),
                      order.bits(), number, pause_);
    worked(3 * (sets.a.count + sets.b.count));
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
    BlockFirst order(block);
    for (size_t i = 0, j = 0; i < sets.a.count && j < sets.b.count;) {
        uint64_t of_a = order.number(sets.a.fingerprints[i]);
        uint64_t of_b = order.number(sets.b.fingerprints[j]);
        worked(1);
        if (of_a != of_b) {
            // Both sets are in order of the block: a merge, which stops where numbers are equal.
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

void NearPairsSearch::compare_all(const PairSets& sets) {
    if (between_)
        compare_between(sets.a, sets.b);
    else
        compare_within(sets.a);
}

// Works in tiles, so that both sides of large groups stay in the cache.
void NearPairsSearch::compare_within(const FingerprintArray& set) {
    for (size_t tile = 0; tile < set.count; tile += kMaxMatchColumns) {
        size_t end = std::min(tile + kMaxMatchColumns, set.count);
        // The rows of the tile are compared with those that follow them in it, then the tile with
        // all that follows it. `those` begins at the first row, which tells match() to take
        // each pair once.
        for (size_t row = tile; row < end; row += kMaxMatchRows)
            compare(set.fingerprints + row, std::min(kMaxMatchRows, end - row),
                    set.fingerprints + row, end - row);
        compare_between(set.part(tile, end), set.part(end, set.count));
    }
}

void NearPairsSearch::compare_between(const FingerprintArray& these,
                                      const FingerprintArray& those) {
    // 16 kB of columns stay in the first cache while all rows pass by.
    for (size_t tile = 0; tile < those.count; tile += kMaxMatchColumns)
        for (size_t row = 0; row < these.count; row += kMaxMatchRows)
            compare(these.fingerprints + row, std::min(kMaxMatchRows, these.count - row),
                    those.fingerprints + tile, std::min(kMaxMatchColumns, those.count - tile));
}

// Takes at most as many as match() takes.
void NearPairsSearch::compare(const uint64_t* these, size_t rows, const uint64_t* those,
                              size_t columns) {
    if (is_ended_)
        return;
    size_t found = match(these, rows, those, columns, radius_, matches_);
    for (size_t i = 0; i < found; i++)
        report(these[matches_[i].row], those[matches_[i].column]);
    // A match costs more than a comparison, as it is reported.
    worked(rows * columns + found * 4);
}

void NearPairsSearch::report(uint64_t a, uint64_t b) {
    for (int i = 0; i < path_length_; i++)
        // It was taken in the groups of that block.
        if (((a ^ b) & path_[i]) == 0)
            return;
    if (!between_ && a > b)
        std::swap(a, b);
    is_ended_ = is_ended_ || !receiver_.pair(a, b);
}

} // namespace simhash
