// How "WHERE fp <~> $1 <= 3" comes to use the index, with nothing to configure.
//
// PostgreSQL matches only "column operator value" with an index. The condition is brought into that
// form in two steps, both begun here, each where the server asks for it:
//
//   fp <~> $1 <= 3                         as written; <~> is a plain integer
//       |  rewriting: rewrite.cpp, called when the planner opens a table
//   hamming_within(fp, $1, 3)              one function call; EXPLAIN shows it as a filter
//       |  index condition: the support function of hamming_within
//   fp <@ hamming_ball($1, 3)              what the index searches for
//
// Rewriting needs a moment after the planner has simplified the conditions and before it
// distributes them to the tables. A hook of the planner is called then, when it opens the first
// table: get_relation_info_hook, from PostgreSQL 19 on build_simple_rel_hook. Nothing need be
// preloaded for the hook to be there: simplifying an expression with <~> in it, which comes before,
// calls the support function of hamming(), and that installs it.
//
// How many rows a predicate leaves is estimated by selectivity.cpp, what an index path costs by
// cost.cpp.
//
// The rewriting keeps no memory of a run of the planner that could be stale in the next one: the hook
// looks at the query it is called for, once, and what is rewritten does not match again.
#include "planner/planner.hpp"

#include <algorithm>

#include "core/bits/ball.hpp"
#include "index/access_method.hpp"
#include "operators/ball.hpp"
#include "planner/constants.hpp"
#include "planner/objects.hpp"
#include "planner/rewrite.hpp"
#include "planner/selectivity.hpp"

