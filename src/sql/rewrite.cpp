// Comparisons of a distance with a limit, rewritten into predicates that the index knows.
//
// With d for a <~> b or hamming(a, b), and a limit of int2, int4 or int8, any expression:
//
//   d <= limit     hamming_within(a, b, limit)
//   d <  limit     hamming_within(a, b, hamming_radius_below(limit))
//   d =  limit     hamming_at(a, b, limit)
//   d >  limit     hamming_beyond(a, b, limit)
//   d >= limit     hamming_beyond(a, b, hamming_radius_below(limit))
//   d <> limit     NOT hamming_at(a, b, limit)
//
// and the same with the sides exchanged. The last three cannot use the index, but are then
// estimated. hamming_radius_below(limit) is limit - 1 without overflow. Conditions with volatile
// functions stay as written.
//
// What is rewritten does not match again, so a condition may be met twice.
#include "sql/rewrite.hpp"
#include "sql/objects.hpp"

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

static Node* rewritten_restriction(PlannerInfo* root, RestrictInfo* restriction);

static Node* rewrite_mutator(Node* node, void* context) {
    auto root = (PlannerInfo*)context;
    // Placeholders are known to the planner by number, with the expression they had when they were
    // made.
    if (node == nullptr || IsA(node, PlaceHolderVar))
        return node;
    if (IsA(node, RestrictInfo))
        return rewritten_restriction(root, (RestrictInfo*)node);
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

void rewrite_query_conditions(PlannerInfo* root) {
    rewrite_join_tree(root, (Node*)root->parse->jointree);
    rewrite_security_conditions(root);
}

void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* relation) {
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
    Node* clause = rewrite_mutator((Node*)restriction->clause, root);
    if (equal(clause, restriction->clause))
        return; // it stays as it is, with what was derived from it
    restriction->clause = (Expr*)clause;
    restriction->orclause = (Expr*)rewrite_mutator((Node*)restriction->orclause, root);
    forget_what_was_derived(restriction);
}

static Node* rewritten_restriction(PlannerInfo* root, RestrictInfo* restriction) {
    if (!has_comparison((Node*)restriction, nullptr))
        return (Node*)restriction;
    auto copy = makeNode(RestrictInfo);
    *copy = *restriction;
    rewrite_restriction(root, copy);
    return (Node*)copy;
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

void rewrite_union_conditions(PlannerInfo* root, RelOptInfo* member) {
    AppendRelInfo* link =
        root->append_rel_array != nullptr ? root->append_rel_array[member->relid] : nullptr;
    RelOptInfo* parent = link != nullptr ? root->simple_rel_array[link->parent_relid] : nullptr;
    if (parent == nullptr || parent->rtekind != RTE_SUBQUERY)
        return;
    parent->baserestrictinfo = rewritten_list(root, parent->baserestrictinfo);
    rewrite_join_conditions(root, parent);
}

} // namespace simhash
