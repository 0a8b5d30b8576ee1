// How "WHERE fp <~> $1 <= 3" comes to use the index, with nothing to configure.
//
// PostgreSQL matches only "column operator value" with an index. The predicate is brought into that
// form in two steps, each through a door the server holds open:
//
//   fp <~> $1 <= 3                         as written; <~> is a plain integer
//       |  rewriting: get_relation_info_hook, and rewrite.cpp
//   hamming_within(fp, $1, 3)              one function call; EXPLAIN shows it as a filter
//       |  index condition: support function of hamming_within
//   fp <@ hamming_ball($1, 3)              what the index searches for
//
// Rewriting needs a moment after the planner has simplified the conditions and before it
// distributes them to the tables. get_relation_info_hook is called then, when the planner opens the
// first table. The library need not be preloaded for the hook to be there: simplifying an
// expression with <~> in it calls the support function of hamming(), and that loads the library.
//
// The rewriting keeps no memory of a planner run that could be stale in the next one: the hook
// looks at the query it is called for, once, and what is rewritten does not match again.
#include "planner/planner.hpp"

#include "core/bits/ball.hpp"
#include "operators/ball.hpp"
#include "planner/constants.hpp"
#include "operators/distance.hpp"
#include "planner/objects.hpp"
#include "planner/rewrite.hpp"
#include "planner/selectivity.hpp"

