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
// Memory for n distinct fingerprints: themselves with their sorted positions (12 bytes), and the
// same again to sort into (12).
#include "core/whole/near_pairs.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/bits/distance.hpp"
#include "core/bits/highest.hpp"
#include "core/whole/match.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {
namespace {

constexpr size_t kWorkPerPause = size_t{1} << 21; // comparisons or moves
constexpr int kMaxBlockBits = 24;
constexpr int kMaxDigitBits = 11;
constexpr int kMaxPasses = 3;
constexpr int kMaxEarlierBlocks = 512; // on a path of nested groups

// A fingerprint's bits in a block of at most kMaxBlockBits, as a number: one shift for every
// segment of adjacent bits.
class BlockBits {
  public:
    explicit BlockBits(uint64_t block) {
        int below = 0; // bits already taken from lower segments
        for (uint64_t rest = block; rest != 0; ++segment_count_) {
            int low = std::countr_zero(rest);
            int length = std::countr_one(rest >> low);
            uint64_t ones = ~uint64_t{0} >> (kFingerprintBits - length);
            shifts_[segment_count_] = low - below;
            masks_[segment_count_] = ones << below;
            rest &= ~(ones << low);
            below += length;
        }
    }

    uint32_t operator()(uint64_t fingerprint) const {
        uint64_t number = fingerprint >> shifts_[0] & masks_[0];
        for (int i = 1; i < segment_count_; ++i)
            number |= fingerprint >> shifts_[i] & masks_[i];
        return uint32_t(number);
    }

  private:
    int segment_count_ = 0;
    int shifts_[kMaxBlockBits];
    uint64_t masks_[kMaxBlockBits];
};

class NearPairsSearch {
  public:
    NearPairsSearch(int radius, const NearPairsMemory& memory, const NearPairsReceiver& receiver,
                    Pause pause)
        : radius_(radius), memory_(memory), receiver_(receiver), pause_(pause),
          match_(best_matcher()) {}

    // sorted: whether the members are in order of fingerprints.
    void search(size_t begin, size_t end, bool sorted) {
        uint64_t varying = varying_bits(begin, end);
        if (receiver_.all_pairs != nullptr && std::popcount(varying) <= radius_) {
            receiver_.all_pairs(receiver_.context, memory_.positions + begin, end - begin);
            return;
        }
        int bits = block_bits(end - begin, std::popcount(varying));
        if (bits > 0)
            search_blocks(begin, end, varying, bits, sorted);
        else
            compare_all(begin, end);
    }

  private:
    uint64_t* fingerprints() const { return memory_.fingerprints; }

    void worked(size_t work) {
        work_ += work;
        if (work_ >= kWorkPerPause) {
            work_ = 0;
            pause_();
        }
    }

    uint64_t varying_bits(size_t begin, size_t end) {
        uint64_t varying = 0;
        for (size_t i = begin; i < end; ++i)
            varying |= fingerprints()[begin] ^ fingerprints()[i];
        worked((end - begin) / 4);
        return varying;
    }

    // Length of the blocks to cut `varying` bits into; 0 where comparing all pairs of `count`
    // fingerprints costs no more. One move costs about as much as kMove comparisons.
    int block_bits(size_t count, int varying) const {
        constexpr double kMove = 24;
        int blocks = radius_ + 1;
        int bits = std::min({varying / blocks, int(std::bit_width(count)) + 1, kMaxBlockBits});
        if (bits == 0 || earlier_count_ + blocks > kMaxEarlierBlocks)
            return 0;
        double n = double(count);
        double per_group = n / double(size_t{1} << bits);
        double by_blocks = blocks * n * (kMove + per_group / 2);
        return by_blocks < n * n / 2 ? bits : 0;
    }

    void search_blocks(size_t begin, size_t end, uint64_t varying, int bits, bool sorted) {
        int blocks = radius_ + 1;
        int spacing = std::popcount(varying) / blocks; // bits beyond `bits` are passed over
        int earlier_before = earlier_count_;
        for (int i = 0; i < blocks; ++i) {
            uint64_t block = highest_ones(varying, bits);
            varying ^= highest_ones(varying, spacing);
            if (!(sorted && i == 0))
                sort_by_block(begin, end, block, bits);
            search_groups(begin, end, block, sorted && i == 0);
            earlier_[earlier_count_++] = block;
        }
        earlier_count_ = earlier_before;
    }

    void search_groups(size_t begin, size_t end, uint64_t block, bool sorted) {
        while (begin < end) {
            size_t group_end = begin + 1;
            while (group_end < end &&
                   ((fingerprints()[begin] ^ fingerprints()[group_end]) & block) == 0)
                ++group_end;
            worked(group_end - begin);
            if (group_end - begin > 1)
                search(begin, group_end, sorted);
            begin = group_end;
        }
    }

    // ---- dividing ----

    // Radix sort of the fingerprints, with their positions, by the bits of a block. Digits are
    // short where the data is larger than the cache, so that each digit's writes stay within a page
    // of their own.
    void sort_by_block(size_t begin, size_t end, uint64_t block, int bits) {
        constexpr size_t kInCache = size_t{1} << 16;
        int longest = end - begin > kInCache ? 8 : kMaxDigitBits;
        int passes = (bits + longest - 1) / longest;
        int digit_bits = (bits + passes - 1) / passes;
        BlockBits number(block);
        count_digits(begin, end, number, passes, digit_bits);
        for (int pass = 0; pass < passes; ++pass)
            move_by_digit(begin, end, number, pass, digit_bits);
        if (passes % 2 == 1)
            copy_back(begin, end);
    }

