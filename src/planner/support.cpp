// The planner's questions to our functions, and our hook in the planner. README.md beside this file
// says why there is a hook, when it is called and what it may change.
//
//   fp <~> $1 <= 3                  as the user wrote it
//       |  the hook: rewrite_on_opening(), rewrite.cpp
//   hamming_within(fp, $1, 3)
//       |  the support function of hamming_within(): index_condition()
//   fp <@ hamming_ball($1, 3)       what the index searches for
//
// and the same of codes, with <~~> and bit_ball.
#include "index/cost.hpp"

#include <algorithm>

#include "index/access_method.hpp"
#include "values/fingerprint/ball.hpp"
#include "values/code/bit_ball.hpp"
#include "server/expressions.hpp"
#include "values/objects.hpp"
#include "planner/rewrite.hpp"
#include "values/selectivity.hpp"

namespace simhash {

// ---- the hook ----
//
// Planning a distance installs the hook, and installs it again where another library has taken it:
// some, such as Citus, set the hook without calling the one that they find, and the condition would
// become a sequential scan in silence. We remember every hook that we find in our place and call
// it. If that one calls the hook that it found, which may be ours, we are called from within for
// the same table, and go on with the hook that we found before. So each hook has its turn once, and
// no chain is endless, even where another library also takes the hook back.
//
// If another library takes the hook between the simplification of a query and the opening of its
// first table, that query is not rewritten.

namespace {

// More libraries with a hook there are not expected; beyond, the one found first is forgotten.
constexpr int kMostOthers = 16;

// The hooks that were found in the place of ours, the latest last.
TableHook others[kMostOthers];
int other_count = 0;

// The table for which the hook is being called, and how many of the others are still to be called.
// There is one at a time: the planner opens tables one after another, and an outer one is kept in
// call_others().
struct Opening {
    const RelOptInfo* relation;
    int others_left;
};
Opening opening = {nullptr, 0};

void add_other(TableHook other) {
    // A hook that was found before moves to the end: its library was the last to take our place.
    auto* end = std::remove(others, others + other_count, other);
    if (end == others + kMostOthers)
        end = std::move(others + 1, end, others);
    *end++ = other;
    other_count = int(end - others);
}

void call_next_other(const OpenedTable& table) {
    if (opening.others_left > 0)
        table.hand_to(others[--opening.others_left]);
}

void call_others(const OpenedTable& table) {
    // Another hook may plan queries of its own, for whose tables we are called meanwhile.
    Opening outer = opening;
    opening = {table.relation, other_count};
    PG_TRY();
    { call_next_other(table); }
    PG_FINALLY();
    // This is done also after an error, which would otherwise leave a pointer to a table of a query
    // that is gone.
    { opening = outer; }
    PG_END_TRY();
}

// True when the planner has opened no other table of this query yet.
bool is_first_table(PlannerInfo* root, RelOptInfo* relation) {
    // Numbers of range table entries begin with 1.
    for (int i = 1; i < root->simple_rel_array_size; i++) {
        RelOptInfo* other = root->simple_rel_array[i];
        if (other != nullptr && other != relation && other->rtekind == RTE_RELATION)
            return false;
    }
    return true;
}

void rewrite_on_opening(const OpenedTable& table) {
    // Another hook, which we are calling for this table, has called us in its turn.
    if (opening.relation == table.relation) {
        call_next_other(table);
        return;
    }
    // The others come first: they may add to the list of indexes (as hypopg does), and we rewrite
    // the predicates of all.
    call_others(table);
    PlannerInfo* root = table.root;
    RelOptInfo* relation = table.relation;
    if (!table.is_table())
        return;
    // Utility commands, such as CLUSTER and CREATE INDEX, make planner data without a query in it.
    if (root->parse == nullptr || root->parse->jointree == nullptr)
        return;
    rewrite_index_predicates(root, relation);
    // The conditions of the query are rewritten once, while they are still in its join tree. A
    // member of a UNION ALL is opened later, when they have been distributed.
    if (relation->reloptkind != RELOPT_OTHER_MEMBER_REL && is_first_table(root, relation))
        rewrite_query_conditions(root);
}

// Puts our hook in its place, where it is not there.
void install_rewriting() {
    constexpr TableHook kOurs = kTableHookTo<rewrite_on_opening>;
    if (table_hook() == kOurs)
        return;
    if (table_hook() != nullptr)
        add_other(table_hook());
    table_hook() = kOurs;
}

} // namespace

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

// The operator <@ of the index for the balls that the constructor makes; InvalidOid where the index
// is of another kind.
Oid contained_operator(const DistanceFamily& family, Oid opfamily, Oid constructor) {
    Oid op = get_opfamily_member(opfamily, family.type, get_func_rettype(constructor), kWithinBall);
    if (!OidIsValid(op))
        return InvalidOid;
    Oid function = get_opcode(op);
    return is_our_function(function, family.ball_contained) && may_call(function) ? op : InvalidOid;
}

// The operator <@ of the request's index, and the constructor of its balls, for the family of
// hamming_within(). Both InvalidOid where the index is of another kind.
struct BallSearch {
    Oid op, constructor;
};

BallSearch ball_search(const SupportRequestIndexCondition& request, const DistanceFamily& family) {
    Oid types[] = {family.type, INT8OID};
    Oid constructor = sibling_function(request.funcid, family.ball_sql, types, 2, family.ball_make);
    if (!OidIsValid(constructor))
        return {InvalidOid, InvalidOid};
    return {contained_operator(family, request.opfamily, constructor), constructor};
}

// hamming_within(fp, q, r), where fp or q is the column of the index, becomes
// fp <@ hamming_ball(q, r), and of codes code <@ bit_ball(q, r).
List* index_condition(SupportRequestIndexCondition* request) {
    const DistanceFamily* family = family_of(request->funcid, &DistanceFamily::within);
    if (family == nullptr)
        return NIL;
    // The third argument is the radius. An index column after the first is of the scope.
    if (!is_funcclause(request->node) || request->indexarg > 1 || request->indexcol > 0)
        return NIL;
    List* arguments = reinterpret_cast<FuncExpr*>(request->node)->args;
    if (list_length(arguments) != 3)
        return NIL;
    auto* column = static_cast<Expr*>(list_nth(arguments, request->indexarg));
    auto* query = static_cast<Node*>(list_nth(arguments, 1 - request->indexarg));
    auto* radius = static_cast<Node*>(lthird(arguments));
    // The query and the radius must not depend on the table that is scanned, and not be volatile:
    // the index needs them before the scan begins.
    if (!is_pseudo_constant_for_index(request->root, query, request->index) ||
        !is_pseudo_constant_for_index(request->root, radius, request->index))
        return NIL;
    // Another user may not be allowed to call these functions, and must not get this plan.
    request->root->glob->dependsOnRole = true;
    // Nor may this user see by the index what the function would refuse.
    if (!may_call(request->funcid))
        return NIL;
    BallSearch search = ball_search(*request, *family);
    if (!OidIsValid(search.op))
        return NIL;
    Expr* ball = make_ball_expression(*family, search.constructor, query, radius);
    auto* condition = reinterpret_cast<OpExpr*>(
        make_opclause(search.op, BOOLOID, false, column, ball, InvalidOid, InvalidOid));
    set_opfuncid(condition);
    // Both say the same, so the server need not check the rows with the condition as it was.
    request->lossy = false;
    return list_make1(condition);
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
double share_of_predicate(const SelectivityContext& context,
                          const SupportRequestSelectivity& request, int radius) {
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
        SelectivityContext context = {request->root, request->varRelid, request->is_join,
                                      request->jointype, request->sjinfo};
        HammingSpace space = space_of(static_cast<Node*>(linitial(request->args)),
                                      static_cast<Node*>(lsecond(request->args)));
        share =
            share_of_predicate(context, *request,
                               known != nullptr ? space.saturate(DatumGetInt64(known->constvalue))
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
    auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    Node* answer = nullptr;
    if (IsA(request, SupportRequestSimplify))
        answer = simplify_distance(reinterpret_cast<SupportRequestSimplify*>(request)->fcall);
    PG_RETURN_POINTER(answer);
}

Datum simhash_hamming_within_support(PG_FUNCTION_ARGS) {
    auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    Node* answer = nullptr;
    if (IsA(request, SupportRequestIndexCondition))
        answer = reinterpret_cast<Node*>(
            index_condition(reinterpret_cast<SupportRequestIndexCondition*>(request)));
    else if (IsA(request, SupportRequestSelectivity))
        answer = estimate_predicate(reinterpret_cast<SupportRequestSelectivity*>(request));
    PG_RETURN_POINTER(answer);
}

Datum simhash_text_support(PG_FUNCTION_ARGS) {
    auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    Node* answer = nullptr;
    if (IsA(request, SupportRequestSimplify))
        answer = without_collation(reinterpret_cast<SupportRequestSimplify*>(request)->fcall);
    PG_RETURN_POINTER(answer);
}
}
