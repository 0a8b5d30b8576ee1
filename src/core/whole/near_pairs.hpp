// All pairs of fingerprints within a radius: of one set, or of one from each of two sets. See
// near_pairs.cpp for the search; spilled_pairs.hpp has it for more than memory holds.
//
// Nothing here allocates, and nothing here needs to be cleaned up: a `Pause` may leave by longjmp.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/bits/distance.hpp"
#include "core/bits/highest.hpp"
#include "core/bits/pause.hpp"
#include "core/whole/block_sort.hpp"
#include "core/whole/fingerprint_array.hpp"
#include "core/whole/match.hpp"

namespace simhash {

// Who hears of the pairs.
struct PairReceiver {
    // Every pair once, in no particular order. Within one set a < b; between two, a is of the first.
    void (*pair)(void* context, uint64_t a, uint64_t b);
    // All pairs of these fingerprints of one set are within the radius. Null: they are to be given
    // one by one. Otherwise such pairs may be told of more than once.
    void (*all_pairs)(void* context, const uint64_t* fingerprints, size_t count);
    void* context;
};

// What is searched: one set, and nothing in b; or two sets. None has a fingerprint twice.
struct PairSets {
    FingerprintArray a;
    FingerprintArray b = {nullptr, nullptr, 0};
};

constexpr size_t kMaxNearPairsCount = UINT32_MAX; // in each set

// Finds all pairs of different fingerprints of a sorted set within radius (0..64). Leaves it in
// another order.
void find_near_pairs(const FingerprintArray& set, int radius, const PairReceiver& receiver,
                     Pause pause);

// Finds all pairs of a fingerprint of each of two sorted sets within radius (0..64), equal ones
// also. Leaves the sets in another order.
void find_pairs_between(const FingerprintArray& a, const FingerprintArray& b, int radius,
                        const PairReceiver& receiver, Pause pause);

// The disjoint blocks that a problem's bits are cut into, from the first on. See near_pairs.cpp for
// their number and length.
class Blocks {
  public:
    // None.
    Blocks() = default;

    // count: of blocks, of at most `longest` bits each. levels: of blocks within blocks, 1 or more.
    Blocks(uint64_t bits, int count, int levels, int longest)
        : bits_(bits), left_(count), levels_(levels), longest_(longest) {}

    int left() const { return left_; }

    // The next one, while some are left.
    uint64_t take() {
        int length = std::popcount(bits_) / (--left_ + levels_);
        uint64_t block = highest_ones(bits_, std::min(length, longest_));
        bits_ ^= highest_ones(bits_, length); // those beyond the longest are passed over
        return block;
    }

  private:
    uint64_t bits_ = 0; // that are not cut yet
    int left_ = 0;
    int levels_ = 0;
    int longest_ = 0;
};

// The search, and its steps for who holds a part of the fingerprints at a time.
class NearPairsSearch {
  public:
    // between: two sets; otherwise radius > 0.
    NearPairsSearch(bool between, int radius, const PairReceiver& receiver, Pause pause)
        : between_(between), radius_(radius), receiver_(receiver), pause_(pause),
          match_(best_matcher()) {}

    // All pairs that differ in every block of the path. sorted: whether the sets are in order.
    void search(const PairSets& sets, bool sorted);

    // The same, of those that agree in a block.
    void search_block(const PairSets& sets, uint64_t block);

    // The same, by comparing each with each: of one set's fingerprints, or of these with those.
    void compare_within(const FingerprintArray& set);
    void compare_between(const FingerprintArray& these, const FingerprintArray& those);

    // The blocks to cut `varying` bits into; none where comparing all pairs costs no more.
    Blocks blocks_of(size_t a_count, size_t b_count, uint64_t varying) const;

    // Whether any two fingerprints that differ in these bits at most are a pair for the receiver.
    bool all_are_pairs(uint64_t varying) const;

    // The path: pairs that agree in one of its blocks are not taken.
    void add_to_path(uint64_t block) { path_[path_length_++] = block; }
    int path_length() const { return path_length_; }
    void shorten_path(int length) { path_length_ = length; }

  private:
    static constexpr int kMaxPathLength = kFingerprintBits;

    uint64_t varying_bits(const PairSets& sets);
    uint64_t path_bits() const;
    int levels(size_t a_count, size_t b_count, int bits, int radius, double told) const;
    double told_by(uint64_t block, const PairSets& sets);
    void sort_by(uint64_t block, const PairSets& sets);
    void search_groups_of(const PairSets& sets, uint64_t block, bool sorted);
    void compare_all(const PairSets& sets);
    void search_blocks(const PairSets& sets, Blocks blocks, uint64_t varying, bool sorted);
    void search_groups(const FingerprintArray& set, uint64_t block, bool sorted);
    void search_groups_of_two(const PairSets& sets, uint64_t block, bool sorted);
    void compare(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns);
    void report(uint64_t a, uint64_t b);
    void worked(size_t work);

    bool between_;
    int radius_;
    PairReceiver receiver_;
    Pause pause_;
    Matcher match_;
    BlockSort block_sort_;
    size_t work_ = 0; // since the last pause
    int path_length_ = 0;
    uint64_t path_[kMaxPathLength];
    Match matches_[kMaxMatchRows * kMaxMatchColumns];
};

} // namespace simhash
