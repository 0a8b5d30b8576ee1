// How many rows lie in a ball, by a column's statistics and by a look into an index on texts.
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
// an average query is estimated: all distinct fingerprints count alike, as in 2.
//
//     example: 1 000 000 rows, 10 % are the fingerprint 0, the rest distinct
//     fp <~> 0 <= 3        100 000 rows (1) + few (2)
//     fp <~> 12345 <= 3    few
//     fp <~> $1 <= 3       few
//
// A column of texts has no statistics of fingerprints. The server's own list common texts that are
// short. Long texts that many rows have, and pages made from one template, are seen by a look into
// the column's index: equal and similar texts stand side by side in the posting table of a lane, so
// one descent finds where they begin, and the pages above the leaves tell how many there are.
#include "core/bits/ball_size.hpp"
#include "index/lanes.hpp"
#include "index/store/tree.hpp"
#include "planner/planner.hpp"
#include "values/hamming_space.hpp"
#include "values/objects.hpp"

#include <algorithm>
#include <cmath>
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

// The number of most-common values of each column that a join compares.
constexpr int kComparedValues = 128;

// What is near a query.
struct Nearness {
    HammingSpace space;
    int radius; // 0 .. space.bits

    bool is_everything() const { return radius >= space.bits; }
    double share_by_chance() const { return ball_share_of_code(space.bits, radius); }
    // The expected number of near fingerprints, with the query's own, where the column has
    // `distinct`. Half of the others are within a bit, a quarter at two, and so on.
    double expected_neighbours(double distinct) const {
        return 1 + std::min(kNeighbours, distinct * kNeighboursShare) * (1 - ldexp(1, -radius));
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

    ColumnStatistics(const HammingSpace& space, VariableStatData* column);
    ColumnStatistics(const ColumnStatistics&) = delete;
    ~ColumnStatistics() {
        free_attstatsslot(&common);
        free_attstatsslot(&histogram);
    }
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

ColumnStatistics::ColumnStatistics(const HammingSpace& space, VariableStatData* column) {
    load_slot(space, column, STATISTIC_KIND_MCV, ATTSTATSSLOT_VALUES | ATTSTATSSLOT_NUMBERS,
              &common);
    load_slot(space, column, STATISTIC_KIND_HISTOGRAM, ATTSTATSSLOT_VALUES, &histogram);
    not_null = 1;
    if (HeapTupleIsValid(column->statsTuple))
        not_null -= reinterpret_cast<Form_pg_statistic>(GETSTRUCT(column->statsTuple))->stanullfrac;
    rows = column->rel != nullptr ? std::max(0.0, column->rel->tuples) : 0;
    bool is_default;
    double known_distinct = get_variable_numdistinct(column, &is_default);
    // Without statistics every row is taken to have a fingerprint of its own. For any other column
    // the server assumes 200 distinct values.
    distinct = std::max({1.0, known_distinct, is_default ? rows : 0});
    // Rounding may leave a sum a little above the whole.
    rest = std::max(0.0, std::accumulate(common.numbers, common.numbers + common.nvalues, not_null,
                                         std::minus<>()));
    rest_distinct = std::max(1.0, distinct - common.nvalues);
}

// ---- what an index on texts says ----

bool is_text(Oid type) {
    Oid base = getBaseType(type);
    return base == TEXTOID || base == VARCHAROID;
}

// Estimates how many entries of a posting table have keys from `first` to `last`: counts those of
// the leaf where they begin, and takes each further leaf, known from the page above, for as full.
double postings_between(const TreeContext& postings, uint64_t first, uint64_t last) {
    // Beyond some millions of entries it does not matter how many there are.
    constexpr int kMostPages = 32;
    Entry position{first, 0}, end{last, kMaxTid};
    Buffer buffer = descend(postings, position, 0, BUFFER_LOCK_SHARE);
    LeafReader reader = open_leaf(postings.index, buffer, postings.kind);
    double found = 0;
    reader.visit_packed(first, last, [&](uint64_t, int) { found++; });
    for (int i = 0; i < reader.tail_count(); i++)
        found += first <= reader.tail_key(i) && reader.tail_key(i) <= last;
    int of_leaf = reader.count();
    bool more = go_right(postings.index, buffer, &position) && position <= end;
    UnlockReleaseBuffer(buffer);
    for (int pages = 0; more && pages < kMostPages; pages++) {
        buffer = descend(postings, position, 1, BUFFER_LOCK_SHARE);
        Page page = BufferGetPage(buffer);
        check_internal(postings.index, buffer, postings.kind);
        found += double(of_leaf) * (1 + find_pivot(postings.kind, page, end) -
                                    find_pivot(postings.kind, page, position));
        more = page_precedes(page, end) && go_right(postings.index, buffer, &position);
        UnlockReleaseBuffer(buffer);
    }
    return found;
}

// The number of rows in an index on texts that are like this one: those whose first lane begins
// with as many bits as there are fingerprints in the table, in binary digits. By chance that is
// about one.
double rows_like(Relation index, Datum text) {
    Layout layout = cached_layout(index);
    LaneList lanes(layout);
    // An index on passages tells nothing of the whole text.
    if (layout.lanes_vary)
        return 0;
    {
        CallMemory memory;
        if (lanes_of_value(index, text, &lanes) != ValueLanes::kFound)
            return 0;
    }
    double entries = estimated_entries(layout, RelationGetNumberOfBlocks(index));
    int bits = std::clamp(int(std::ceil(std::log2(entries))), 1, kFingerprintBits - 1);
    uint64_t rest = UINT64_MAX >> bits, lane = lanes.all()[0];
    TreeContext postings = tree_context(index, nullptr, &layout, 0);
    // The lanes of texts from one template differ in a few bits, by which some begin differently.
    constexpr double kTypicalDistance = 4;
    return postings_between(postings, lane & ~rest, lane | rest) /
           std::pow(1 - kTypicalDistance / kFingerprintBits, bits);
}

// The share of rows that are like a known text by the index on the column; 0 where there is none.
double share_by_index(const RelOptInfo* table, Node* column, Datum text) {
    ListCell* cell;
    foreach (cell, table->indexlist) {
        auto* index = lfirst_node(IndexOptInfo, cell);
        // With a scope, the lanes that stand in the index are others.
        if (index->hypothetical || index->nkeycolumns > 1 || index->indpred != NIL ||
            !match_index_to_operand(column, 0, index))
            continue;
        Relation relation = index_open(index->indexoid, NoLock);
        // From PostgreSQL 16 on a partitioned index is among them, which has no pages.
        bool is_ours = relation->rd_rel->relkind == RELKIND_INDEX && is_simhash_index(relation);
        double rows = is_ours ? rows_like(relation, text) : 0;
        index_close(relation, NoLock);
        if (rows > 0)
            return rows / std::max(1.0, table->tuples);
    }
    return 0;
}

// The share of rows whose text equals a known one, as the server estimates it, or is like it, as
// the index tells.
double known_text_share(VariableStatData* column, Datum text) {
    double share =
        var_eq_const(column, TextEqualOperator, C_COLLATION_OID, text, false, true, false);
    // As the server, for whom may see all rows only: an estimate tells of the others.
    if (column->rel != nullptr && HeapTupleIsValid(column->statsTuple) && column->acl_ok)
        share = std::max(share, share_by_index(column->rel, column->var, text));
    return share;
}

// ---- the share of a column's rows ----

double known_query_share(const Nearness& near, const ColumnStatistics& statistics, Datum query) {
    double share = 0;
    double fingerprints = near.expected_neighbours(statistics.rest_distinct);
    for (int i = 0; i < statistics.common.nvalues; i++) {
        int distance = near.space.distance(statistics.common.values[i], query);
        if (distance <= near.radius)
            share += statistics.common.numbers[i];
        // Then the query's own fingerprint is in `share` already.
        fingerprints -= distance == 0;
    }
    int hits = 0;
    // One bound more than the column's statistics target: 101 by default.
    for (int i = 0; i < statistics.histogram.nvalues; i++) {
        int distance = near.space.distance(statistics.histogram.values[i], query);
        // An equal value does not show crowding: a query is often one of the column's own.
        hits += 0 < distance && distance <= near.radius;
    }
    double crowd = near.share_by_chance();
    int tries = statistics.histogram.nvalues;
    if (hits >= kTellingHits)
        crowd = double(hits) / tries;
    else if (tries > 0)
        // Few hits only say that the share is probably less than this. Chance is the better guess
        // where it is smaller.
        crowd = std::min(crowd, double(kTellingHits) / tries);
    return share + statistics.rest * std::min(1.0, fingerprints / statistics.rest_distinct + crowd);
}

// The share of the column's rows within the radius of `query`, an expression. If its value is not
// known, the share for an average query.
double column_share(const Nearness& near, VariableStatData* column, const Node* query) {
    ColumnStatistics statistics(near.space, column);
    auto* known = reinterpret_cast<const Const*>(query);
    if (near.is_everything())
        return statistics.not_null;
    bool is_known = IsA(query, Const);
    if (is_known && near.space.has_type(known->consttype))
        return known_query_share(near, statistics, known->constvalue);
    double share =
        statistics.not_null *
        std::min(1.0, near.expected_neighbours(statistics.distinct) / statistics.distinct +
                          near.share_by_chance());
    if (is_known && is_text(column->vartype) && is_text(known->consttype))
        share = std::max(share, known_text_share(column, known->constvalue));
    return share;
}

double restriction_share(const SupportRequestSelectivity& at, List* arguments,
                         const Nearness& near) {
    VariableStatData column;
    Node* other;
    bool column_on_left;
    // The condition is about two columns of one row, or about none: the statistics do not help.
    if (!get_restriction_variable(at.root, arguments, at.varRelid, &column, &other,
                                  &column_on_left))
        return std::max(DEFAULT_EQ_SEL, near.share_by_chance());
    // The operators are strict, so NULL finds nothing.
    double share = is_null_constant(other) ? 0 : column_share(near, &column, other);
    ReleaseVariableStats(column);
    return share;
}

// ---- the share of all pairs of two tables' rows ----

double inner_join_share(const Nearness& near, const ColumnStatistics& left,
                        const ColumnStatistics& right) {
    // Pairs of two most-common values near each other. The lists are in order of frequency, so
    // their beginnings are enough.
    double common = 0;
    for (int i = 0; i < std::min(left.common.nvalues, kComparedValues); i++)
        for (int j = 0; j < std::min(right.common.nvalues, kComparedValues); j++)
            if (near.space.distance(left.common.values[i], right.common.values[j]) <= near.radius)
                common += double(left.common.numbers[i]) * right.common.numbers[j];
    double distinct = std::max(left.rest_distinct, right.rest_distinct);
    double of_rest = std::min(1.0, near.expected_neighbours(distinct) / distinct);
    // Pairs of two common values have been counted one by one; all others are estimated.
    double common_pairs = (left.not_null - left.rest) * (right.not_null - right.rest);
    double other_pairs = std::max(0.0, left.not_null * right.not_null - common_pairs);
    return common + left.rest * right.rest * of_rest + other_pairs * near.share_by_chance();
}

// The share of the outer rows that have a match: all where one may expect a match or more.
double semi_join_share(const Nearness& near, const ColumnStatistics& outer,
                       const ColumnStatistics& inner) {
    // This is the probability that an outer and an inner row are near.
    double per_pair = 1 / std::max(outer.distinct, inner.distinct) + near.share_by_chance();
    return outer.not_null * std::min(1.0, inner.rows * inner.not_null * per_pair);
}

double join_share(const SupportRequestSelectivity& at, List* arguments, const Nearness& near) {
    VariableStatData left, right;
    bool reversed; // the left argument is of the inner side
    get_join_variables(at.root, arguments, at.sjinfo, &left, &right, &reversed);
    double share;
    if (left.rel == nullptr || right.rel == nullptr) {
        // hamming_within(a.fp, 42, b.radius): both fingerprints are one table's.
        share = restriction_share(at, arguments, near);
    } else {
        ColumnStatistics outer(near.space, reversed ? &right : &left);
        ColumnStatistics inner(near.space, reversed ? &left : &right);
        if (near.is_everything())
            share = outer.not_null * inner.not_null;
        else if (at.jointype == JOIN_SEMI || at.jointype == JOIN_ANTI)
            share = semi_join_share(near, outer, inner);
        else
            share = inner_join_share(near, outer, inner);
    }
    ReleaseVariableStats(left);
    ReleaseVariableStats(right);
    return share;
}

} // namespace

double share_within(const SupportRequestSelectivity& at, Node* left, Node* right, int64 radius) {
    HammingSpace space = space_of(left, right);
    Nearness near = {space, space.saturate(radius)};
    if (near.radius < 0)
        return 0;
    List* arguments = list_make2(left, right);
    double share =
        at.is_join ? join_share(at, arguments, near) : restriction_share(at, arguments, near);
    CLAMP_PROBABILITY(share);
    return share;
}

// ---- operators ----

namespace {

// The estimate for an operator that has our estimators. A user may declare one of any types with
// them, so nothing is taken for granted.
double share_of_operator(const SupportRequestSelectivity& at, Oid op) {
    if (list_length(at.args) != 2)
        return DEFAULT_EQ_SEL;
    Node *left = node_at(at.args, 0), *right = node_at(at.args, 1);
    // ball @> value
    if (family_of_ball(exprType(left)) != nullptr)
        std::swap(left, right);
    HammingSpace space = space_of(left, right);
    if (family_of_ball(exprType(right)) != nullptr) {
        KnownBall ball = examine_ball(at.root, right, space.bits, space.likely_radius());
        return share_within(at, left, ball.center, ball.radius);
    }
    // =~~ of codes has the likely radius, and an operator of another type is taken to find as few.
    int radius = radius_of_near(get_opcode(op));
    return share_within(at, left, right, radius != kNoRadius ? radius : space.likely_radius());
}

} // namespace
} // namespace simhash

using namespace simhash;

SIMHASH_FUNCTION(simhash_hamming_restrict) {
    // A restriction estimator gets root, operator, arguments, and the relation of the variable.
    SupportRequestSelectivity at = {};
    at.root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    at.args = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    at.varRelid = PG_GETARG_INT32(3);
    PG_RETURN_FLOAT8(share_of_operator(at, PG_GETARG_OID(1)));
}

SIMHASH_FUNCTION(simhash_hamming_join) {
    // A join estimator gets root, operator, arguments, type of the join, and the join.
    SupportRequestSelectivity at = {};
    at.root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    at.args = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    at.is_join = true;
    at.jointype = JoinType(PG_GETARG_INT16(3));
    at.sjinfo = reinterpret_cast<SpecialJoinInfo*>(PG_GETARG_POINTER(4));
    PG_RETURN_FLOAT8(share_of_operator(at, PG_GETARG_OID(1)));
}
