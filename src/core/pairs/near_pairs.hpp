// All pairs of fingerprints within a radius, of one set or between two sets. near_pairs.cpp
// explains the search; spilled_pairs.hpp has it for more than memory holds.
//
// Nothing here allocates, and nothing needs to be cleaned up: a `Pause` may leave by longjmp.
#pragma once

#include <algorithm>
#include <bit>
#include <compare>

#include "core/bits/fingerprint.hpp"
#include "core/bits/function_ref.hpp"
#include "core/bits/pause.hpp"
#include "core/bits/simd.hpp"

namespace simhash {

// ---- fingerprints, and their order by a block ----

// Fingerprints in memory, with room to sort them by some of their bits, a block, so that those that
// agree in it are adjacent. The caller owns the memory.
struct FingerprintArray {
    uint64_t* fingerprints; // [count]
    uint64_t* scratch;      // [count]
    size_t count;

    FingerprintArray part(size_t begin, size_t end) const {
        return {fingerprints + begin, scratch + begin, end - begin};
    }
};

// Up to this many bits few passes sort by a block.
constexpr int kMaxBlockBits = 24;

// A permutation of the 64 bits that brings those of a block to the front. Each segment of adjacent
// bits is rotated to its place.
class BlockFirst {
  public:
    explicit BlockFirst(uint64_t block) : bits_(std::popcount(block)) {
        int placed = 0;
        for (uint64_t rest : {block, ~block})
            for (int length; rest != 0; placed += length, segment_count_++) {
                block_segment_count_ += placed < bits_;
                int above = std::countl_zero(rest);
                length = std::countl_one(rest << above);
                uint64_t segment = leading_mask(length) >> above;
                segments_[segment_count_] = {segment, above - placed};
                rest ^= segment;
            }
    }

    uint64_t apply(uint64_t fingerprint) const { return placed(fingerprint, segment_count_); }
    uint64_t invert(uint64_t key) const {
        uint64_t fingerprint = 0;
        for (int i = 0; i < segment_count_; i++)
            fingerprint |= std::rotr(key, segments_[i].rotation) & segments_[i].bits;
        return fingerprint;
    }

    // The bits of a block of one or more as a number, which has this many.
    int bits() const { return bits_; }
    uint64_t number(uint64_t fingerprint) const {
        return placed(fingerprint, block_segment_count_) >> (kFingerprintBits - bits_);
    }

  private:
    struct Segment {
        uint64_t bits; // before they are rotated
        int rotation;
    };

    uint64_t placed(uint64_t fingerprint, int segments) const {
        uint64_t key = std::rotl(fingerprint & segments_[0].bits, segments_[0].rotation);
        for (int i = 1; i < segments; i++)
            key |= std::rotl(fingerprint & segments_[i].bits, segments_[i].rotation);
        return key;
    }

    int bits_;
    int segment_count_ = 0, block_segment_count_ = 0; // those of the block are the first
    Segment segments_[kFingerprintBits];
};

// ---- the innermost loop (match.cpp), in the widest form that the processor has ----

// The most fingerprints that a call compares: each of these with each of those.
constexpr size_t kMaxMatchRows = 8;
constexpr size_t kMaxMatchColumns = 2048;
static_assert(kMaxMatchColumns <= UINT16_MAX, "Match has 16 bits for a position");

// A pair within the radius: positions among these and among those.
struct Match {
    uint16_t row;
    uint16_t column;

    friend auto operator<=>(const Match&, const Match&) = default;
};

// Writes the pairs of `these` and `those` within radius (>= 0) to `matches`, in no particular
// order, and returns their number. If both have the same address, each two are compared once, and
// none with itself: row < column. these: [rows], those: [columns], matches: [rows * columns],
// within the limits above. If both have the same address, columns >= rows.
size_t match(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns, int radius,
             Match* matches, SimdLevel highest = kHighestSimdLevel);

// ---- the search ----

// What receives the pairs. Both functions must outlive the search.
struct PairReceiver {
    // Called for every pair once, in no particular order. Within one set a < b; between two sets a
    // is of the first. False ends the search.
    FunctionRef<bool(uint64_t a, uint64_t b)> pair;
    // Called if all pairs of these fingerprints of one set are within the radius; a pair may then
    // be reported more than once. Without it these pairs are reported one by one.
    FunctionRef<void(const uint64_t* fingerprints, size_t count)> all_pairs = {};
};

// The sets to search. b is empty if there is only one. No set has a fingerprint twice.
struct PairSets {
    FingerprintArray a;
    FingerprintArray b = {nullptr, nullptr, 0};
};

constexpr size_t kMaxNearPairsCount = UINT32_MAX; // in each set

// Finds all pairs of different fingerprints of a sorted set within radius (0..64). Reorders it.
void find_near_pairs(const FingerprintArray& set, int radius, const PairReceiver& receiver,
                     Pause pause);

// Finds all pairs of a fingerprint of each of two sorted sets within radius (0..64), including
// equal ones. Changes the sets' order.
void find_pairs_between(const FingerprintArray& a, const FingerprintArray& b, int radius,
                        const PairReceiver& receiver, Pause pause);

// The disjoint blocks that a problem's bits are cut into, highest bits first. near_pairs.cpp
// explains their number and length.
class Blocks {
  public:
    Blocks() = default;

