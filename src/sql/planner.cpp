// How "WHERE fp <~> $1 <= 3" comes to use the index, with nothing to configure.
//
// PostgreSQL matches only "column operator value" with an index. The predicate is brought into that
// form in two steps, each through a door the server holds open:
//
//   fp <~> $1 <= 3                         as written; <~> is a plain integer
//       |  rewrite, below: get_relation_info_hook
//   hamming_within(fp, $1, 3)              one function call; EXPLAIN shows it as a filter
//       |  index condition, below: support function of hamming_within
//   fp <@ hamming_ball($1, 3)              what the index searches for
//
// Rewriting needs a moment after the planner has simplified the conditions and before it
// distributes them to the tables. get_relation_info_hook is called then, when the planner opens the
// first table. The library need not be preloaded for the hook to be there: simplifying an
// expression with <~> in it calls the support function of hamming(), and that loads the library.
//
// What is rewritten (distance d is a <~> b or hamming(a, b); limit of int2, int4 or int8, any
// expression), and the same with the sides exchanged:
//
//   d <= limit   hamming_within(a, b, limit)            d > limit    hamming_beyond(a, b, limit)
//   d <  limit   hamming_within(a, b, limit less 1)     d >= limit   hamming_beyond(a, b, limit
//   less 1) d =  limit   hamming_at(a, b, limit)                d <> limit   NOT hamming_at(a, b,
//   limit)
//
// Those on the right cannot use the index, but are then estimated. "limit less 1" is
// hamming_radius_below(limit), which does not overflow. Conditions with volatile functions stay as
// written.
//
// The rewriting keeps no memory of a planner run that could be stale in the next one: the hook
// looks at the query it is called for, once, and what is rewritten does not match again.
#include "pg.hpp"
#include "index/index.hpp"
#include "core/bits.hpp"
#include "sql/ball.hpp"
#include "sql/distance.hpp"
#include "sql/objects.hpp"
#include "sql/selectivity.hpp"