    void count_digits(size_t begin, size_t end, const BlockBits& number, int passes,
                      int digit_bits) {
        uint32_t digit_mask = (uint32_t{1} << digit_bits) - 1;
        for (int pass = 0; pass < passes; ++pass)
            std::fill_n(counts_[pass], digit_mask + 1, 0);
        in_pieces(
            end - begin,
            [&](size_t from, size_t to) {
                for (size_t i = begin + from; i < begin + to; ++i) {
                    uint32_t key = number(fingerprints()[i]);
                    for (int pass = 0; pass < passes; ++pass)
                        ++counts_[pass][key >> (pass * digit_bits) & digit_mask];
                }
            },
            pause_);
        for (int pass = 0; pass < passes; ++pass) {
            uint32_t start = 0; // counts become positions in the group
            for (uint32_t digit = 0; digit <= digit_mask; ++digit)
                start += std::exchange(counts_[pass][digit], start);
        }
        worked(end - begin);
    }

    // From the arrays to the scratch, which on odd passes have changed their roles.
    void move_by_digit(size_t begin, size_t end, const BlockBits& number, int pass,
                       int digit_bits) {
        bool back = pass % 2 == 1;
        uint64_t* from = (back ? memory_.fingerprint_scratch : memory_.fingerprints) + begin;
        uint64_t* to = (back ? memory_.fingerprints : memory_.fingerprint_scratch) + begin;
        uint32_t* from_position = (back ? memory_.position_scratch : memory_.positions) + begin;
        uint32_t* to_position = (back ? memory_.positions : memory_.position_scratch) + begin;
        uint32_t* next = counts_[pass];
        int shift = pass * digit_bits;
        uint32_t digit_mask = (uint32_t{1} << digit_bits) - 1;
        in_pieces(
            end - begin,
            [&](size_t first, size_t last) {
                for (size_t i = first; i < last; ++i) {
                    uint32_t place = next[number(from[i]) >> shift & digit_mask]++;
                    to[place] = from[i];
                    to_position[place] = from_position[i];
                }
            },
            pause_);
        worked(end - begin);
    }

    void copy_back(size_t begin, size_t end) {
        std::copy(memory_.fingerprint_scratch + begin, memory_.fingerprint_scratch + end,
                  memory_.fingerprints + begin);
        std::copy(memory_.position_scratch + begin, memory_.position_scratch + end,
                  memory_.positions + begin);
        worked(end - begin);
    }

    // ---- comparing ----

    // In tiles, so that both sides of large groups stay in the cache.
    void compare_all(size_t begin, size_t end) {
        for (size_t row = begin; row < end; row += kMaxMatchCount)
            for (size_t column = row; column < end; column += kMaxMatchCount)
                compare_tile(row, std::min(row + kMaxMatchCount, end), column,
                             std::min(column + kMaxMatchCount, end));
    }

    void compare_tile(size_t row, size_t row_end, size_t column, size_t column_end) {
        for (; row < row_end; ++row) {
            size_t from = std::max(column, row + 1);
            if (from >= column_end)
                continue;
            size_t found = match_(fingerprints()[row], fingerprints() + from, column_end - from,
                                  radius_, matches_);
            for (size_t i = 0; i < found; ++i)
                report(row, from + matches_[i]);
            worked(column_end - from + found * 4);
        }
    }

    void report(size_t i, size_t j) {
        uint64_t differences = fingerprints()[i] ^ fingerprints()[j];
        for (int k = 0; k < earlier_count_; ++k)
            if ((differences & earlier_[k]) == 0)
                return;
        uint32_t a = memory_.positions[i], b = memory_.positions[j];
        receiver_.pair(receiver_.context, std::min(a, b), std::max(a, b));
    }

    int radius_; // 1..64
    NearPairsMemory memory_;
    NearPairsReceiver receiver_;
    Pause pause_;
    Matcher match_;
    size_t work_ = 0; // since the last pause
    int earlier_count_ = 0;
    uint64_t earlier_[kMaxEarlierBlocks]; // blocks in which a pair must differ to be taken here
    uint32_t counts_[kMaxPasses][1 << kMaxDigitBits];
    uint16_t matches_[kMaxMatchCount];
};

} // namespace

void find_near_pairs(const NearPairsMemory& memory, int radius, const NearPairsReceiver& receiver,
                     Pause pause) {
    if (radius < 1 || memory.count < 2)
        return;
    one_by_one(
        memory.count, [&](size_t i) { memory.positions[i] = uint32_t(i); }, pause);
    NearPairsSearch(radius, memory, receiver, pause).search(0, memory.count, true);
    one_by_one(
        memory.count,
        [&](size_t i) { memory.fingerprint_scratch[memory.positions[i]] = memory.fingerprints[i]; },
        pause);
    one_by_one(
        memory.count, [&](size_t i) { memory.fingerprints[i] = memory.fingerprint_scratch[i]; },
        pause);
}

} // namespace simhash
