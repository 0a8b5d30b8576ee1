// The planner's questions to hamming() and hamming_within(). README.md beside this file says how a
// query comes to use the index:
//
//   fp <~> $1 <= 3                  as the user wrote it
//       |  the hook: hook.cpp, rewrite.cpp
//   hamming_within(fp, $1, 3)
//       |  the support function of hamming_within(): index_condition()
//   fp <@ hamming_ball($1, 3)       what the index searches for
//
// and the same of codes, with <~~> and bit_ball.
#include "index/access_method.hpp"
#include "planner/requests.hpp"
#include "planner/rewrite.hpp"
#include "values/code/code.hpp"
#include "values/fingerprint/fingerprint.hpp"
#include "values/objects.hpp"

#include <utility>

using namespace simhash;

namespace {

// ---- support function of hamming() ----

// The number of a column of one table in the query itself; 0 for any other expression.
AttrNumber column_number(const Node* side, int* table) {
    // A cast from bit varying to bit does not change the bytes.
    while (IsA(side, RelabelType))
        side = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(side)->arg);
    auto* column = reinterpret_cast<const Var*>(side);
    if (!IsA(side, Var) || column->varlevelsup > 0)
        return 0;
    *table = column->varno;
    return column->varattno;
}

// Whether the sides of a distance change places. The server compares expressions as they stand, so
// an index or statistics on (fp <~> 5) and (a <~> b) serve 5 <~> fp and b <~> a, too.
bool is_turned_round(Node* left, Node* right) {
    if (!contain_var_clause(left))
        return contain_var_clause(right);
    int left_table = 0, right_table = 0;
    AttrNumber a = column_number(left, &left_table), b = column_number(right, &right_table);
    return a != 0 && b != 0 && left_table == right_table && a > b;
}

// The distance a <~> b of two arguments, where the family has the operator whose function is
// hamming; else null.
Node* make_distance(const DistanceFamily& family, Oid hamming, Node* left, Node* right) {
    Oid op = distance_operator(family, hamming);
    if (!OidIsValid(op))
        return nullptr;
    if (is_turned_round(left, right))
        std::swap(left, right);
    auto* distance = reinterpret_cast<OpExpr*>(
        make_opclause(op, INT4OID, false, reinterpret_cast<Expr*>(left),
                      reinterpret_cast<Expr*>(right), InvalidOid, InvalidOid));
    // make_opclause() leaves the function open.
    distance->opfuncid = hamming;
    return reinterpret_cast<Node*>(distance);
}

// hamming(a, b) becomes a <~> b: ORDER BY hamming(fp, $1) then matches the ordering operator.
Node* simplify_distance(const FuncExpr* call) {
    // The planner asks this before it opens the query's tables, so the hook is there in time.
    install_rewriting();
    const DistanceFamily* family = family_of(call->funcid, &DistanceFamily::hamming);
    if (family == nullptr || list_length(call->args) != 2)
        return nullptr;
    return make_distance(*family, call->funcid, node_at(call->args, 0), node_at(call->args, 1));
}

// ---- support function of hamming_within() ----

// The ball of two constants.
Const* make_constant_ball(const DistanceFamily& family, Oid type, Datum center, int64 radius) {
    Datum ball = &family == &kFingerprints
                     ? PointerGetDatum(make_ball(DatumGetInt64(center), radius))
                     : PointerGetDatum(make_bit_ball(center, radius));
    return makeConst(type, -1, InvalidOid, get_typlen(type), ball, false, false);
}