namespace simhash {

// ---- comparisons of a distance with a limit ----

enum class Relation { kNone, kLess, kAtMost, kEqual, kAtLeast, kMore, kUnequal };

struct ComparisonFunction {
    Oid function;
    Relation relation;
};

// The server's comparisons with an int4, the distance, on one side.
static constexpr ComparisonFunction kComparisons[] = {
    {F_INT4LT, Relation::kLess},     {F_INT42LT, Relation::kLess},
    {F_INT48LT, Relation::kLess},    {F_INT24LT, Relation::kLess},
    {F_INT84LT, Relation::kLess},    {F_INT4LE, Relation::kAtMost},
    {F_INT42LE, Relation::kAtMost},  {F_INT48LE, Relation::kAtMost},
    {F_INT24LE, Relation::kAtMost},  {F_INT84LE, Relation::kAtMost},
    {F_INT4EQ, Relation::kEqual},    {F_INT42EQ, Relation::kEqual},
    {F_INT48EQ, Relation::kEqual},   {F_INT24EQ, Relation::kEqual},
    {F_INT84EQ, Relation::kEqual},   {F_INT4GE, Relation::kAtLeast},
    {F_INT42GE, Relation::kAtLeast}, {F_INT48GE, Relation::kAtLeast},
    {F_INT24GE, Relation::kAtLeast}, {F_INT84GE, Relation::kAtLeast},
    {F_INT4GT, Relation::kMore},     {F_INT42GT, Relation::kMore},
    {F_INT48GT, Relation::kMore},    {F_INT24GT, Relation::kMore},
    {F_INT84GT, Relation::kMore},    {F_INT4NE, Relation::kUnequal},
    {F_INT42NE, Relation::kUnequal}, {F_INT48NE, Relation::kUnequal},
    {F_INT24NE, Relation::kUnequal}, {F_INT84NE, Relation::kUnequal},
};

static Relation relation_of(Oid function) {
    for (const ComparisonFunction& comparison : kComparisons)
        if (comparison.function == function)
            return comparison.relation;
    return Relation::kNone;
}

// limit R distance is distance mirrored(R) limit.
static Relation mirrored(Relation relation) {
    switch (relation) {
    case Relation::kLess:
        return Relation::kMore;
    case Relation::kAtMost:
        return Relation::kAtLeast;
    case Relation::kAtLeast:
        return Relation::kAtMost;
    case Relation::kMore:
        return Relation::kLess;
    default:
        return relation;
    }
}

// A comparison taken apart: distance(arguments) relation limit.
struct Comparison {
    Relation relation;
    Oid hamming;     // the distance function
    List* arguments; // its two arguments
    Node* limit;     // of type int2, int4 or int8
};

// Is the node a <~> b or hamming(a, b)?
static bool take_distance(Node* node, Comparison* comparison) {
    Oid function;
    List* arguments;
    if (IsA(node, OpExpr)) {
        set_opfuncid((OpExpr*)node);
        function = ((OpExpr*)node)->opfuncid;
        arguments = ((OpExpr*)node)->args;
    } else if (IsA(node, FuncExpr)) {
        function = ((FuncExpr*)node)->funcid;
        arguments = ((FuncExpr*)node)->args;
    } else
        return false;
    if (list_length(arguments) != 2 || !is_our_function(function, kHamming))
        return false;
    comparison->hamming = function;
    comparison->arguments = arguments;
    return true;
}

static bool take_apart(Node* node, Comparison* comparison) {
    if (!IsA(node, OpExpr) || list_length(((OpExpr*)node)->args) != 2)
        return false;
    set_opfuncid((OpExpr*)node);
    Relation relation = relation_of(((OpExpr*)node)->opfuncid);
    if (relation == Relation::kNone)
        return false;
    auto left = (Node*)linitial(((OpExpr*)node)->args),
         right = (Node*)lsecond(((OpExpr*)node)->args);
    if (take_distance(left, comparison)) {
        comparison->relation = relation;
        comparison->limit = right;
        return true;
    }
    if (take_distance(right, comparison)) {
        comparison->relation = mirrored(relation);
        comparison->limit = left;
        return true;
    }
    return false;
}

// ---- rewriting one comparison ----

static Node* limit_as_bigint(PlannerInfo* root, Node* limit) {
    Oid type = exprType(limit);
    if (type == INT8OID)
        return limit;
    Oid cast = type == INT2OID ? F_INT8_INT2 : F_INT8_INT4;
    auto call = (Node*)makeFuncExpr(cast, INT8OID, list_make1(limit), InvalidOid, InvalidOid,
                                    COERCE_IMPLICIT_CAST);
    return eval_const_expressions(root, call);
}

static Node* call_predicate(Oid function, const Comparison& comparison, Node* limit) {
    if (!OidIsValid(function) || limit == nullptr)
        return nullptr;
    List* arguments =
        list_make3(linitial(comparison.arguments), lsecond(comparison.arguments), limit);
    return (Node*)makeFuncExpr(function, BOOLOID, arguments, InvalidOid, InvalidOid,
                               COERCE_EXPLICIT_CALL);
}

static Node* call_beyond(const Comparison& comparison, Node* limit) {
    return call_predicate(sibling_function(comparison.hamming, "hamming_beyond", 3, kHammingBeyond),
                          comparison, limit);
}

static Node* call_within(const Comparison& comparison, Node* limit) {
    return call_predicate(sibling_function(comparison.hamming, "hamming_within", 3, kHammingWithin),
                          comparison, limit);
}

// The radius that "less than the limit" means; null when the helper is missing.
static Node* radius_below(PlannerInfo* root, const Comparison& comparison, Node* limit) {
    Oid below =
        sibling_function(comparison.hamming, "hamming_radius_below", 1, kHammingRadiusBelow);
    if (!OidIsValid(below))
        return nullptr;
    auto call = (Node*)makeFuncExpr(below, INT8OID, list_make1(limit), InvalidOid, InvalidOid,
                                    COERCE_EXPLICIT_CALL);
    return eval_const_expressions(root, call);
}

static Node* call_at(const Comparison& comparison, Node* limit) {
    return call_predicate(sibling_function(comparison.hamming, "hamming_at", 3, kHammingAt),
                          comparison, limit);
}

// An equality whose limit comes from a table that the distance does not look at can be a hash or
// merge join. That is worth more than the index, and only possible while it stays an equality.
static bool is_better_as_equality(PlannerInfo* root, const Comparison& comparison) {
    Relids limit = pull_varnos(root, comparison.limit);
    Relids distance = pull_varnos(root, (Node*)comparison.arguments);
    return !bms_is_subset(limit, distance);
}

static Node* negated(Node* predicate) {
    return predicate == nullptr ? nullptr : (Node*)make_notclause((Expr*)predicate);
}

// The predicate that stands for the comparison; null where it stays as it is.
static Node* predicate_for(PlannerInfo* root, const Comparison& comparison) {
    Node* limit = limit_as_bigint(root, comparison.limit);
    switch (comparison.relation) {
    case Relation::kAtMost:
        return call_within(comparison, limit);
    case Relation::kMore:
        return call_beyond(comparison, limit);
    case Relation::kLess:
        return call_within(comparison, radius_below(root, comparison, limit));
    case Relation::kAtLeast:
        return call_beyond(comparison, radius_below(root, comparison, limit));
    case Relation::kEqual:
        return is_better_as_equality(root, comparison) ? nullptr : call_at(comparison, limit);
    case Relation::kUnequal:
        return negated(call_at(comparison, limit));
    case Relation::kNone:
        break;
    }
    return nullptr;
}

// ---- rewriting a condition ----

static bool has_comparison(Node* node, void*) {
    Comparison comparison;
    if (node == nullptr)
        return false;
    if (IsA(node, RestrictInfo))
        return has_comparison((Node*)((RestrictInfo*)node)->clause, nullptr);
    return take_apart(node, &comparison) || walk_children(node, has_comparison, nullptr);
}

static RestrictInfo* rewritten_restriction(PlannerInfo* root, const RestrictInfo* restriction);

static Node* rewrite_mutator(Node* node, void* context) {
    auto root = (PlannerInfo*)context;
    // Placeholders are known to the planner by number, with the expression they had when they were
    // made.
    if (node == nullptr || IsA(node, PlaceHolderVar))
        return node;
    if (IsA(node, RestrictInfo))
        return (Node*)rewritten_restriction(root, (RestrictInfo*)node);
    Comparison comparison;
    if (take_apart(node, &comparison) && !contain_volatile_functions(node)) {
        Node* predicate = predicate_for(root, comparison);
        if (predicate != nullptr)
            return predicate;
    }
    return mutate_children(node, rewrite_mutator, context);
}

// A condition without a comparison, nearly every one, is not copied.
static Node* rewritten(PlannerInfo* root, Node* condition) {
    return has_comparison(condition, nullptr) ? rewrite_mutator(condition, root) : condition;
}

static List* rewritten_list(PlannerInfo* root, List* conditions) {
    return (List*)rewritten(root, (Node*)conditions);
}

// ---- where conditions stand before the planner distributes them ----

static void rewrite_join_tree(PlannerInfo* root, Node* node) {
    if (node == nullptr)
        return;
    if (IsA(node, FromExpr)) {
        auto from = (FromExpr*)node;
        ListCell* cell;
        foreach (cell, from->fromlist)
            rewrite_join_tree(root, (Node*)lfirst(cell));
        from->quals = rewritten(root, from->quals);
    } else if (IsA(node, JoinExpr)) {
        auto join = (JoinExpr*)node;
        rewrite_join_tree(root, join->larg);
        rewrite_join_tree(root, join->rarg);
        join->quals = rewritten(root, join->quals);
    }
}

// Row-level security: each element is a list of conditions by then.
static void rewrite_security_conditions(PlannerInfo* root) {
    ListCell* table;
    foreach (table, root->parse->rtable) {
        ListCell* conditions;
        foreach (conditions, ((RangeTblEntry*)lfirst(table))->securityQuals)
            lfirst(conditions) = rewritten(root, (Node*)lfirst(conditions));
    }
}

// Partial indexes: their predicates are compared with the query's conditions, so they must look
// alike.
static void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->indexlist) {
        auto index = (IndexOptInfo*)lfirst(cell);
        index->indpred = rewritten_list(root, index->indpred);
    }
}

