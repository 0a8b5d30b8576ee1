// Probe plans: proven complete, and the cheapest that can be found in bounded time.
//
// A plan is a set of tables, each with an effective mask m_i (some leading bits of its permuted
// key) and a threshold t_i. It sees a fingerprint that differs from the query in the bits x where,
// for some i, popcount(x & m_i) <= t_i. It is complete for a radius if no x of at most `radius`
// bits escapes all tables. The masks cut the 64 bits into atoms (an atom's bits lie in the same
// masks). An escaping x is described by its number of bits e_a in each atom:
//
//     0 <= e_a <= |a|   and   for every i:  sum of e_a over the atoms of m_i  >=  t_i + 1
//
// So a plan is complete if and only if every solution has sum(e_a) > radius. For disjoint masks
// that is sum(t_i + 1) > radius, the pigeonhole principle:
//
//     4 disjoint blocks:  t = 0 0 0 0  complete up to 3
//                         t = 1 0 0 0  up to 4:  5 differences would have to be placed
//                         t = 0 0 - -  up to 1:  two probes suffice
//
// Disjoint blocks in a circle allow more than that. Give each block the number e_i - (t_i + 1), or
// e_i if it has no probe: these sum to less than 0. Then there is a block from which all partial
// sums round the circle are less than 0: its own number, its own plus the next, and so on (the
// cycle lemma; Qin and Xiao search by it, VLDB 2018). So every fingerprint within the radius is
// still seen if each probe i with t_i = 0 looks only for fingerprints that also have
//
//     no difference between block i and the next block with a probe, j, and
//     at most t_j + 1 differences in block j
//
// The bits of a key go round in the same way (Permutation), so these are the bits after the probe's
// prefix. The first condition lengthens the prefix. The second, if t_j = 0, cuts a large range into
// slices (Slices).
//
// For overlapping masks the sum is too large, because one differing bit counts in several tables:
// with C(5,2) = 10 tables at t = 0 the sum says 9, the truth is 3. For these, branch and bound
// looks for an escaping x. If it does not find within its budget of nodes that there is none, the
// plan is not used.
//
// The planner tries table 0 alone with any prefix and threshold `radius`; families of tables with
// disjoint effective masks, whose cheapest thresholds dynamic programming finds; all tables with
// one threshold, then greedily fewer tables and lower thresholds; and reading everything.
#include "core/layout/probe_plan.hpp"

#include <algorithm>
#include <cmath>

#include "core/bits/ball_size.hpp"
#include "core/bits/distance.hpp"
#include "core/bits/highest.hpp"
#include "core/layout/blocks.hpp"
#include "core/bits/standalone.hpp"

namespace simhash {
namespace {

constexpr int kBits = kFingerprintBits;
constexpr double kInfinite = 1e300;
constexpr int kPlanNodeBudget = 2500; // steps of all proofs for one plan: about two milliseconds
constexpr int kProofNodeBudget = 500; // of one proof

// The fingerprint bits that are the leading prefix_bits of the permuted key: the mask's highest
// bits and, for a prefix longer than the mask (table 0), the highest of the others.
uint64_t effective_mask(uint64_t mask, int prefix_bits) {
    return highest_ones(mask, prefix_bits) | highest_ones(~mask, prefix_bits - std::popcount(mask));
}

// The cheapest prefix for each length of mask and threshold, computed on first use.
// A shorter prefix has no more ranges to visit, and more candidates in them. Between both is the
// cheapest.
class Prices {
  public:
    Prices(double entries, const ProbeCosts& costs) : entries_(entries), costs_(costs) {}

    double visits(int prefix_bits, int threshold) const {
        return ball_size(prefix_bits, threshold);
    }
    double candidates(int prefix_bits, int threshold) const {
        // This takes the fingerprints for random: it is the share of prefixes within the threshold.
        return ball_share(prefix_bits, threshold) * entries_;
    }
    double cost(int prefix_bits, int threshold) const {
        return visits(prefix_bits, threshold) * costs_.visit +
               candidates(prefix_bits, threshold) * costs_.candidate;
    }

    // mask_bits: the longest prefix, 1..64. Infinite if the threshold admits every prefix.
    double best_cost(int mask_bits, int threshold) {
        fill(mask_bits);
        return threshold < mask_bits ? cost_[mask_bits][threshold] : kInfinite;
    }
    int best_prefix(int mask_bits, int threshold) {
        fill(mask_bits);
        return prefix_[mask_bits][threshold];
    }