namespace simhash {

// ---- the hook ----
//
// It is taken when a distance is planned, and taken again whenever something else is found there:
// a library that is loaded after ours may take it without calling whom it finds, as Citus does, and
// the condition would become a sequential scan, silently. What is found there is called by us. Most
// libraries call whom they found as well, and come back to us: such a call from within, for the
// same table, goes on with what we found before. So every hook has its turn, and no chain is
// endless, even where another library takes the hook back as we do.
//
// What a library that is loaded while a query is planned takes from us, that query is without.

namespace {

constexpr int kMostOthers = 16; // as many libraries with such a hook are not expected

// The hooks that were found in the place of ours, the latest last.
TableHook others[kMostOthers];
int other_count = 0;

// The table that the hook is being called for, and how many of the others are still to be called.
struct Opening {
    const RelOptInfo* relation;
    int others_left;
};
Opening opening = {nullptr, 0};

void add_other(TableHook other) {
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
    Opening outer = opening; // another hook may have queries planned
    opening = {table.relation, other_count};
    PG_TRY();
    { call_next_other(table); }
    PG_FINALLY();
    { opening = outer; }
    PG_END_TRY();
}

bool is_first_table(PlannerInfo* root, RelOptInfo* relation) {
    for (int i = 1; i < root->simple_rel_array_size; i++) {
        RelOptInfo* other = root->simple_rel_array[i];
        if (other != nullptr && other != relation && other->rtekind == RTE_RELATION)
            return false;
    }
    return true;
}

void rewrite_on_opening(const OpenedTable& table) {
    if (opening.relation == table.relation) {
        call_next_other(table);
        return;
    }
    call_others(table);
    PlannerInfo* root = table.root;
    RelOptInfo* relation = table.relation;
    if (!table.is_table())
        return;
    // Utility commands make planner data of their own, without a query in it.
    if (root->parse == nullptr || root->parse->jointree == nullptr)
        return;
    rewrite_index_predicates(root, relation);
    if (relation->reloptkind == RELOPT_OTHER_MEMBER_REL)
        rewrite_union_conditions(root, relation);
    else if (is_first_table(root, relation))
        rewrite_query_conditions(root);
}

// Has the conditions of queries rewritten from now on.
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

// hamming(a, b) becomes a <~> b, so that ORDER BY hamming(fp, $1) matches the index's ordering
// operator.
Node* simplify_distance(SupportRequestSimplify* request) {
    install_rewriting();
    Oid op = distance_operator(request->fcall->funcid);
    if (!OidIsValid(op) || list_length(request->fcall->args) != 2)
        return nullptr;
    auto* left = static_cast<Expr*>(linitial(request->fcall->args));
    auto* right = static_cast<Expr*>(lsecond(request->fcall->args));
    auto* distance = reinterpret_cast<OpExpr*>(
        make_opclause(op, INT4OID, false, left, right, InvalidOid, InvalidOid));
    distance->opfuncid = request->fcall->funcid;
    return reinterpret_cast<Node*>(distance);
}

// ---- support function of simhash() and other functions of texts ----

namespace {

// The call without the collation that the parser gave it for its text arguments, which none of
// these functions looks at. postgres_fdw ships a call with a collation only where the collation
// comes from a remote column: not simhash($1), and then not fp <~> simhash($1) <= 3 either.
Node* without_collation(const FuncExpr* call) {
    if (!OidIsValid(call->inputcollid))
        return nullptr;
    auto* copy = makeNode(FuncExpr);
    *copy = *call;
    copy->inputcollid = InvalidOid;
    return reinterpret_cast<Node*>(copy);
}

} // namespace

// ---- support function of hamming_within(), hamming_at() and hamming_beyond() ----

// The ball of (center, radius): a constant where both are, else a call that the executor evaluates.
Expr* make_ball_expression(Oid constructor, Node* center, Node* radius) {
    Oid type = get_func_rettype(constructor);
    const Const *center_constant = bigint_constant(center),
                *radius_constant = bigint_constant(radius);
    if (center_constant != nullptr && radius_constant != nullptr) {
        HammingBall* ball = make_ball(DatumGetInt64(center_constant->constvalue),
                                      DatumGetInt64(radius_constant->constvalue));
        return reinterpret_cast<Expr*>(makeConst(type, -1, InvalidOid, sizeof(HammingBall),
                                                 PointerGetDatum(ball), false, false));
    }
    return reinterpret_cast<Expr*>(makeFuncExpr(constructor, type, list_make2(center, radius),
                                                InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

// The index's <@ for the balls that the constructor makes, or InvalidOid when it is another kind of
// index.
Oid contained_operator(Oid opfamily, Oid constructor) {
    Oid op = get_opfamily_member(opfamily, INT8OID, get_func_rettype(constructor), kWithinBall);
    if (!OidIsValid(op))
        return InvalidOid;
    Oid function = get_opcode(op);
    return is_our_function(function, kBallContained) && may_call(function) ? op : InvalidOid;
}

// hamming_within(fp, q, r) with fp or q the index's column: fp <@ hamming_ball(q, r). The same for
// hamming_at, which wants the ball's rim only; hamming_beyond wants what is outside.
List* index_condition(SupportRequestIndexCondition* request) {
    bool is_within = is_our_function(request->funcid, kHammingWithin);
    if (!is_within && !is_our_function(request->funcid, kHammingAt))
        return NIL;
    // Not a bigint of the scope.
    if (!is_funcclause(request->node) || request->indexarg > 1 || request->indexcol > 0)
        return NIL;
    List* arguments = reinterpret_cast<FuncExpr*>(request->node)->args;
    if (list_length(arguments) != 3)
        return NIL;
    auto* column = static_cast<Expr*>(list_nth(arguments, request->indexarg));
    auto* query = static_cast<Node*>(list_nth(arguments, 1 - request->indexarg));
    auto* radius = static_cast<Node*>(lthird(arguments));
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
    auto* condition = reinterpret_cast<OpExpr*>(
        make_opclause(op, BOOLOID, false, column, make_ball_expression(constructor, query, radius),
                      InvalidOid, InvalidOid));
    set_opfuncid(condition);
    request->lossy = !is_within;
    return list_make1(condition);
}

// The ball; the ball without the next smaller one; everything without the ball. Of rows that have a
// match (EXISTS) no such difference can be taken: nearly all have one beyond any ball.
double predicate_share(const SelectivityContext& context, Oid function, Node* left, Node* right,
                       int64 limit) {
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
    return differences ? inside - within_selectivity(context, left, right, int(limit) - 1) : inside;
}

Node* estimate_predicate(SupportRequestSelectivity* request) {
    if (list_length(request->args) != 3)
        return nullptr;
    Node* limit =
        estimate_expression_value(request->root, static_cast<Node*>(lthird(request->args)));
    const Const* known = bigint_constant(limit);
    double share = 0; // of NULL
    if (!is_null_constant(limit)) {
        SelectivityContext context = {request->root, request->varRelid, request->is_join,
                                      request->jointype, request->sjinfo};
        int64 radius = known != nullptr ? DatumGetInt64(known->constvalue) : kNearDuplicateRadius;
        share =
            predicate_share(context, request->funcid, static_cast<Node*>(linitial(request->args)),
                            static_cast<Node*>(lsecond(request->args)), radius);
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
        answer = simplify_distance(reinterpret_cast<SupportRequestSimplify*>(request));
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