// The ball of (center, radius): a constant where both are constants, else a call.
Expr* make_ball_expression(const DistanceFamily& family, Oid constructor, Node* center,
                           Node* radius) {
    Oid type = get_func_rettype(constructor);
    const Const *center_constant = space_of(center, center).constant(center),
                *radius_constant = bigint_constant(radius);
    if (center_constant != nullptr && radius_constant != nullptr)
        return reinterpret_cast<Expr*>(make_constant_ball(
            family, type, center_constant->constvalue, DatumGetInt64(radius_constant->constvalue)));
    return reinterpret_cast<Expr*>(makeFuncExpr(constructor, type, list_make2(center, radius),
                                                InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

// hamming_within(fp, q, r), where fp or q is the column of the index, becomes
// fp <@ hamming_ball(q, r), and of codes code <@ bit_ball(q, r).
List* index_condition(SupportRequestIndexCondition* request) {
    const DistanceFamily* family = family_of(request->funcid, &DistanceFamily::within);
    IndexedCondition condition;
    if (family == nullptr || !take_apart(request, &condition) || condition.third == nullptr)
        return NIL;
    Oid types[] = {family->type, INT8OID};
    Oid constructor =
        sibling_function(request->funcid, family->ball_sql, types, 2, family->ball_make);
    if (!OidIsValid(constructor))
        return NIL;
    Oid op = operator_of_index(*request, get_func_rettype(constructor), kWithinBall,
                               family->ball_contained);
    Expr* ball = make_ball_expression(*family, constructor, condition.query, condition.third);
    // Both say the same, so the server need not check the rows with the condition as it was.
    return make_condition(request, op, condition.column, reinterpret_cast<Node*>(ball), false);
}

// What the query says of the same distance beside a predicate.
struct Beside {
    int wider;        // the radius of the next wider predicate; kNoRadius where there is none
    Node* comparison; // of the distance with a limit; null where there is none
};

void look_beside(const SupportRequestSelectivity& request, int radius, List* conditions,
                 Beside* beside) {
    auto* left = node_at(request.args, 0);
    auto* right = node_at(request.args, 1);
    bool is_repeated = false;
    ListCell* cell;
    foreach (cell, conditions) {
        auto* clause = reinterpret_cast<Node*>(lfirst_node(RestrictInfo, cell)->clause);
        if (compares_distance(clause, left, right))
            beside->comparison = clause;
        if (!is_funcclause(clause) || reinterpret_cast<FuncExpr*>(clause)->funcid != request.funcid)
            continue;
        List* arguments = reinterpret_cast<FuncExpr*>(clause)->args;
        // Of predicates that are the same the first counts, and the others find all of its rows.
        if (arguments == request.args && is_repeated)
            beside->wider = radius;
        const Const* limit = bigint_constant(node_at(arguments, 2));
        if (limit == nullptr || !equal(linitial(arguments), left) ||
            !equal(lsecond(arguments), right))
            continue;
        is_repeated |= equal(limit, lthird(request.args));
        int other = space_of(left, right).saturate(DatumGetInt64(limit->constvalue));
        // Beyond the greatest distance a wider one holds the same rows.
        if (DatumGetInt64(limit->constvalue) > radius &&
            (beside->wider == kNoRadius || other < beside->wider))
            beside->wider = other;
    }
}

// The distance of a predicate about two columns of one row, if there are statistics of it: by
// CREATE STATISTICS or an index on the expression. Else null.
Node* distance_with_statistics(const SupportRequestSelectivity& request) {
    const DistanceFamily* family = family_of(request.funcid, &DistanceFamily::within);
    auto* left = node_at(request.args, 0);
    auto* right = node_at(request.args, 1);
    if (family == nullptr || request.is_join || !contain_var_clause(left) ||
        !contain_var_clause(right))
        return nullptr;
    Oid types[] = {family->type, family->type};
    Oid hamming = sibling_function(request.funcid, "hamming", types, 2, family->hamming);
    Node* distance = OidIsValid(hamming) ? make_distance(*family, hamming, left, right) : nullptr;
    if (distance == nullptr)
        return nullptr;
    VariableStatData statistics;
    examine_variable(request.root, distance, request.varRelid, &statistics);
    bool are_there = HeapTupleIsValid(statistics.statsTuple);
    ReleaseVariableStats(statistics);
    return are_there ? distance : nullptr;
}

// The share of the rows within a radius, and beyond another one, as if there were no other
// condition.
class Shares {
  public:
    explicit Shares(const SupportRequestSelectivity& request)
        : request_(request), distance_(distance_with_statistics(request)) {}

    double within(int radius, int beyond = kNoRadius) const {
        if (distance_ == nullptr)
            return within_selectivity(context_of(request_), node_at(request_.args, 0),
                                      node_at(request_.args, 1), radius, beyond);
        return std::max(0.0, at_most(radius) - at_most(beyond));
    }

  private:
    // As the server estimates distance < radius + 1.
    double at_most(int radius) const {
        Const* limit = make_integer_constant(radius + 1);
        return restriction_selectivity(request_.root, Int4LessOperator,
                                       list_make2(distance_, limit), InvalidOid, request_.varRelid);
    }

    const SupportRequestSelectivity& request_;
    Node* distance_;
};

// The share of the rows that meet what stands beside a predicate, among those with no such
// condition. The server multiplies the shares of all conditions, as if one did not depend on the
// other. But d = k stands as two predicates, within k and NOT within k - 1, and a comparison that
// stays stands beside its own predicate. So the share of the narrower predicate is that of the rows
// within the wider one, and the share of a predicate that of the rows that meet the comparison.
double share_of_predicate(const SupportRequestSelectivity& request, int radius) {
    Shares shares(request);
    Beside beside = {kNoRadius, nullptr};
    int table = -1;
    Relids tables = pull_varnos(request.root, reinterpret_cast<Node*>(request.args));
    while ((table = bms_next_member(tables, table)) >= 0) {
        // Only a table that is part of the query has conditions.
        const RelOptInfo* relation = request.root->simple_rel_array[table];
        if (relation == nullptr)
            continue;
        look_beside(request, radius, relation->baserestrictinfo, &beside);
        look_beside(request, radius, relation->joininfo, &beside);
    }
    double share = shares.within(radius);
    if (beside.wider != kNoRadius) {
        double wider = shares.within(beside.wider);
        return wider > 0 ? 1 - shares.within(beside.wider, radius) / wider : share;
    }
    if (beside.comparison == nullptr)
        return share;
    double compared = clause_selectivity(request.root, beside.comparison, request.varRelid,
                                         request.jointype, request.sjinfo);
    return compared > 0 ? share / compared : share;
}

Node* estimate_predicate(SupportRequestSelectivity* request) {
    if (list_length(request->args) != 3)
        return nullptr;
    Node* limit = estimate_expression_value(request->root, node_at(request->args, 2));
    const Const* known = bigint_constant(limit);
    double share = 0; // a limit of NULL finds no row
    if (!is_null_constant(limit)) {
        HammingSpace space = space_of(node_at(request->args, 0), node_at(request->args, 1));
        share = share_of_predicate(*request, known != nullptr
                                                 ? space.saturate(DatumGetInt64(known->constvalue))
                                                 : space.likely_radius());
    }
    CLAMP_PROBABILITY(share);
    request->selectivity = share;
    return reinterpret_cast<Node*>(request);
}

} // namespace

SIMHASH_FUNCTION(simhash_hamming_support) {
    return answer_planner(fcinfo, simplify_distance, nullptr, nullptr);
}

SIMHASH_FUNCTION(simhash_hamming_within_support) {
    return answer_planner(fcinfo, nullptr, index_condition, estimate_predicate);
}

SIMHASH_FUNCTION(simhash_text_support) {
    return answer_planner(fcinfo, without_collation, nullptr, nullptr);
}