    // For a probe that looks at slices. Its cost includes finding them.
    double slice_candidates(int prefix_bits, int slice_bits) const {
        // The slices are n + 1 of the range's 2^n equal parts.
        return candidates(prefix_bits, 0) * ldexp(slice_bits + 1, -slice_bits);
    }
    double slice_cost(int prefix_bits, int slice_bits) const {
        double finding = slice_bits == 0 ? 0 : (slice_bits + 1) * kCandidatesOfSlice;
        return visits(prefix_bits, 0) * costs_.visit +
               (finding + slice_candidates(prefix_bits, slice_bits)) * costs_.candidate;
    }
    int best_slice_bits(int prefix_bits, int most) const {
        int best = 0;
        for (int bits = 1; bits <= most; bits++)
            if (slice_cost(prefix_bits, bits) < slice_cost(prefix_bits, best))
                best = bits;
        return best;
    }

  private:
    void fill(int mask_bits) {
        if (filled_ >> (mask_bits - 1) & 1)
            return;
        filled_ |= uint64_t{1} << (mask_bits - 1);
        for (int threshold = 0; threshold < mask_bits; threshold++) {
            double best = kInfinite;
            // A prefix of no more bits than the threshold would admit every key.
            for (int prefix = mask_bits; prefix > threshold; prefix--)
                if (double price = cost(prefix, threshold); price < best) {
                    best = price;
                    prefix_[mask_bits][threshold] = uint8_t(prefix);
                }
            cost_[mask_bits][threshold] = best;
        }
    }

    double entries_;
    ProbeCosts costs_;
    uint64_t filled_ = 0; // bit n - 1: the row of mask length n
    double cost_[kBits + 1][kBits];
    uint8_t prefix_[kBits + 1][kBits];
};

// ---- the atom rule ----

// Looks for e_a that escape all probes with a sum of at most `left`: chooses an unsatisfied probe,
// puts one more difference into one of its atoms, and recurses. An atom that was tried is then
// closed for its siblings, so that no combination is tried twice.
class EscapeSearch {
  public:
    EscapeSearch(std::span<const Probe> probes, int* node_budget)
        : probe_count_(int(probes.size())), node_budget_(node_budget) {
        for (int i = 0; i < probe_count_; i++) {
            // Only the mask is looked at, not the slices: the proof is of the masks' rule. A plan
            // with slices has the proof of the circle instead.
            need_[i] = probes[i].threshold + 1;
            unsatisfied_ |= uint64_t{1} << i;
        }
        for (int bit = 0; bit < kBits; bit++)
            add_bit(probes, bit);
    }

    // True also if the budget runs out.
    bool may_escape(int left) {
        // These differences are too many for each probe, and within the radius: they escape.
        if (unsatisfied_ == 0)
            return true;
        // The budget is used up: nothing is proven, so the plan is not used.
        if (--*node_budget_ < 0)
            return true;
        if (least_sum() > left)
            return false;
        uint64_t closed_here = 0;
        uint64_t mine = uint64_t{1} << hardest_probe();
        bool escapes = false;
        while (!escapes) {
            int atom = widest_open_atom(mine);
            if (atom < 0)
                break;
            room_[atom]--;
            change_need(atom, -1);
            escapes = may_escape(left - 1);
            change_need(atom, 1);
            room_[atom]++;
            // All ways with one more difference in this atom have been tried.
            open_ &= ~(uint64_t{1} << atom);
            closed_here |= uint64_t{1} << atom;
        }
        open_ |= closed_here;
        return escapes;
    }

  private:
    void add_bit(std::span<const Probe> probes, int bit) {
        // Bits that lie in the same masks are alike, and make one atom.
        uint64_t members = 0;
        for (int i = 0; i < probe_count_; i++)
            members |= (probes[i].mask >> bit & 1) << i;
        // Differences outside of all masks help nobody to escape: they only use up the radius.
        if (members == 0)
            return;
        int atom = 0;
        while (atom < atom_count_ && members_[atom] != members)
            atom++;
        if (atom == atom_count_) {
            open_ |= uint64_t{1} << atom_count_++;
            members_[atom] = members;
            room_[atom] = 0;
        }
        room_[atom]++;
    }

