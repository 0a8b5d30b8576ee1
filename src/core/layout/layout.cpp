// Layouts by recursive blocks (Manku, Jain, Das Sarma, WWW 2007, section 3.1).
//
// Cut a lane into m blocks. At most `radius` of them can hold the differences of two lanes within
// the radius, so some m - radius blocks are equal. There is one table for each choice of m - radius
// blocks, C(m, radius) tables, and its prefix is the chosen blocks. The rest of the lane can be cut
// again in the same way, which gives more tables with longer prefixes:
//
//   radius 3, m = 4       |  A 16  |  B 16  |  C 16  |  D 16  |      tables A, B, C, D: 16 bits
//   and once more for A   |  A 16  | E 12 | F 12 | G 12 | H 12 |     tables AE, AF, AG, AH: 28 bits
//
// A longer prefix means fewer candidates per probe; more tables mean more space and more probes. If
// the shortest prefix of a lane of n bits is to have P bits, n - P bits are "free". Moving blocks
// into the prefix shortens the lane but does not change the number of free bits, so the recursion
// depends only on the length of the remaining lane and the free bits. Dynamic programming, from
// short lanes to long ones, finds the fewest tables for each length. If a prefix takes a single
// block (m = radius + 1), the blocks may be of unequal size, so that one may be cut further and
// another not: 7 tables at radius 3 are three blocks of 19 bits and one of 7 that is cut again.
// Bisection then finds the longest prefix that stays within the number of tables.
#include "core/layout/layout.hpp"

#include <algorithm>
#include <bit>

#include "core/bits/distance.hpp"
#include "core/bits/highest.hpp"
#include "core/layout/blocks.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {
namespace {

// It stands for every greater number, so that sums and products stay small.
constexpr int kTooMany = kMaxTables + 1;

// C(n, k), saturating at kTooMany.
int choices(int n, int k) {
    if (k < 0 || k > n)
        return 0;
    int64_t result = 1;
    for (int i = 1; i <= k; i++) {
        // The result is C(n - k + i, i), a whole number at each step.
        result = result * (n - k + i) / i;
        if (result >= kTooMany)
            return kTooMany;
    }
    return int(result);
}

// How a lane of a certain length is cut. It has no blocks if its table needs no longer prefix.
struct Cut {
    int tables; // fewest tables, or kTooMany
    int block_count;
    uint8_t block_bits[kMaxTables]; // [block_count], largest first
};

// The best cuts of all lane lengths for one number of free bits.
class Construction {
  public:
    Construction(int lane_bits, int radius, int free_bits)
        : lane_bits_(lane_bits), radius_(radius) {
        for (int n = 0; n <= lane_bits; n++) {
            // A lane of no more than the free bits needs no further prefix: one table. Longer ones
            // are cut, and what is left of them is shorter, so its cut is known already.
            cuts_[n] = {n <= free_bits ? 1 : kTooMany, 0, {}};
            if (n > free_bits) {
                cut_into_equal_blocks(n);
                cut_into_single_blocks(n);
            }
        }
    }

    int tables() const { return cuts_[lane_bits_].tables; }

    void write_tables(Layout& layout) const {
        layout.table_count = 0;
        write_tables(leading_mask(lane_bits_), 0, layout);
    }

  private:
    // m > radius + 1 blocks, whose lengths differ by at most one bit; any m - radius of them.
    void cut_into_equal_blocks(int n) {
        if (radius_ == 0)
            return; // the only choice is all the blocks
        // Each choice of blocks is a table at least, so more choices than kMaxTables are of no use.
        for (int m = radius_ + 2; m <= n && choices(m, radius_) < kTooMany; m++) {
            int tables = tables_of_equal_blocks(n, m);
            if (tables >= cuts_[n].tables)
                continue;
            cuts_[n].tables = tables;
            cuts_[n].block_count = m;
            for (int i = 0; i < m; i++)
                cuts_[n].block_bits[i] = uint8_t(n / m + (i < n % m ? 1 : 0));
        }
    }

    int tables_of_equal_blocks(int n, int m) const {
        int longer = n % m; // blocks of one bit more
        int chosen = m - radius_;
        int tables = 0;
        // What is left of the lane depends only on how many of the longer blocks are chosen.
        for (int j = 0; j <= std::min(longer, chosen); j++) { // longer blocks among the chosen
            int times = choices(longer, j) * choices(m - longer, chosen - j);
            if (times > 0)
                tables += times * cuts_[n - chosen * (n / m) - j].tables;
            if (tables >= kTooMany)
                return kTooMany;
        }
        return tables;
    }

