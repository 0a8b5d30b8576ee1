// Probe plans: complete, and the cheapest that can be found in bounded time.
//
// The tables' blocks are disjoint (layout.hpp). A plan is a set of tables, each with some leading
// bits of its permuted key, which are bits of its block, and a threshold t_i. It sees a fingerprint
// that differs from the query in at most t_i of these bits in one of the tables. A fingerprint that
// escapes all of them differs in sum(t_i + 1) bits at least. So a plan is complete for a radius if
// that sum is greater, by the pigeonhole principle:
//
//     4 disjoint blocks:  t = 0 0 0 0  complete up to 3
//                         t = 1 0 0 0  up to 4:  5 differences would have to be placed
//                         t = 0 0 - -  up to 1:  two probes suffice
//
// Blocks in a circle allow more than that. Give each block the number e_i - (t_i + 1), where e_i is
// the number of differences in it, or e_i if it has no probe: these sum to less than 0. Then there
// is a block from which all partial sums round the circle are less than 0: its own number, its own
// plus the next, and so on (the cycle lemma; Qin and Xiao search by it, VLDB 2018). So every
// fingerprint within the radius is still seen if each probe i with t_i = 0 looks only for
// fingerprints that also have
//
//     no difference between block i and the next block with a probe, j, and
//     at most t_j + 1 differences in block j
//
// The bits of a key go round in the same way (Permutation), so these are the bits after the probe's
// prefix. The first condition lengthens the prefix. The second, if t_j = 0, cuts a large range into
// slices (Slices).
//
// The planner tries table 0 alone with any prefix and threshold `radius`; all tables, and a few far
// apart, whose cheapest thresholds dynamic programming finds; and reading everything.
#include "core/layout/probe_plan.hpp"

#include <algorithm>
#include <cmath>
#include <span>

#include "core/bits/fingerprint.hpp"
#include "core/layout/lane_radii.hpp"

namespace simhash {
namespace {

constexpr int kBits = kFingerprintBits;

// What probes cost. They take the fingerprints for random.
struct Prices {
    double entries;
    ProbeCosts costs;

    // A probe may look only at slices of its ranges: with n bits at n + 1 of 2^n equal parts.
    double candidates(int prefix_bits, int threshold, int slice_bits = 0) const {
        double part = slice_bits == 0 ? 1 : ldexp(slice_bits + 1, -slice_bits);
        // The share of all prefixes that are within the threshold.
        return ball_share(prefix_bits, threshold) * entries * part;
    }
    // This includes finding the slices.
    double cost(int prefix_bits, int threshold, int slice_bits = 0) const {
        double finding = slice_bits == 0 ? 0 : (slice_bits + 1) * kCandidatesOfSlice;
        return ball_size(prefix_bits, threshold) * costs.visit +
               (finding + candidates(prefix_bits, threshold, slice_bits)) * costs.candidate;
    }

    // A shorter prefix has no more ranges to visit, and more candidates in them. Between both is
    // the cheapest.
    int best_prefix(int mask_bits, int threshold) const {
        int best = mask_bits;
        // A prefix of no more bits than the threshold would admit every key.
        for (int prefix = mask_bits; prefix > threshold; prefix--)
            if (cost(prefix, threshold) < cost(best, threshold))
                best = prefix;
        return best;
    }

    int best_slice_bits(int prefix_bits, int most) const {
        int best = 0;
        for (int bits = 1; bits <= most; bits++)
            if (cost(prefix_bits, 0, bits) < cost(prefix_bits, 0, best))
                best = bits;
        return best;
    }
};

// ---- candidates for the cheapest plan ----

// It is always complete, and other plans are compared with it.
ProbePlan read_everything(int radius, double entries, const ProbeCosts& costs) {
    return {radius, 0, true, 1, entries, costs.visit + entries * costs.read_all_per_entry, {}};
}

class Planner {
  public:
    Planner(const Layout& layout, int radius, double entries, const ProbeCosts& costs)
        : layout_(layout), radius_(radius), prices_{entries, costs},
          best_(read_everything(radius, entries, costs)) {}

    ProbePlan make() {
        try_first_table_alone();
        try_family(~uint64_t{0} >> (kMaxTables - layout_.table_count)); // all of them
        // A probe's prefix extends to the next probed table: with few tables that is far, and few
        // candidates are left.
        try_family(tables_apart(radius_ + 1));
        return best_;
    }