    bool is_open(int atom) const { return open_ >> atom & 1 && room_[atom] > 0; }

    // A lower bound of the differences that satisfy all probes: what the neediest probe lacks, or
    // what all lack together if every difference counted in as many probes as the widest atom has.
    int least_sum() const {
        int greatest = 0, total = 0, widest = 1;
        for (uint64_t rest = unsatisfied_; rest != 0; rest &= rest - 1) {
            int need = need_[std::countr_zero(rest)];
            greatest = std::max(greatest, need);
            total += need;
        }
        for (int atom = 0; atom < atom_count_; atom++)
            if (is_open(atom))
                widest = std::max(widest, std::popcount(members_[atom] & unsatisfied_));
        return std::max(greatest, (total + widest - 1) / widest);
    }

    // The unsatisfied probe with the fewest open atoms.
    int hardest_probe() const {
        int hardest = std::countr_zero(unsatisfied_), fewest = kBits + 1;
        for (uint64_t rest = unsatisfied_; rest != 0; rest &= rest - 1) {
            int i = std::countr_zero(rest), ways = 0;
            for (int atom = 0; atom < atom_count_; atom++)
                ways += is_open(atom) && (members_[atom] >> i & 1);
            if (ways < fewest) {
                fewest = ways;
                hardest = i;
            }
        }
        return hardest;
    }

    // Among the open atoms of the probe, the one that serves most unsatisfied probes; -1 for none.
    int widest_open_atom(uint64_t probe) const {
        int widest = -1, most = 0;
        for (int atom = 0; atom < atom_count_; atom++)
            if (is_open(atom) && (members_[atom] & probe) != 0)
                if (int serves = std::popcount(members_[atom] & unsatisfied_); serves > most) {
                    most = serves;
                    widest = atom;
                }
        return widest;
    }

    void change_need(int atom, int by) {
        for (uint64_t rest = members_[atom]; rest != 0; rest &= rest - 1) {
            int i = std::countr_zero(rest);
            need_[i] += by;
            if (need_[i] > 0)
                unsatisfied_ |= uint64_t{1} << i;
            else
                unsatisfied_ &= ~(uint64_t{1} << i);
        }
    }

    int probe_count_;
    int atom_count_ = 0;
    int* node_budget_;
    uint64_t unsatisfied_ = 0; // probes with need_ > 0
    uint64_t open_ = 0;        // atoms that may be used
    int need_[kMaxTables];     // differences still lacking in each probe's mask
    int room_[kBits];          // bits of each atom without a difference
    uint64_t members_[kBits];  // the probes whose masks each atom lies in
};

// ---- candidates for the cheapest plan ----

// It is always complete, and other plans are compared with it.
ProbePlan read_everything(int radius, double entries, const ProbeCosts& costs) {
    return {radius, 0, true, 1, 0, entries, costs.visit + entries * costs.read_all_per_entry, {}};
}

class Planner {
  public:
    Planner(const Layout& layout, int radius, double entries, const ProbeCosts& costs)
        : layout_(layout), radius_(radius), prices_(entries, costs),
          best_(read_everything(radius, entries, costs)) {}

    ProbePlan make() {
        try_first_table_alone();
        if (all_masks_disjoint()) {
            try_family(all_tables(), kBits);
            // A probe's prefix extends to the next probed table: with few tables that is far, and
            // few candidates are left.
            try_family(tables_apart(radius_ + 1), kBits);
        } else {
            try_disjoint_families();
            try_uniform_thresholds();
        }
        return best_;
    }

  private:
    uint64_t all_tables() const { return ~uint64_t{0} >> (kMaxTables - layout_.table_count); }

    // `wanted` tables, or all if there are fewer, as far apart as possible.
    uint64_t tables_apart(int wanted) const {
        int count = std::min(wanted, layout_.table_count);
        uint64_t tables = 0;
        for (int i = 0; i < count; i++)
            tables |= uint64_t{1} << i * layout_.table_count / count;
        return tables;
    }

    int mask_bits(int table, int longest) const {
        return std::min(std::popcount(layout_.masks[table]), longest);
    }

    Probe probe(int table, int prefix_bits, int threshold) const {
        return {table, prefix_bits, threshold, effective_mask(layout_.masks[table], prefix_bits)};
    }