    // radius + 1 blocks of any lengths, one of them in each prefix: a knapsack problem.
    // fewest[j][s] is the fewest tables for j blocks of s bits in all.
    void cut_into_single_blocks(int n) {
        int m = radius_ + 1;
        if (m > n || m > kMaxTables)
            return;
        uint8_t fewest[kMaxTables + 1][kFingerprintBits + 1];
        uint8_t last[kMaxTables + 1][kFingerprintBits + 1]; // bits of the j-th block
        std::fill_n(&fewest[0][0], sizeof(fewest), uint8_t{kTooMany});
        fewest[0][0] = 0;
        for (int j = 1; j <= m; j++)
            // Each block has a bit at least: those before and those after.
            for (int s = j; s <= n - (m - j); s++)
                for (int b = 1; b <= s - (j - 1); b++) {
                    int tables = fewest[j - 1][s - b] + cuts_[n - b].tables;
                    if (tables < fewest[j][s]) {
                        fewest[j][s] = uint8_t(tables);
                        last[j][s] = uint8_t(b);
                    }
                }
        if (fewest[m][n] >= cuts_[n].tables)
            return;
        Cut& cut = cuts_[n];
        cut.tables = fewest[m][n];
        cut.block_count = m;
        for (int j = m, s = n; j > 0; s -= last[j][s], j--)
            cut.block_bits[j - 1] = last[j][s];
        // The largest block is then the lane's leading bits.
        std::sort(cut.block_bits, cut.block_bits + m, [](int a, int b) { return a > b; });
    }

    // The tables whose prefix is `prefix` and the blocks that the cuts of the remaining `lane` add.
    void write_tables(uint64_t lane, uint64_t prefix, Layout& layout) const {
        const Cut& cut = cuts_[std::popcount(lane)];
        if (cut.block_count == 0) {
            add_table(prefix, layout);
            return;
        }
        uint64_t blocks[kMaxTables];
        uint64_t rest = lane;
        for (int i = 0; i < cut.block_count; i++) {
            blocks[i] = highest_ones(rest, cut.block_bits[i]);
            rest ^= blocks[i];
        }
        write_choices(lane, prefix, blocks, cut.block_count, cut.block_count - radius_, layout);
    }

    // Blocks taken in another order can give the same prefix, or a longer one, which finds nothing
    // that the shorter one does not.
    static void add_table(uint64_t prefix, Layout& layout) {
        for (int i = 0; i < layout.table_count; i++)
            // The table that is there has all of its bits in the prefix.
            if ((layout.masks[i] & ~prefix) == 0)
                return;
        layout.masks[layout.table_count++] = prefix;
    }

    // Every choice of `wanted` blocks, those with the leading blocks first.
    void write_choices(uint64_t lane, uint64_t prefix, const uint64_t* blocks, int block_count,
                       int wanted, Layout& layout) const {
        if (wanted == 0) {
            write_tables(lane, prefix, layout);
            return;
        }
        for (int i = 0; i + wanted <= block_count; i++)
            write_choices(lane & ~blocks[i], prefix | blocks[i], blocks + i + 1,
                          block_count - i - 1, wanted - 1, layout);
    }

    int lane_bits_;
    int radius_;
    Cut cuts_[kFingerprintBits + 1];
};

// With fewer than radius + 1 tables, each has one block.
Layout disjoint_blocks(int lane_bits, int radius, int tables) {
    Layout layout = {radius, tables, {}};
    for (int i = 0; i < tables; i++)
        layout.masks[i] = block_mask(lane_bits, tables, i);
    return layout;
}

} // namespace

Layout make_layout_for_width(int lane_bits, int radius, int max_tables) {
    if (max_tables <= radius || lane_bits <= radius)
        return disjoint_blocks(lane_bits, radius, std::min(max_tables, lane_bits));
    int most = lane_bits; // free bits that always suffice: one empty prefix
    // Fewer free bits mean a longer prefix and more tables, so bisection finds the limit.
    for (int least = 0; least < most;) { // find the fewest that need at most max_tables
        int middle = (least + most) / 2;
        if (Construction(lane_bits, radius, middle).tables() <= max_tables)
            most = middle;
        else
            least = middle + 1;
    }
    Layout layout = {radius, 0, {}};
    Construction(lane_bits, radius, most).write_tables(layout);
    return layout;
}

Layout make_layout(int radius, int max_tables) {
    return make_layout_for_width(kFingerprintBits, radius, max_tables);
}

int shortest_prefix_bits(const Layout& layout) {
    int shortest = kFingerprintBits;
    for (int i = 0; i < layout.table_count; i++)
        shortest = std::min(shortest, std::popcount(layout.masks[i]));
    return shortest;
}

} // namespace simhash