// ---- where they stand afterwards ----
//
// In SELECT * FROM (SELECT ... FROM a UNION ALL SELECT ... FROM b) WHERE fp <~> $1 <= 3, the
// conditions belong to the union, no table is opened before they are distributed, and the members a
// and b get theirs by translating the union's, each after it was opened. So when a member is
// opened, the union's conditions are rewritten where they are by then.

static void forget_what_was_derived(RestrictInfo* restriction) {
    restriction->can_join = false;
    restriction->left_relids = restriction->right_relids = nullptr;
    restriction->parent_ec = nullptr;
    restriction->eval_cost.startup = -1;
    restriction->norm_selec = restriction->outer_selec = -1;
    restriction->mergeopfamilies = NIL;
    restriction->left_ec = restriction->right_ec = nullptr;
    restriction->left_em = restriction->right_em = nullptr;
    restriction->scansel_cache = NIL;
    restriction->hashjoinoperator = InvalidOid;
    restriction->left_hasheqoperator = restriction->right_hasheqoperator = InvalidOid;
}

static void rewrite_restriction(PlannerInfo* root, RestrictInfo* restriction) {
    restriction->clause = (Expr*)rewrite_mutator((Node*)restriction->clause, root);
    restriction->orclause = (Expr*)rewrite_mutator((Node*)restriction->orclause, root);
    forget_what_was_derived(restriction);
}