  private:
    // `wanted` tables, or all if there are fewer, as far apart as possible.
    uint64_t tables_apart(int wanted) const {
        int count = std::min(wanted, layout_.table_count);
        uint64_t tables = 0;
        for (int i = 0; i < count; i++)
            tables |= uint64_t{1} << i * layout_.table_count / count;
        return tables;
    }

    Probe probe(int table, int prefix_bits, int threshold) const {
        return {table, prefix_bits, threshold,
                layout_.permutation(table).invert(leading_mask(prefix_bits))};
    }

    // Keeps the plan if it is cheaper than the best so far. Expects probes that are complete.
    void offer(std::span<const Probe> probes) {
        double cost = 0, visits = 0, candidates = 0;
        for (const Probe& p : probes) {
            cost += prices_.cost(p.prefix_bits, p.threshold, p.slice_bits);
            visits += ball_size(p.prefix_bits, p.threshold);
            candidates += prices_.candidates(p.prefix_bits, p.threshold, p.slice_bits);
        }
        if (cost >= best_.cost)
            return;
        best_.probe_count = int(probes.size());
        best_.read_all = false;
        std::copy(probes.begin(), probes.end(), best_.probes);
        best_.visits = visits;
        best_.candidates = candidates;
        best_.cost = cost;
    }

    // Table 0 is in the fingerprints' own order, so its prefix can have up to 64 bits.
    void try_first_table_alone() {
        Probe alone = probe(0, prices_.best_prefix(kBits, radius_), radius_);
        offer({&alone, 1});
    }

    // The cheapest thresholds with sum(t_i + 1) > radius. (A sum above the wanted one is never
    // cheaper, because a lower threshold costs less.)
    void try_family(uint64_t tables) {
        Thresholds<kMaxTables, kBits> thresholds(radius_ + 1);
        for (uint64_t rest = tables; rest != 0; rest &= rest - 1) {
            int bits = layout_.prefix_bits(std::countr_zero(rest));
            thresholds.add(bits - 1, [&](int t) {
                return t < 0 ? 0 : prices_.cost(prices_.best_prefix(bits, t), t);
            });
        }
        if (!thresholds.are_found())
            return;
        Probe probes[kMaxTables];
        int count = 0;
        while (tables != 0) {
            int table = kMaxTables - 1 - std::countl_zero(tables);
            tables ^= uint64_t{1} << table;
            if (int t = thresholds.take_last(); t >= 0)
                probes[count++] =
                    probe(table, prices_.best_prefix(layout_.prefix_bits(table), t), t);
        }
        std::reverse(probes, probes + count);
        narrow({probes, size_t(count)});
        offer({probes, size_t(count)});
    }

    void narrow(std::span<Probe> probes) const {
        if (probes.size() < 2)
            return;
        for (size_t i = 0; i < probes.size(); i++) {
            Probe& p = probes[i];
            const Probe& next = probes[(i + 1) % probes.size()];
            // The circle narrows a probe only where its whole block must agree.
            if (p.threshold > 0 || p.prefix_bits < layout_.prefix_bits(p.table))
                continue;
            // Up to the next block with a probe, going round.
            int between = layout_.bits_before(next.table) - layout_.bits_before(p.table + 1);
            p.prefix_bits += between < 0 ? between + kBits : between;
            if (next.threshold == 0)
                p.slice_bits =
                    prices_.best_slice_bits(p.prefix_bits, layout_.prefix_bits(next.table));
            Permutation permutation = layout_.permutation(p.table);
            // The leading bits of the key go back to their places in the fingerprint.
            p.mask = permutation.invert(leading_mask(p.prefix_bits));
            p.slice_mask = permutation.invert(leading_mask(p.prefix_bits + p.slice_bits)) ^ p.mask;
        }
    }

    const Layout& layout_;
    int radius_; // 0..63
    Prices prices_;
    ProbePlan best_;
};

} // namespace

ProbePlan make_probe_plan(const Layout& layout, int radius, double entries,
                          const ProbeCosts& costs) {
    // Nothing is within a negative radius: a plan without probes.
    if (radius < 0)
        return {radius, 0, false, 0, 0, 0, {}};
    return radius < kBits ? Planner(layout, radius, entries, costs).make()
                          : read_everything(radius, entries, costs);
}

} // namespace simhash
