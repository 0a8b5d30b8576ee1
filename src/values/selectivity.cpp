// How many rows lie in a ball.
//
// Three kinds of rows can be near a query q:
//
//   1. Rows of most-common values inside the ball. The statistics list these values with their
//      frequencies, so they are counted. A million empty pages with one fingerprint are seen here.
//
//   2. Rows of other fingerprints that are near because q is a document like those of the table:
//      q's own fingerprint and a few near ones. Each of them is taken to have rest / distinct of
//      the rows.
//
//   3. Rows that are near by chance. A ball of radius r holds sum C(64, i), i = 0..r, of all 2^64
//      lanes: next to nothing for a small radius (2.4e-15 at 3), and half of them at 32. For
//      codes of n bits n stands in place of 64. Where documents crowd together, more rows are near
//      than by chance. Then several values of the histogram, which is a sample of the column, lie
//      inside the ball, and their share is taken.
//
// The query may be unknown: a parameter in a generic plan, the other table's column in a join. Then
// an average query is estimated: all distinct fingerprints count alike, as in 2, and for 3 all
// pairs of the sample are compared.
//
//     example: 1 000 000 rows, 10 % are the fingerprint 0, the rest distinct
//     fp <~> 0 <= 3        100 000 rows (1) + few (2)
//     fp <~> 12345 <= 3    few
//     fp <~> $1 <= 3       few
#include "values/selectivity.hpp"

#include "core/bits/ball_size.hpp"
#include "server/expressions.hpp"
#include "values/code/code.hpp"
#include "values/fingerprint/fingerprint.hpp"
#include "values/objects.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace simhash {
namespace {

// The number of near fingerprints that a document is expected to have beside its own. The
// statistics do not tell it. The value is small enough that the planner uses the index, and within
// 10 times of the truth for groups of up to 30 near-duplicates.
constexpr double kNeighbours = 2.0;

// The greatest number of them, as a share of the distinct fingerprints: in a table of 20 rows most
// have no neighbour.
constexpr double kNeighboursShare = 0.001;

// With this many values of the sample inside the ball, they are taken for more than chance.
constexpr int kTellingHits = 3;

// The number of values of each column that are compared where all pairs are.
constexpr int kPairSample = 128;

// Which values of a space are near each other: those within a radius, or in the ring that is left
// of a ball without a smaller one.
struct Nearness {
    HammingSpace space;
    int radius; // -1 .. space.bits
    int beyond; // -1 .. radius: the distance up to which values do not count

    bool is_everything() const { return radius >= space.bits && !is_ring(); }
    bool is_ring() const { return beyond >= 0; }
    double share_by_chance() const { return space.ball_share(radius) - space.ball_share(beyond); }

    bool holds(int distance) const { return beyond < distance && distance <= radius; }
    bool holds(Datum a, Datum b) const { return holds(space.distance(a, b)); }