namespace simhash {

// ---- the hook ----

// Nothing is looked for in a session in which no distance was ever planned, even with the library
// preloaded.
static bool a_distance_was_planned = false;
static get_relation_info_hook_type previous_hook = nullptr;

static bool is_first_table(PlannerInfo* root, RelOptInfo* relation) {
    for (int i = 1; i < root->simple_rel_array_size; i++) {
        RelOptInfo* other = root->simple_rel_array[i];
        if (other != nullptr && other != relation && other->rtekind == RTE_RELATION)
            return false;
    }
    return true;
}

static void rewrite_on_opening(PlannerInfo* root, Oid table, bool has_children,
                               RelOptInfo* relation) {
    if (previous_hook != nullptr)
        previous_hook(root, table, has_children, relation);
    // Utility commands make planner data of their own, without a query in it.
    if (!a_distance_was_planned || root->parse == nullptr || root->parse->jointree == nullptr)
        return;
    rewrite_index_predicates(root, relation);
    if (relation->reloptkind == RELOPT_OTHER_MEMBER_REL)
        rewrite_union_conditions(root, relation);
    else if (is_first_table(root, relation))
        rewrite_query_conditions(root);
}

void install_rewriting() {
    previous_hook = get_relation_info_hook;
    get_relation_info_hook = rewrite_on_opening;
}

// ---- support function of hamming() ----

// hamming(a, b) becomes a <~> b, so that ORDER BY hamming(fp, $1) matches the index's ordering
// operator.
static Node* simplify_distance(SupportRequestSimplify* request) {
    a_distance_was_planned = true;
    Oid op = distance_operator(request->fcall->funcid);
    if (!OidIsValid(op) || list_length(request->fcall->args) != 2)
        return nullptr;
    Expr* distance = make_opclause(op, INT4OID, false, (Expr*)linitial(request->fcall->args),
                                   (Expr*)lsecond(request->fcall->args), InvalidOid, InvalidOid);
    ((OpExpr*)distance)->opfuncid = request->fcall->funcid;
    return (Node*)distance;
}

// ---- support function of hamming_within(), hamming_at() and hamming_beyond() ----

// The ball of (center, radius): a constant where both are, else a call that the executor evaluates.
static Expr* make_ball_expression(Oid constructor, Node* center, Node* radius) {
    Oid type = get_func_rettype(constructor);
    const Const *center_constant = bigint_constant(center),
                *radius_constant = bigint_constant(radius);
    if (center_constant != nullptr && radius_constant != nullptr) {
        HammingBall* ball = make_ball(DatumGetInt64(center_constant->constvalue),
                                      DatumGetInt64(radius_constant->constvalue));
        return (Expr*)makeConst(type, -1, InvalidOid, sizeof(HammingBall), PointerGetDatum(ball),
                                false, false);
    }
    return (Expr*)makeFuncExpr(constructor, type, list_make2(center, radius), InvalidOid,
                               InvalidOid, COERCE_EXPLICIT_CALL);
}

// The index's <@ for the balls that the constructor makes, or InvalidOid when it is another kind of
// index.
static Oid contained_operator(Oid opfamily, Oid constructor) {
    Oid op = get_opfamily_member(opfamily, INT8OID, get_func_rettype(constructor), 1);
    if (!OidIsValid(op))
        return InvalidOid;
    Oid function = get_opcode(op);
    return is_our_function(function, kBallContained) && may_call(function) ? op : InvalidOid;
}

// hamming_within(fp, q, r) with fp or q the index's column: fp <@ hamming_ball(q, r). The same for
// hamming_at, which wants the ball's rim only; hamming_beyond wants what is outside.
static List* index_condition(SupportRequestIndexCondition* request) {
    bool is_within = is_our_function(request->funcid, kHammingWithin);
    if (!is_within && !is_our_function(request->funcid, kHammingAt))
        return NIL;
    if (!is_funcclause(request->node) || request->indexarg > 1 ||
        list_length(((FuncExpr*)request->node)->args) != 3)
        return NIL;
    List* arguments = ((FuncExpr*)request->node)->args;
    auto column = (Node*)list_nth(arguments, request->indexarg);
    auto query = (Node*)list_nth(arguments, 1 - request->indexarg);
    auto radius = (Node*)lthird(arguments);
    if (!is_pseudo_constant_for_index(request->root, query, request->index) ||
        !is_pseudo_constant_for_index(request->root, radius, request->index))
        return NIL;
    request->root->glob->dependsOnRole = true; // on what its user may call
    constexpr Oid kTypes[] = {INT8OID, INT8OID};
    Oid constructor = sibling_function(request->funcid, "hamming_ball", kTypes, 2, kBallMake);
    Oid op =
        OidIsValid(constructor) ? contained_operator(request->opfamily, constructor) : InvalidOid;
    if (!OidIsValid(op))
        return NIL;
    Expr* condition =
        make_opclause(op, BOOLOID, false, (Expr*)column,
                      make_ball_expression(constructor, query, radius), InvalidOid, InvalidOid);
    set_opfuncid((OpExpr*)condition);
    request->lossy = !is_within;
    return list_make1(condition);
}

// The ball; the ball without the next smaller one; everything without the ball. Of rows that have a
// match (EXISTS) no such difference can be taken: nearly all have one beyond any ball.
static double predicate_share(const SelectivityContext& context, Oid function, Node* left,
                              Node* right, int64 limit) {
    bool differences = context.join_type != JOIN_SEMI && context.join_type != JOIN_ANTI;
    double inside = within_selectivity(context, left, right, saturate_radius(limit));
    if (is_our_function(function, kHammingBeyond)) {
        double everything = within_selectivity(context, left, right, kFingerprintBits);
        return differences ? everything - inside : everything;
    }
    if (!is_our_function(function, kHammingAt))
        return inside;
    if (limit < 0 || limit > kFingerprintBits)
        return 0;
    return differences ? inside - within_selectivity(context, left, right, (int)limit - 1) : inside;
}

static Node* estimate_predicate(SupportRequestSelectivity* request) {
    if (list_length(request->args) != 3)
        return nullptr;
    Node* limit = estimate_expression_value(request->root, (Node*)lthird(request->args));
    const Const* known = bigint_constant(limit);
    double share = 0; // of NULL
    if (!is_null_constant(limit)) {
        SelectivityContext context = {request->root, request->varRelid, request->is_join,
                                      request->jointype, request->sjinfo};
        int64 radius = known != nullptr ? DatumGetInt64(known->constvalue) : kNearDuplicateRadius;
        share = predicate_share(context, request->funcid, (Node*)linitial(request->args),
                                (Node*)lsecond(request->args), radius);
    }
    CLAMP_PROBABILITY(share);
    request->selectivity = share;
    return (Node*)request;
}

} // namespace simhash

using namespace simhash;

extern "C" {
PG_FUNCTION_INFO_V1(simhash_hamming_support);
PG_FUNCTION_INFO_V1(simhash_hamming_within_support);

Datum simhash_hamming_support(PG_FUNCTION_ARGS) {
    auto request = (Node*)PG_GETARG_POINTER(0);
    Node* answer = nullptr;
    if (IsA(request, SupportRequestSimplify))
        answer = simplify_distance((SupportRequestSimplify*)request);
    PG_RETURN_POINTER(answer);
}

Datum simhash_hamming_within_support(PG_FUNCTION_ARGS) {
    auto request = (Node*)PG_GETARG_POINTER(0);
    Node* answer = nullptr;
    if (IsA(request, SupportRequestIndexCondition))
        answer = (Node*)index_condition((SupportRequestIndexCondition*)request);
    else if (IsA(request, SupportRequestSelectivity))
        answer = estimate_predicate((SupportRequestSelectivity*)request);
    PG_RETURN_POINTER(answer);
}
}
