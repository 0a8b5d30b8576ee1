// All pairs within a radius, by blocks (the batch problem of Manku, Jain, Das Sarma, WWW 2007).
//
// Cut the bits into radius + 1 blocks: two fingerprints within the radius agree in one of them at
// least. So bring together, block by block, the fingerprints that agree in it (a "run") and look
// for pairs within each run. A pair that agrees in several blocks is taken in the first of them
// only:
//
//     radius 1, blocks AB and CD        a = 01 10    b = 01 11    c = 11 10
//     runs of block AB:  {a, b}, {c}    a b differ in one bit: a pair
//     runs of block CD:  {a, c}, {b}    a c: a pair, and they differ in block AB: not seen before
//
// A run is a smaller problem of the same kind, on the bits in which its members still differ: it is
// compared pair by pair where it is short, and cut into blocks of those bits where it is long. So
// the number of block tables follows from the number of fingerprints, and fingerprints that share
// many bits (a skewed run) are divided by the others. For 10 million random ones and radius 3, a
// run has 150 members: four passes over the data, each comparing 75 times per fingerprint what the
// cache already holds.
//
// A path of nested runs carries the blocks that came before those it chose: a pair is taken where
// it differs in every one of them. Blocks may be cut short where fewer bits divide well enough; the
// rule needs radius + 1 disjoint blocks, whatever their lengths.
//
// Memory for n distinct fingerprints: themselves with their sorted positions (12 bytes), the same
// again to sort into (12), and the labels (4): 28 bytes. Afterwards, the sorted ones, the labels
// and the table of names (18): 30.
#include "core/whole/near_pairs.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/bits/distance.hpp"
#include "core/whole/match.hpp"
#include "core/whole/radix_sort.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {
namespace {

constexpr size_t kWorkPerPause = size_t{1} << 21; // comparisons or moves
constexpr int kMaxBlockBits = 24;
constexpr int kMaxDigitBits = 11;
constexpr int kMaxPasses = 3;
constexpr int kMaxEarlierBlocks = 512; // on a path of nested runs

// A fingerprint's bits in a block of at most kMaxBlockBits, as a number: one shift for every run of
// adjacent bits.
class BlockBits {
  public:
    explicit BlockBits(uint64_t block) {
        int below = 0; // bits already taken from lower runs
        for (uint64_t rest = block; rest != 0; ++run_count_) {
            int low = std::countr_zero(rest);
            int length = std::countr_one(rest >> low);
            uint64_t ones = ~uint64_t{0} >> (kFingerprintBits - length);
            shifts_[run_count_] = low - below;
            masks_[run_count_] = ones << below;
            rest &= ~(ones << low);
            below += length;
        }
    }

    uint32_t operator()(uint64_t fingerprint) const {
        uint64_t number = fingerprint >> shifts_[0] & masks_[0];
        for (int i = 1; i < run_count_; ++i)
            number |= fingerprint >> shifts_[i] & masks_[i];
        return static_cast<uint32_t>(number);
    }

  private:
    int run_count_ = 0;
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
        int bits = std::min(
            {varying / blocks, static_cast<int>(std::bit_width(count)) + 1, kMaxBlockBits});
        if (bits == 0 || earlier_count_ + blocks > kMaxEarlierBlocks)
            return 0;
        double n = static_cast<double>(count);
        double per_run = n / static_cast<double>(size_t{1} << bits);
        double by_blocks = blocks * n * (kMove + per_run / 2);
        return by_blocks < n * n / 2 ? bits : 0;
    }

    void search_blocks(size_t begin, size_t end, uint64_t varying, int bits, bool sorted) {
        int blocks = radius_ + 1;
        int spacing = std::popcount(varying) / blocks; // bits beyond `bits` are passed over
        int earlier_before = earlier_count_;
        for (int i = 0; i < blocks; ++i) {
            uint64_t block = 0;
            for (int taken = 0; taken < spacing; ++taken) {
                uint64_t bit = std::bit_floor(varying);
                varying ^= bit;
                block |= taken < bits ? bit : 0;
            }
            if (!(sorted && i == 0))
                sort_by_block(begin, end, block, bits);
            search_runs(begin, end, block, sorted && i == 0);
            earlier_[earlier_count_++] = block;
        }
        earlier_count_ = earlier_before;
    }

    void search_runs(size_t begin, size_t end, uint64_t block, bool sorted) {
        while (begin < end) {
            size_t run_end = begin + 1;
            while (run_end < end &&
                   ((fingerprints()[begin] ^ fingerprints()[run_end]) & block) == 0)
                ++run_end;
            worked(run_end - begin);
            if (run_end - begin > 1)
                search(begin, run_end, sorted);
            begin = run_end;
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
            uint32_t start = 0; // counts become positions in the run
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

    // In tiles, so that both sides of long runs stay in the cache.
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

// Calls step(i) for 0 .. count - 1, with pauses.
template <typename Step>
void for_each_position(size_t count, const Step& step, Pause pause) {
    in_pieces(
        count,
        [&](size_t begin, size_t end) {
            for (size_t i = begin; i < end; ++i)
                step(i);
        },
        pause);
}

} // namespace

size_t sort_distinct(std::span<uint64_t> fingerprints, std::span<uint64_t> scratch, Pause pause) {
    constexpr size_t kFew = 512; // where the radix sort's counters cost more than it saves
    if (fingerprints.size() <= kFew)
        std::sort(fingerprints.begin(), fingerprints.end());
    else
        radix_sort(fingerprints, scratch, pause);
    size_t kept = 0;
    for_each_position(
        fingerprints.size(),
        [&](size_t i) {
            if (kept == 0 || fingerprints[kept - 1] != fingerprints[i])
                fingerprints[kept++] = fingerprints[i];
        },
        pause);
    return kept;
}

void find_near_pairs(const NearPairsMemory& memory, int radius, const NearPairsReceiver& receiver,
                     Pause pause) {
    if (radius < 1 || memory.count < 2)
        return;
    for_each_position(
        memory.count, [&](size_t i) { memory.positions[i] = static_cast<uint32_t>(i); }, pause);
    NearPairsSearch(radius, memory, receiver, pause).search(0, memory.count, true);
    for_each_position(
        memory.count,
        [&](size_t i) { memory.fingerprint_scratch[memory.positions[i]] = memory.fingerprints[i]; },
        pause);
    for_each_position(
        memory.count, [&](size_t i) { memory.fingerprints[i] = memory.fingerprint_scratch[i]; },
        pause);
}

void find_clusters(const NearPairsMemory& memory, int radius, uint32_t* labels, Pause pause) {
    for_each_position(
        memory.count, [&](size_t i) { labels[i] = static_cast<uint32_t>(i); }, pause);
    find_near_pairs(memory, radius, {unite_pair, unite_all, labels}, pause);
    for_each_position( // a parent is never to the right of its child
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