    // Keeps the plan if it is cheaper than the best so far. Expects probes that are proven
    // complete.
    void offer(std::span<const Probe> probes) {
        double cost = 0, visits = 0, slices = 0, candidates = 0;
        for (const Probe& p : probes) {
            bool cut = p.slice_bits > 0;
            cost += cut ? prices_.slice_cost(p.prefix_bits, p.slice_bits)
                        : prices_.cost(p.prefix_bits, p.threshold);
            visits += prices_.visits(p.prefix_bits, p.threshold);
            slices += cut ? p.slice_bits + 1 : 0;
            candidates += cut ? prices_.slice_candidates(p.prefix_bits, p.slice_bits)
                              : prices_.candidates(p.prefix_bits, p.threshold);
        }
        if (cost >= best_.cost)
            return;
        best_.probe_count = int(probes.size());
        best_.read_all = false;
        std::copy(probes.begin(), probes.end(), best_.probes);
        best_.visits = visits;
        best_.slices = slices;
        best_.candidates = candidates;
        best_.cost = cost;
    }

    // Table 0 is in the fingerprints' own order, so its prefix can have up to 64 bits.
    void try_first_table_alone() {
        Probe alone = probe(0, prices_.best_prefix(kBits, radius_), radius_);
        offer({&alone, 1});
    }

    bool all_masks_disjoint() const {
        uint64_t taken = 0;
        for (int i = 0; i < layout_.table_count; i++) {
            if ((taken & layout_.masks[i]) != 0)
                return false;
            taken |= layout_.masks[i];
        }
        return true;
    }

    // The cheapest thresholds with sum(t_i + 1) > radius for tables whose masks, cut to `longest`
    // bits, are disjoint. least[s]: least cost of the tables so far with sum s. (A sum above the
    // wanted one is never cheaper, because a lower threshold costs less.)
    void try_family(uint64_t tables, int longest) {
        int wanted = radius_ + 1;
        double least[kBits + 1];
        // Threshold of each table for each sum, -1: not probed.
        int8_t chosen[kMaxTables][kBits + 1];
        std::fill_n(least, wanted + 1, kInfinite);
        least[0] = 0;
        for (uint64_t rest = tables; rest != 0; rest &= rest - 1) {
            int table = std::countr_zero(rest), bits = mask_bits(table, longest);
            // Downwards, so that least[sum - ...] is still that of the tables before.
            for (int sum = wanted; sum >= 0; sum--) {
                chosen[table][sum] = -1;
                for (int t = 0; t < bits && t < sum; t++) {
                    double cost = least[sum - (t + 1)] + prices_.best_cost(bits, t);
                    if (cost < least[sum]) {
                        least[sum] = cost;
                        chosen[table][sum] = int8_t(t);
                    }
                }
            }
        }
        if (least[wanted] < kInfinite)
            offer_family(tables, longest, chosen);
    }

    void offer_family(uint64_t tables, int longest, const int8_t (&chosen)[kMaxTables][kBits + 1]) {
        Probe probes[kMaxTables];
        int count = 0;
        // Back from the last table to the first, by the thresholds that were chosen.
        for (int sum = radius_ + 1; sum > 0 && tables != 0;) {
            int table = kMaxTables - 1 - std::countl_zero(tables);
            tables ^= uint64_t{1} << table;
            int t = chosen[table][sum];
            if (t < 0)
                continue;
            probes[count++] = probe(table, prices_.best_prefix(mask_bits(table, longest), t), t);
            sum -= t + 1;
        }
        std::reverse(probes, probes + count);
        narrow({probes, size_t(count)}, longest);
        offer({probes, size_t(count)});
    }

    // Narrows the probes of a family as the circle allows. Its masks are cut to `longest` bits.
    void narrow(std::span<Probe> probes, int longest) const {
        auto has_block = [this](const Probe& p) { return is_block(layout_.masks[p.table]); };
        if (probes.size() < 2 || !std::all_of(probes.begin(), probes.end(), has_block))
            return;
        for (Probe& p : probes) {
            uint64_t mask = layout_.masks[p.table];
            // The circle narrows a probe only where its whole block must agree.
            if (p.threshold > 0 || p.prefix_bits < std::popcount(mask))
                continue;
            auto bits_up_to = [&](const Probe& to) {
                return bits_between(mask, layout_.masks[to.table]); // most to itself
            };
            const Probe& next = *std::min_element(
                probes.begin(), probes.end(),
                [&](const Probe& a, const Probe& b) { return bits_up_to(a) < bits_up_to(b); });
            p.prefix_bits += bits_up_to(next);
            if (next.threshold == 0)
                p.slice_bits =
                    prices_.best_slice_bits(p.prefix_bits, mask_bits(next.table, longest));
            Permutation permutation = layout_.permutation(p.table);
            // The inverse brings the leading bits of the key back to their places in the
            // fingerprint.
            p.mask = permutation.invert(leading_mask(p.prefix_bits));
            p.slice_mask = permutation.invert(leading_mask(p.prefix_bits + p.slice_bits)) ^ p.mask;
        }
    }