    // Equal values do not show crowding: a query is often one of the column's own values, and a
    // table is often joined with itself.
    bool holds_for_others(Datum a, Datum b) const {
        int distance = space.distance(a, b);
        return distance > 0 && holds(distance);
    }
};

// ---- what the statistics say about a column ----

// All shares are from 0 to 1.
struct ColumnStatistics {
    AttStatsSlot common;    // most-common values and their frequencies, or none
    AttStatsSlot histogram; // bounds that cut the other rows into equal parts: a sample of them
    double not_null;        // share of all rows
    double rest;            // share of all rows that are neither null nor a most-common value
    double rest_distinct;   // distinct fingerprints among these, at least 1
    double distinct;        // distinct fingerprints of the column, at least 1
    double rows;            // of the table; 0 where unknown
};

void load_slot(const HammingSpace& space, VariableStatData* column, int kind, int parts,
               AttStatsSlot* slot) {
    memset(slot, 0, sizeof(*slot));
    // The statistics of a domain or of an expression may be of another type than the space has.
    if (HeapTupleIsValid(column->statsTuple) &&
        get_attstatsslot(slot, column->statsTuple, kind, InvalidOid, parts) &&
        !space.has_type(slot->valuetype)) {
        free_attstatsslot(slot);
        memset(slot, 0, sizeof(*slot));
    }
}

ColumnStatistics load_statistics(const HammingSpace& space, VariableStatData* column) {
    ColumnStatistics statistics;
    load_slot(space, column, STATISTIC_KIND_MCV, ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS,
              &statistics.common);
    load_slot(space, column, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES, &statistics.histogram);
    statistics.not_null = 1;
    if (HeapTupleIsValid(column->statsTuple)) {
        auto* row = reinterpret_cast<Form_pg_statistic>(GETSTRUCT(column->statsTuple));
        statistics.not_null = 1 - row->stanullfrac;
    }
    statistics.rows = column->rel != nullptr ? std::max(0.0, column->rel->tuples) : 0;
    bool is_default;
    double distinct = get_variable_numdistinct(column, &is_default);
    // Without statistics every row is taken to have a fingerprint of its own. For any other column
    // the server assumes 200 distinct values.
    statistics.distinct = std::max({1.0, distinct, is_default ? statistics.rows : 0});
    const AttStatsSlot& common = statistics.common;
    // Rounding may leave a sum a little above the whole.
    statistics.rest = std::max(0.0, std::accumulate(common.numbers, common.numbers + common.nvalues,
                                                    statistics.not_null, std::minus<>()));
    statistics.rest_distinct = std::max(1.0, statistics.distinct - statistics.common.nvalues);
    return statistics;
}

void free_statistics(ColumnStatistics* statistics) {
    free_attstatsslot(&statistics->common);
    free_attstatsslot(&statistics->histogram);
}

// ---- the three kinds of rows ----

// The expected number of near fingerprints, with the query's own, where the column has `distinct`.
double expected_neighbours(const Nearness& near, double distinct) {
    double others = near.radius < 1 ? 0 : std::min(kNeighbours, distinct * kNeighboursShare);
    return others + !near.is_ring();
}

// The share of rows that are near by chance or crowding: `hits` of `tries` values of a sample are
// within the radius. Few hits only say that the share is not much more.
double crowd_share(const Nearness& near, double hits, double tries) {
    double by_chance = near.share_by_chance();
    if (tries <= 0)
        return by_chance;
    if (hits >= kTellingHits)
        return hits / tries;
    // With hits below kTellingHits, the share is probably less than kTellingHits / tries. Chance is
    // the better guess where it is smaller.
    return std::min(by_chance, kTellingHits / tries);
}

// The share of all rows that have a most-common value inside the ball. *is_common tells whether the
// query is such a value.
double common_share(const Nearness& near, const AttStatsSlot& common, Datum query,
                    bool* is_common) {
    double share = 0;
    *is_common = false;
    for (int i = 0; i < common.nvalues; i++) {
        int distance = near.space.distance(common.values[i], query);
        *is_common |= distance == 0;
        if (near.holds(distance))
            share += common.numbers[i];
    }
    return share;
}

double known_query_share(const Nearness& near, const ColumnStatistics& statistics, Datum query) {
    bool is_common;
    double share = common_share(near, statistics.common, query, &is_common);
    int hits = 0;
    // One bound more than the column's statistics target: 101 by default.
    for (int i = 0; i < statistics.histogram.nvalues; i++)
        hits += near.holds_for_others(statistics.histogram.values[i], query);
    // The query's own fingerprint is in `share` already if it is a common one.
    double fingerprints =
        expected_neighbours(near, statistics.rest_distinct) - (is_common && !near.is_ring());
    double of_rest = std::min(1.0, fingerprints / statistics.rest_distinct +
                                       crowd_share(near, hits, statistics.histogram.nvalues));
    return share + statistics.rest * of_rest;
}

// Copies bounds of the histogram at even steps, at most kPairSample of them. Returns their number.
int sample_of(const AttStatsSlot& slot, Datum* sample) {
    int count = std::min(slot.nvalues, kPairSample);
    for (int i = 0; i < count; i++)
        // The bounds are in order of the values, so even steps spread over the whole column.
        sample[i] = slot.values[int64(i) * slot.nvalues / count];
    return count;
}

// The share of pairs, one value of each column, that are near by chance or crowding. Where both are
// the `same` column, each pair of different places is compared once.
double pair_share(const Nearness& near, const AttStatsSlot& left, const AttStatsSlot& right,
                  bool same) {
    Datum a[kPairSample], b[kPairSample];
    int a_count = sample_of(left, a), b_count = sample_of(right, b);
    int hits = 0, tries = 0;
    for (int i = 0; i < a_count; i++)
        for (int j = same ? i + 1 : 0; j < b_count; j++, tries++)
            hits += near.holds_for_others(a[i], b[j]);
    return crowd_share(near, hits, tries);
}

double average_query_share(const Nearness& near, const ColumnStatistics& statistics) {
    double fingerprints = expected_neighbours(near, statistics.distinct);
    double crowd = pair_share(near, statistics.histogram, statistics.histogram, true);
    return statistics.not_null * std::min(1.0, fingerprints / statistics.distinct + crowd);
}

// The share of the column's rows within the radius of `query`, an expression. If its value is not
// known, the share for an average query.
double column_share(const Nearness& near, VariableStatData* column, const Node* query) {
    ColumnStatistics statistics = load_statistics(near.space, column);
    const Const* known = near.space.constant(query);
    double share = near.is_everything() ? statistics.not_null
                   : known != nullptr   ? known_query_share(near, statistics, known->constvalue)
                                        : average_query_share(near, statistics);
    free_statistics(&statistics);
    CLAMP_PROBABILITY(share);
    return share;
}

// ---- restrictions ----

double restriction_share(const SelectivityContext& context, List* arguments, const Nearness& near) {
    VariableStatData column;
    Node* other;
    bool column_on_left;
    // The condition is about two columns of one row, or about none: the statistics do not help.
    if (!get_restriction_variable(context.root, arguments, context.relation, &column, &other,
                                  &column_on_left))
        return std::max(DEFAULT_EQ_SEL, near.share_by_chance());
    // The operators are strict, so NULL finds nothing.
    double share = is_null_constant(other) ? 0 : column_share(near, &column, other);
    ReleaseVariableStats(column);
    return share;
}

// ---- joins ----

// The share of all pairs of rows that have two most-common values near each other. The lists are in
// order of frequency, so their beginnings are enough.
double common_pairs_share(const Nearness& near, const AttStatsSlot& left,
                          const AttStatsSlot& right) {
    double share = 0;
    for (int i = 0; i < std::min(left.nvalues, kPairSample); i++)
        for (int j = 0; j < std::min(right.nvalues, kPairSample); j++)
            if (near.holds(left.values[i], right.values[j]))
                share += double(left.numbers[i]) * right.numbers[j];
    return share;
}

// The share of all pairs of rows that are within the radius.
double inner_join_share(const Nearness& near, const ColumnStatistics& left,
                        const ColumnStatistics& right) {
    double distinct = std::max(left.rest_distinct, right.rest_distinct);
    double of_rest = expected_neighbours(near, distinct) / distinct;
    // Pairs of two common values have been counted one by one; all others are estimated.
    double common_pairs = (left.not_null - left.rest) * (right.not_null - right.rest);
    double other_pairs = std::max(0.0, left.not_null * right.not_null - common_pairs);
    double crowd = pair_share(near, left.histogram, right.histogram, false);
    return common_pairs_share(near, left.common, right.common) +
           left.rest * right.rest * std::min(1.0, of_rest) + other_pairs * crowd;
}

// The share of the outer rows that have a match: all where one may expect a match or more.
double semi_join_share(const Nearness& near, const ColumnStatistics& outer,
                       const ColumnStatistics& inner) {
    double distinct = std::max(outer.distinct, inner.distinct);
    // This is the probability that an outer and an inner row are near.
    double per_pair = 1 / distinct + pair_share(near, outer.histogram, inner.histogram, false);
    return outer.not_null * std::min(1.0, inner.rows * inner.not_null * per_pair);
}

double join_share(const Nearness& near, JoinType type, VariableStatData* outer,
                  VariableStatData* inner) {
    ColumnStatistics outer_statistics = load_statistics(near.space, outer),
                     inner_statistics = load_statistics(near.space, inner);
    double share;
    if (near.is_everything())
        share = outer_statistics.not_null * inner_statistics.not_null;
    else if (type == JOIN_SEMI || type == JOIN_ANTI)
        share = semi_join_share(near, outer_statistics, inner_statistics);
    else
        share = inner_join_share(near, outer_statistics, inner_statistics);
    free_statistics(&outer_statistics);
    free_statistics(&inner_statistics);
    return share;
}

double join_clause_share(const SelectivityContext& context, List* arguments, const Nearness& near) {
    VariableStatData left, right;
    bool reversed;
    // `reversed` says that the left argument is of the inner side.
    get_join_variables(context.root, arguments, context.join, &left, &right, &reversed);
    // hamming_within(a.fp, 42, b.radius): both fingerprints are one table's, the radius another's.
    bool one_sided = left.rel == nullptr || right.rel == nullptr;
    double share = one_sided ? restriction_share(context, arguments, near)
                             : join_share(near, context.join_type, reversed ? &right : &left,
                                          reversed ? &left : &right);
    ReleaseVariableStats(left);
    ReleaseVariableStats(right);
    return share;
}

} // namespace