    // `count` blocks of at most `longest` bits each. levels: of blocks within blocks, 1 or more.
    Blocks(uint64_t bits, int count, int levels, int longest)
        : bits_(bits), left_(count), levels_(levels), longest_(longest) {}

    int left() const { return left_; }

    // The next block. Expects left() > 0.
    // With 8 bits, a radius of 2 and one level there are 3 blocks: the first has 8 / (2 + 1) = 2
    // bits, the second 6 / (1 + 1) = 3, the third 3 / (0 + 1) = 3.
    uint64_t take() {
        int length = std::popcount(bits_) / (--left_ + levels_);
        uint64_t block = highest_ones(bits_, std::min(length, longest_));
        bits_ ^= highest_ones(bits_, length); // bits beyond `longest_` are skipped
        return block;
    }

  private:
    uint64_t bits_ = 0; // bits that are not in a block yet
    int left_ = 0;
    int levels_ = 0;
    int longest_ = 0;
};

// The search. Its steps are public for the search of spilled sets, which holds a part of the
// fingerprints at a time.
class NearPairsSearch {
  public:
    // between: whether there are two sets. With one set, radius > 0.
    NearPairsSearch(bool between, int radius, const PairReceiver& receiver, Pause pause)
        : between_(between), radius_(radius), receiver_(receiver), pause_(pause) {}

    // Finds all pairs that differ in every block of the path. sorted: the sets are in order.
    void search(const PairSets& sets, bool sorted);

    // The same by comparing each with each: within one set, or these with those.
    void compare_within(const FingerprintArray& set);
    void compare_between(const FingerprintArray& these, const FingerprintArray& those);

    // The blocks to cut `varying` bits into; none if comparing all pairs costs no more.
    Blocks blocks_of(size_t a_count, size_t b_count, uint64_t varying) const;

    // Whether all fingerprints that differ only in these bits are pairs that are taken in bulk.
    bool all_are_pairs(uint64_t varying) const;

    // The path. Pairs that agree in one of its blocks are not taken.
    // The caller shortens the path to its former length when its own problem is done.
    void add_to_path(uint64_t block) { path_[path_length_++] = block; }
    int path_length() const { return path_length_; }
    void shorten_path(int length) { path_length_ = length; }

    // True when the receiver has ended the search. From then on every step returns at once.
    bool is_ended() const { return is_ended_; }

    // Counts work of so many comparisons or moves, and pauses now and then.
    void worked(size_t work);

  private:
    // The blocks of a path are disjoint, and each has a bit or more.
    static constexpr int kMaxPathLength = kFingerprintBits;

    uint64_t varying_bits(const PairSets& sets);
    uint64_t path_bits() const;
    int levels(size_t a_count, size_t b_count, int bits, int radius, double told) const;
    double told_by(uint64_t block, const PairSets& sets);
    void sort_by(uint64_t block, const PairSets& sets);
    void compare_all(const PairSets& sets);
    void search_blocks(const PairSets& sets, Blocks blocks, uint64_t varying, bool sorted);
    void search_groups(const FingerprintArray& set, uint64_t block, bool sorted);
    void search_groups_of_two(const PairSets& sets, uint64_t block, bool sorted);
    void compare(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns);
    void report(uint64_t a, uint64_t b);

    bool between_;
    int radius_;
    PairReceiver receiver_;
    Pause pause_;
    size_t work_ = 0; // since the last pause
    bool is_ended_ = false;
    int path_length_ = 0;
    uint64_t path_[kMaxPathLength];
    // The most that one call of match() finds: 64 kB. So the object is made once for a search.
    Match matches_[kMaxMatchRows * kMaxMatchColumns];
};

} // namespace simhash