    // For each first table, the following tables whose masks are disjoint from those taken. Masks
    // that are cut short are disjoint from more.
    void try_disjoint_families() {
        constexpr int kLengths[] = {64, 32, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8};
        for (int longest : kLengths) {
            uint64_t tried[kMaxTables];
            for (int first = 0; first < layout_.table_count; first++) {
                tried[first] = disjoint_family(first, longest);
                if (std::find(tried, tried + first, tried[first]) == tried + first)
                    try_family(tried[first], longest);
            }
        }
    }

    uint64_t disjoint_family(int first, int longest) const {
        uint64_t tables = 0, taken = 0;
        for (int i = 0; i < layout_.table_count; i++) {
            int table = (first + i) % layout_.table_count;
            uint64_t mask = effective_mask(layout_.masks[table], mask_bits(table, longest));
            if ((taken & mask) == 0) {
                taken |= mask;
                tables |= uint64_t{1} << table;
            }
        }
        return tables;
    }

    // All tables with the lowest threshold that is complete; then tables are removed and thresholds
    // lowered while the plan stays complete.
    void try_uniform_thresholds() {
        for (int t = 0; t <= radius_; t++) {
            if (prices_.best_cost(shortest_prefix_bits(layout_), t) >= best_.cost)
                return;
            for (bool whole_masks : {false, true})
                if (try_uniform_threshold(t, whole_masks))
                    return;
        }
    }

    bool try_uniform_threshold(int threshold, bool whole_masks) {
        int thresholds[kMaxTables];
        std::fill_n(thresholds, layout_.table_count, threshold);
        if (!complete(thresholds, whole_masks))
            return false;
        // -1 leaves the table out. The lowest threshold that keeps the plan complete is the
        // cheapest.
        for (int table = layout_.table_count - 1; table >= 0; table--)
            for (int lower = -1; lower < threshold; lower++) {
                thresholds[table] = lower;
                if (complete(thresholds, whole_masks))
                    break;
                thresholds[table] = threshold;
            }
        Probe probes[kMaxTables];
        offer({probes, probes_of(thresholds, whole_masks, probes)});
        return true;
    }

    size_t probes_of(const int* thresholds, bool whole_masks, Probe* probes) {
        size_t count = 0;
        for (int table = 0; table < layout_.table_count; table++) {
            int bits = mask_bits(table, kBits), t = thresholds[table];
            if (t >= 0 && t < bits)
                probes[count++] =
                    probe(table, whole_masks ? bits : prices_.best_prefix(bits, t), t);
        }
        return count;
    }

    bool complete(const int* thresholds, bool whole_masks) {
        Probe probes[kMaxTables];
        size_t count = probes_of(thresholds, whole_masks, probes);
        int budget = std::min(node_budget_, kProofNodeBudget);
        int left = budget;
        bool proven = proven_complete({probes, count}, radius_, &left);
        // The proofs of all plans share a budget.
        node_budget_ -= budget - std::max(left, 0);
        return proven;
    }

    const Layout& layout_;
    int radius_; // 0..63
    Prices prices_;
    int node_budget_ = kPlanNodeBudget;
    ProbePlan best_;
};

} // namespace

bool proven_complete(std::span<const Probe> probes, int radius, int* node_budget) {
    return !EscapeSearch(probes, node_budget).may_escape(radius);
}

ProbePlan make_probe_plan(const Layout& layout, int radius, double entries,
                          const ProbeCosts& costs) {
    // Nothing is within a negative radius: a plan without probes.
    if (radius < 0)
        return {radius, 0, false, 0, 0, 0, 0, {}};
    return radius < kBits ? Planner(layout, radius, entries, costs).make()
                          : read_everything(radius, entries, costs);
}

} // namespace simhash