static RestrictInfo* rewritten_restriction(PlannerInfo* root, const RestrictInfo* restriction) {
    auto copy = makeNode(RestrictInfo);
    *copy = *restriction;
    rewrite_restriction(root, copy);
    return copy;
}

// Join conditions are shared between the relations they join and known by address: changed in
// place. Those that belong to an equivalence class are left alone.
static void rewrite_join_conditions(PlannerInfo* root, RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->joininfo) {
        auto restriction = (RestrictInfo*)lfirst(cell);
        if (restriction->left_ec == nullptr && restriction->parent_ec == nullptr &&
            has_comparison((Node*)restriction->clause, nullptr))
            rewrite_restriction(root, restriction);
    }
}

static void rewrite_union_conditions(PlannerInfo* root, RelOptInfo* member) {
    AppendRelInfo* link =
        root->append_rel_array != nullptr ? root->append_rel_array[member->relid] : nullptr;
    RelOptInfo* parent = link != nullptr ? root->simple_rel_array[link->parent_relid] : nullptr;
    if (parent == nullptr || parent->rtekind != RTE_SUBQUERY)
        return;
    parent->baserestrictinfo = rewritten_list(root, parent->baserestrictinfo);
    rewrite_join_conditions(root, parent);
}

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
    else if (is_first_table(root, relation)) {
        rewrite_join_tree(root, (Node*)root->parse->jointree);
        rewrite_security_conditions(root);
    }
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

static Const* constant(Node* node) {
    return IsA(node, Const) && !((Const*)node)->constisnull ? (Const*)node : nullptr;
}

// The ball of (center, radius): a constant where both are, else a call that the executor evaluates.
static Expr* make_ball_expression(Oid constructor, Node* center, Node* radius) {
    Oid type = get_func_rettype(constructor);
    Const *center_constant = constant(center), *radius_constant = constant(radius);
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
    return OidIsValid(op) && is_our_function(get_opcode(op), kBallContained) ? op : InvalidOid;
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
    Oid constructor = sibling_function(request->funcid, "hamming_ball", 2, kBallMake);
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
    Const* known = constant(limit);
    double share = 0; // of NULL
    if (known != nullptr || !IsA(limit, Const)) {
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
PGDLLEXPORT void _PG_init(void);

PG_FUNCTION_INFO_V1(simhash_hamming_support);
PG_FUNCTION_INFO_V1(simhash_hamming_within_support);

void _PG_init(void) {
    previous_hook = get_relation_info_hook;
    get_relation_info_hook = rewrite_on_opening;
    simhash::define_options();
}

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
