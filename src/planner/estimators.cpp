// The estimators of our operators, and of documents: how many rows the planner expects.
//
// A column of texts has no statistics of fingerprints. The server's own list common texts that are
// short. Long texts that many rows have, and pages made from one template, are seen by a look into
// the column's index: equal and similar texts stand side by side in the posting table of a lane, so
// one descent finds where they begin, and the pages above the leaves tell how many there are.
#include "index/lanes.hpp"
#include "index/store/index_cache.hpp"
#include "index/store/tree.hpp"
#include "planner/requests.hpp"
#include "values/objects.hpp"

#include <algorithm>
#include <cmath>

namespace simhash {

// ---- texts ----

namespace {

bool is_text(Oid type) {
    Oid base = getBaseType(type);
    return base == TEXTOID || base == VARCHAROID;
}

// The number of rows in an index on texts that are like this one: those whose first lane begins
// with as many bits as there are fingerprints in the table, in binary digits. By chance that is
// about one.
double rows_like(Relation index, Datum text) {
    Layout layout = index_cache(index)->layout;
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
        double rows = is_simhash_index(relation) ? rows_like(relation, text) : 0;
        index_close(relation, NoLock);
        if (rows > 0)
            return rows / std::max(1.0, table->tuples);
    }
    return 0;
}

// The share of rows whose text equals a known one, as the server estimates it, or is like it, as
// the index tells.
double known_text_share(const SelectivityContext& context, List* arguments) {
    VariableStatData column;
    Node* other;
    bool column_on_left;
    if (!get_restriction_variable(context.root, arguments, context.relation, &column, &other,
                                  &column_on_left))
        return 0;
    double share = 0;
    auto* text = reinterpret_cast<Const*>(other);
    if (IsA(other, Const) && !text->constisnull && is_text(column.vartype) &&
        is_text(text->consttype)) {
        share = var_eq_const(&column, TextEqualOperator, C_COLLATION_OID, text->constvalue, false,
                             column_on_left, false);
        // As the server, for whom may see all rows only: an estimate tells of the others.
        if (column.rel != nullptr && HeapTupleIsValid(column.statsTuple) && column.acl_ok)
            share = std::max(share, share_by_index(column.rel, column.var, text->constvalue));
    }
    ReleaseVariableStats(column);
    return share;
}

} // namespace

double document_selectivity(const SelectivityContext& context, Node* left, Node* right,
                            int radius) {
    double share = within_selectivity(context, left, right, radius);
    if (!context.is_join && share > 0) {
        List* arguments = list_make2(left, right);
        share = std::max(share, known_text_share(context, arguments));
        list_free(arguments);
    }
    CLAMP_PROBABILITY(share);
    return share;
}

// ---- operators ----

namespace {

// The value is a fingerprint, a code or a text.
double ball_operator_selectivity(const SelectivityContext& context, Node* value, Node* ball) {
    HammingSpace space = space_of(value, ball);
    BallEstimate estimate = examine_ball(context.root, ball, space.bits, space.likely_radius());
    if (estimate.never)
        return 0;
    // Where the center is not known, the ball itself stands for an unknown query.
    return within_selectivity(context, value, estimate.center != nullptr ? estimate.center : ball,
                              estimate.radius);
}

// The estimate for an operator that has our estimators. A user may declare one of any types with
// them, so nothing is taken for granted.
double operator_selectivity(const SelectivityContext& context, Oid op, List* arguments) {
    if (list_length(arguments) != 2)
        return DEFAULT_EQ_SEL;
    auto* left = node_at(arguments, 0);
    auto* right = node_at(arguments, 1);
    if (family_of_ball(exprType(right)) != nullptr)
        return ball_operator_selectivity(context, left, right);
    if (family_of_ball(exprType(left)) != nullptr)
        return ball_operator_selectivity(context, right, left);
    Oid function = get_opcode(op);
    if (is_our_function(function, kDocumentsAlike) || is_our_function(function, kPassageShared))
        return document_selectivity(context, left, right, kAlikeRadius);
    // =~~ of codes has the likely radius, and an operator of another type is taken to find as few.
    int radius = radius_of_near(function);
    return within_selectivity(context, left, right,
                              radius != kNoRadius ? radius : space_of(left, right).likely_radius());
}

} // namespace
} // namespace simhash

using namespace simhash;

SIMHASH_FUNCTION(simhash_hamming_restrict) {
    auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    auto* arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    // A restriction estimator gets root, operator, arguments, and the relation of the variable.
    SelectivityContext context = {root, PG_GETARG_INT32(3), false, JOIN_INNER, nullptr};
    PG_RETURN_FLOAT8(operator_selectivity(context, PG_GETARG_OID(1), arguments));
}

SIMHASH_FUNCTION(simhash_hamming_join) {
    auto* root = reinterpret_cast<PlannerInfo*>(PG_GETARG_POINTER(0));
    auto* arguments = reinterpret_cast<List*>(PG_GETARG_POINTER(2));
    // A join estimator gets root, operator, arguments, type of the join, and the join.
    auto* join = reinterpret_cast<SpecialJoinInfo*>(PG_GETARG_POINTER(4));
    SelectivityContext context = {root, 0, true, JoinType(PG_GETARG_INT16(3)), join};
    PG_RETURN_FLOAT8(operator_selectivity(context, PG_GETARG_OID(1), arguments));
}