double within_selectivity(const SelectivityContext& context, Node* left, Node* right, int radius,
                          int beyond) {
    HammingSpace space = space_of(left, right);
    Nearness near = {space, space.saturate(radius), space.saturate(beyond)};
    if (near.radius <= near.beyond)
        return 0;
    List* arguments = list_make2(left, right);
    double share = context.is_join ? join_clause_share(context, arguments, near)
                                   : restriction_share(context, arguments, near);
    list_free(arguments);
    CLAMP_PROBABILITY(share);
    return share;
}

// ---- balls ----

namespace {

void examine_constant_ball(const Const* ball, BallEstimate* estimate) {
    // Somebody may have declared an operator of other types with our estimator.
    const DistanceFamily* family = family_of_ball(ball->consttype);
    if (family == &kFingerprints) {
        const HammingBall* known = datum_get_ball(ball->constvalue);
        estimate->center = reinterpret_cast<Node*>(make_bigint_constant(known->center));
        estimate->radius = known->radius;
    } else if (family == &kCodes) {
        BitBall* known = datum_get_bit_ball(ball->constvalue);
        estimate->center = reinterpret_cast<Node*>(make_code_constant(center(known)));
        estimate->radius = known->radius;
    }
}

} // namespace

BallEstimate examine_ball(PlannerInfo* root, Node* ball, int greatest_distance, int likely_radius) {
    BallEstimate estimate = {nullptr, likely_radius, false};
    // This also computes stable functions and known parameters, which hold for an estimate.
    Node* value = estimate_expression_value(root, ball);
    if (is_null_constant(value)) {
        estimate.never = true;
    } else if (IsA(value, Const)) {
        examine_constant_ball(reinterpret_cast<Const*>(value), &estimate);
    } else if (IsA(ball, FuncExpr)) {
        // A ball of expressions: the radius is often a constant even where the center is not.
        auto* call = reinterpret_cast<FuncExpr*>(ball);
        if (family_of(call->funcid, &DistanceFamily::ball_make) != nullptr) {
            estimate.center = node_at(call->args, 0);
            Node* radius = estimate_expression_value(root, node_at(call->args, 1));
            estimate.never = is_null_constant(radius) ||
                             is_null_constant(estimate_expression_value(root, estimate.center));
            if (const Const* known = bigint_constant(radius))
                estimate.radius = int(std::clamp<int64>(DatumGetInt64(known->constvalue), kNoRadius,
                                                        greatest_distance));
        }
    }
    estimate.radius = std::clamp(estimate.radius, kNoRadius, greatest_distance);
    return estimate;
}

} // namespace simhash
