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
#include "planner/hook.hpp"
#include "planner/requests.hpp"
#include "planner/rewrite.hpp"
#include "server/expressions.hpp"
#include "values/code/bit_ball.hpp"
#include "values/fingerprint/ball.hpp"
#include "values/objects.hpp"

#include <utility>

namespace simhash {

// ---- support function of hamming() ----

namespace {

// The distance a <~> b of two arguments, where the family has the operator whose function is
// hamming; else null.
Node* make_distance(const DistanceFamily& family, Oid hamming, Node* left, Node* right) {
    Oid op = distance_operator(family, hamming);
    if (!OidIsValid(op))
        return nullptr;
    auto* distance = reinterpret_cast<OpExpr*>(
        make_opclause(op, INT4OID, false, reinterpret_cast<Expr*>(left),
                      reinterpret_cast<Expr*>(right), InvalidOid, InvalidOid));
    // make_opclause() leaves the function open.
    distance->opfuncid = hamming;
    return reinterpret_cast<Node*>(distance);
}

// hamming(a, b) becomes a <~> b, so that ORDER BY hamming(fp, $1) matches the index's ordering
// operator. A side without columns goes to the right, so that an index or statistics on (fp <~> 5)
// serve 5 <~> fp, too: the server compares expressions as they stand.
Node* simplify_distance(const FuncExpr* call) {
    // The planner asks this before it opens the query's tables, so the hook is there in time.
    install_rewriting();
    const DistanceFamily* family = family_of(call->funcid, &DistanceFamily::hamming);
    if (family == nullptr || list_length(call->args) != 2)
        return nullptr;
    auto* left = static_cast<Node*>(linitial(call->args));
    auto* right = static_cast<Node*>(lsecond(call->args));
    if (!contain_var_clause(left) && contain_var_clause(right))
        std::swap(left, right);
    return make_distance(*family, call->funcid, left, right);
}

// ---- support function of hamming_within() ----

// The ball of two constants.
Const* make_constant_ball(const DistanceFamily& family, Oid type, Datum center, int64 radius) {
    Datum ball = &family == &kFingerprints
                     ? PointerGetDatum(make_ball(DatumGetInt64(center), radius))
                     : PointerGetDatum(make_bit_ball(center, radius));
    return makeConst(type, -1, InvalidOid, get_typlen(type), ball, false, false);
}

// The ball of (center, radius): a constant where both are constants, else a call that the executor
// evaluates.
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

void look_beside(const SupportRequestSelectivity& request, int64 radius, List* conditions,
                 Beside* beside) {
    auto* left = static_cast<Node*>(linitial(request.args));
    auto* right = static_cast<Node*>(lsecond(request.args));
    ListCell* cell;
    foreach (cell, conditions) {
        auto* clause = reinterpret_cast<Node*>(lfirst_node(RestrictInfo, cell)->clause);
        if (compares_distance(clause, left, right))
            beside->comparison = clause;
        if (!is_funcclause(clause) || reinterpret_cast<FuncExpr*>(clause)->funcid != request.funcid)
            continue;
        List* arguments = reinterpret_cast<FuncExpr*>(clause)->args;
        const Const* other = bigint_constant(static_cast<Node*>(lthird(arguments)));
        if (other == nullptr || DatumGetInt64(other->constvalue) <= radius ||
            !equal(linitial(arguments), left) || !equal(lsecond(arguments), right))
            continue;
        int wider = space_of(left, right).saturate(DatumGetInt64(other->constvalue));
        if (beside->wider == kNoRadius || wider < beside->wider)
            beside->wider = wider;
    }
}

// The share of the rows that meet what stands beside a predicate, among those with no such
// condition. The server multiplies the shares of all conditions, as if one did not depend on the
// other. But d = k stands as two predicates, within k and NOT within k - 1, and a comparison that
// stays stands beside its own predicate. So the share of the narrower predicate is that of the rows
// within the wider one, and the share of a predicate that of the rows that meet the comparison.
double share_of_predicate(const SupportRequestSelectivity& request, int radius) {
    SelectivityContext context = context_of(request);
    auto* left = static_cast<Node*>(linitial(request.args));
    auto* right = static_cast<Node*>(lsecond(request.args));
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
    double share = within_selectivity(context, left, right, radius);
    if (beside.wider != kNoRadius) {
        double wider = within_selectivity(context, left, right, beside.wider);
        double ring = within_selectivity(context, left, right, beside.wider, radius);
        return wider > 0 ? 1 - ring / wider : share;
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
    Node* limit =
        estimate_expression_value(request->root, static_cast<Node*>(lthird(request->args)));
    const Const* known = bigint_constant(limit);
    double share = 0; // a limit of NULL finds no row
    if (!is_null_constant(limit)) {
        HammingSpace space = space_of(static_cast<Node*>(linitial(request->args)),
                                      static_cast<Node*>(lsecond(request->args)));
        share = share_of_predicate(*request, known != nullptr
                                                 ? space.saturate(DatumGetInt64(known->constvalue))
                                                 : space.likely_radius());
    }
    CLAMP_PROBABILITY(share);
    request->selectivity = share;
    return reinterpret_cast<Node*>(request);
}

} // namespace

} // namespace simhash

using namespace simhash;

extern "C" {
PG_FUNCTION_INFO_V1(simhash_hamming_support);
PG_FUNCTION_INFO_V1(simhash_hamming_within_support);
PG_FUNCTION_INFO_V1(simhash_text_support);

Datum simhash_hamming_support(PG_FUNCTION_ARGS) {
    return answer_planner(fcinfo, simplify_distance, nullptr, nullptr);
}

Datum simhash_hamming_within_support(PG_FUNCTION_ARGS) {
    return answer_planner(fcinfo, nullptr, index_condition, estimate_predicate);
}

Datum simhash_text_support(PG_FUNCTION_ARGS) {
    return answer_planner(fcinfo, without_collation, nullptr, nullptr);
}
}
