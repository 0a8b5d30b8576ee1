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
// estimated. hamming_radius_below(limit) is limit - 1 without overflow.
//
// A limit of numeric or float8, with which the server compares d::numeric or d::float8:
//
//   d <= limit     hamming_within(a, b, hamming_radius(limit, false))     d >  limit: likewise
//   d <  limit     hamming_within(a, b, hamming_radius(limit, true))      d >= limit: likewise
//   d =  limit     hamming_within(a, b, hamming_radius(limit, false)) AND d = limit
//
// A list of constants, none of them NULL: d IN (1, 2) becomes hamming_within(a, b, 2) AND d IN (1, 2).
//
// Where something of the table is made of this very distance (distance_uses.hpp), the comparison
// stays, beside the predicate or alone. Conditions with volatile functions stay as written; so does
// everything where the user may not call what would be written for it.
//
// What is rewritten does not match again, or gives the same once more, so a condition may be met
// twice.
#include "planner/rewrite.hpp"
#include "planner/constants.hpp"
#include "planner/distance_uses.hpp"
#include "planner/objects.hpp"

#include <algorithm>

namespace simhash {

// ---- comparisons of a distance with a limit ----

namespace {

enum class Comparator { kNone, kLess, kAtMost, kEqual, kAtLeast, kMore, kUnequal, kOneOf };

struct ComparisonFunction {
    Oid function;
    Comparator comparator;
};

// The server's comparisons with a distance, an int4 or what it was cast to, on one side.
constexpr ComparisonFunction kComparisons[] = {
    {F_INT4LT, Comparator::kLess},        {F_INT42LT, Comparator::kLess},
    {F_INT48LT, Comparator::kLess},       {F_INT24LT, Comparator::kLess},
    {F_INT84LT, Comparator::kLess},       {F_NUMERIC_LT, Comparator::kLess},
    {F_FLOAT8LT, Comparator::kLess},      {F_INT4LE, Comparator::kAtMost},
    {F_INT42LE, Comparator::kAtMost},     {F_INT48LE, Comparator::kAtMost},
    {F_INT24LE, Comparator::kAtMost},     {F_INT84LE, Comparator::kAtMost},
    {F_NUMERIC_LE, Comparator::kAtMost},  {F_FLOAT8LE, Comparator::kAtMost},
    {F_INT4EQ, Comparator::kEqual},       {F_INT42EQ, Comparator::kEqual},
    {F_INT48EQ, Comparator::kEqual},      {F_INT24EQ, Comparator::kEqual},
    {F_INT84EQ, Comparator::kEqual},      {F_NUMERIC_EQ, Comparator::kEqual},
    {F_FLOAT8EQ, Comparator::kEqual},     {F_INT4GE, Comparator::kAtLeast},
    {F_INT42GE, Comparator::kAtLeast},    {F_INT48GE, Comparator::kAtLeast},
    {F_INT24GE, Comparator::kAtLeast},    {F_INT84GE, Comparator::kAtLeast},
    {F_NUMERIC_GE, Comparator::kAtLeast}, {F_FLOAT8GE, Comparator::kAtLeast},
    {F_INT4GT, Comparator::kMore},        {F_INT42GT, Comparator::kMore},
    {F_INT48GT, Comparator::kMore},       {F_INT24GT, Comparator::kMore},
    {F_INT84GT, Comparator::kMore},       {F_NUMERIC_GT, Comparator::kMore},
    {F_FLOAT8GT, Comparator::kMore},      {F_INT4NE, Comparator::kUnequal},
    {F_INT42NE, Comparator::kUnequal},    {F_INT48NE, Comparator::kUnequal},
    {F_INT24NE, Comparator::kUnequal},    {F_INT84NE, Comparator::kUnequal},
};

Comparator comparator_of(Oid function) {
    for (const ComparisonFunction& comparison : kComparisons)
        if (comparison.function == function)
            return comparison.comparator;
    return Comparator::kNone;
}

// limit C distance is distance mirrored(C) limit.
Comparator mirrored(Comparator comparator) {
    switch (comparator) {
    case Comparator::kLess:
        return Comparator::kMore;
    case Comparator::kAtMost:
        return Comparator::kAtLeast;
    case Comparator::kAtLeast:
        return Comparator::kAtMost;
    case Comparator::kMore:
        return Comparator::kLess;
    default:
        return comparator;
    }
}

// A comparison taken apart: distance comparator limit.
struct Comparison {
    Comparator comparator;
    Node* distance;  // a <~> b or hamming(a, b)
    Oid hamming;     // the distance function
    List* arguments; // its two arguments
    Node* limit;     // of type int2, int4, int8, numeric or float8; kOneOf: a constant array
};

// Is the node a <~> b or hamming(a, b), or that cast to another type of number?
bool take_distance(Node* node, Comparison* comparison) {
    Oid function = InvalidOid;
    List* arguments = NIL;
    if (IsA(node, OpExpr)) {
        auto* op = reinterpret_cast<OpExpr*>(node);
        set_opfuncid(op);
        function = op->opfuncid;
        arguments = op->args;
    } else if (IsA(node, FuncExpr)) {
        auto* call = reinterpret_cast<FuncExpr*>(node);
        function = call->funcid;
        arguments = call->args;
        if (function == F_NUMERIC_INT4 || function == F_FLOAT8_INT4)
            return take_distance(static_cast<Node*>(linitial(arguments)), comparison);
    }
    if (list_length(arguments) != 2 || !is_our_function(function, kHamming))
        return false;
    comparison->distance = node;
    comparison->hamming = function;
    comparison->arguments = arguments;
    return true;
}

// distance IN (constants).
bool take_list_apart(ScalarArrayOpExpr* op, Comparison* comparison) {
    set_sa_opfuncid(op);
    auto* left = static_cast<Node*>(linitial(op->args));
    auto* right = static_cast<Node*>(lsecond(op->args));
    bool is_equality =
        op->opfuncid == F_INT4EQ || op->opfuncid == F_INT42EQ || op->opfuncid == F_INT48EQ;
    if (!op->useOr || !is_equality || !IsA(right, Const) || is_null_constant(right))
        return false;
    comparison->comparator = Comparator::kOneOf;
    comparison->limit = right;
    return take_distance(left, comparison);
}

bool take_apart(Node* node, Comparison* comparison) {
    if (IsA(node, ScalarArrayOpExpr))
        return take_list_apart(reinterpret_cast<ScalarArrayOpExpr*>(node), comparison);
    if (!IsA(node, OpExpr))
        return false;
    auto* op = reinterpret_cast<OpExpr*>(node);
    set_opfuncid(op);
    Comparator comparator = comparator_of(op->opfuncid);
    if (comparator == Comparator::kNone)
        return false;
    auto* left = static_cast<Node*>(linitial(op->args));
    auto* right = static_cast<Node*>(lsecond(op->args));
    if (take_distance(left, comparison)) {
        comparison->comparator = comparator;
        comparison->limit = right;
        return true;
    }
    if (take_distance(right, comparison)) {
        comparison->comparator = mirrored(comparator);
        comparison->limit = left;
        return true;
    }
    return false;
}

// ---- rewriting one comparison ----

// A call of the extension's function `name`, simplified; null where it is missing, or an argument
// is.
Node* call_sibling(PlannerInfo* root, const Comparison& comparison, const char* name,
                   const OurFunction& ours, Oid result, List* arguments) {
    Oid types[3];
    int count = 0;
    ListCell* cell;
    foreach (cell, arguments) {
        if (lfirst(cell) == nullptr)
            return nullptr;
        types[count++] = exprType(static_cast<Node*>(lfirst(cell)));
    }
    Oid function = sibling_function(comparison.hamming, name, types, count, ours);
    if (!OidIsValid(function))
        return nullptr;
    auto* call =
        makeFuncExpr(function, result, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL);
    return eval_const_expressions(root, reinterpret_cast<Node*>(call));
}

Node* cast_to(PlannerInfo* root, Oid cast, Oid type, Node* value) {
    auto* call =
        makeFuncExpr(cast, type, list_make1(value), InvalidOid, InvalidOid, COERCE_IMPLICIT_CAST);
    return eval_const_expressions(root, reinterpret_cast<Node*>(call));
}

bool has_integer_limit(const Comparison& comparison) {
    Oid type = exprType(comparison.limit);
    return type == INT2OID || type == INT4OID || type == INT8OID;
}

Node* limit_as_bigint(PlannerInfo* root, const Comparison& comparison) {
    switch (exprType(comparison.limit)) {
    case INT2OID:
        return cast_to(root, F_INT8_INT2, INT8OID, comparison.limit);
    case INT4OID:
        return cast_to(root, F_INT8_INT4, INT8OID, comparison.limit);
    default:
        return comparison.limit;
    }
}

// The greatest radius up to the limit, or, where `below`, the greatest one below it; null when the
// function for it is missing.
Node* radius_of_limit(PlannerInfo* root, const Comparison& comparison, bool below) {
    if (has_integer_limit(comparison)) {
        Node* limit = limit_as_bigint(root, comparison);
        return below ? call_sibling(root, comparison, "hamming_radius_below", kHammingRadiusBelow,
                                    INT8OID, list_make1(limit))
                     : limit;
    }
    Node* limit = comparison.limit;
    if (exprType(limit) == FLOAT8OID) {
        // Made whole first, as the cast to numeric keeps 15 digits.
        limit = cast_to(root, below ? F_CEIL_FLOAT8 : F_FLOOR_FLOAT8, FLOAT8OID, limit);
        limit = cast_to(root, F_NUMERIC_FLOAT8, NUMERICOID, limit);
    }
    return call_sibling(root, comparison, "hamming_radius", kHammingRadius, INT8OID,
                        list_make2(limit, makeBoolConst(below, false)));
}

// The greatest of the constants. Null where there is none, or one is NULL: the list is then true or
// NULL, never false, which no predicate says.
Node* greatest_radius(const Comparison& comparison) {
    auto* array = DatumGetArrayTypeP(reinterpret_cast<Const*>(comparison.limit)->constvalue);
    Oid type = ARR_ELEMTYPE(array);
    Datum* elements;
    bool* nulls;
    int count;
    int16 length;
    bool by_value;
    char align;
    get_typlenbyvalalign(type, &length, &by_value, &align);
    deconstruct_array(array, type, length, by_value, align, &elements, &nulls, &count);
    int64 greatest = PG_INT64_MIN;
    for (int i = 0; i < count; i++) {
        if (nulls[i])
            return nullptr;
        int64 element = type == INT2OID   ? DatumGetInt16(elements[i])
                        : type == INT4OID ? DatumGetInt32(elements[i])
                                          : DatumGetInt64(elements[i]);
        greatest = std::max(greatest, element);
    }
    return count > 0 ? reinterpret_cast<Node*>(make_bigint_constant(greatest)) : nullptr;
}

Node* call_predicate(PlannerInfo* root, const Comparison& comparison, const char* name,
                     const OurFunction& ours, Node* radius) {
    List* arguments =
        list_make3(linitial(comparison.arguments), lsecond(comparison.arguments), radius);
    return call_sibling(root, comparison, name, ours, BOOLOID, arguments);
}

Node* call_within(PlannerInfo* root, const Comparison& comparison, Node* radius) {
    return call_predicate(root, comparison, "hamming_within", kHammingWithin, radius);
}

Node* call_beyond(PlannerInfo* root, const Comparison& comparison, Node* radius) {
    return call_predicate(root, comparison, "hamming_beyond", kHammingBeyond, radius);
}

Node* call_at(PlannerInfo* root, const Comparison& comparison) {
    return call_predicate(root, comparison, "hamming_at", kHammingAt,
                          limit_as_bigint(root, comparison));
}

// An equality whose limit comes from a table that the distance does not look at can be a hash or
// merge join. That is worth more than the index, and only possible while it stays an equality.
bool is_better_as_equality(PlannerInfo* root, const Comparison& comparison) {
    Relids limit = pull_varnos(root, comparison.limit);
    Relids distance = pull_varnos(root, reinterpret_cast<Node*>(comparison.arguments));
    return !bms_is_subset(limit, distance);
}

Node* negated(Node* predicate) {
    return predicate == nullptr
               ? nullptr
               : reinterpret_cast<Node*>(make_notclause(reinterpret_cast<Expr*>(predicate)));
}

// A predicate that the comparison implies, or null. `exact`: it says the same.
Node* predicate_for(PlannerInfo* root, const Comparison& comparison, bool* exact) {
    *exact = true;
    switch (comparison.comparator) {
    case Comparator::kAtMost:
        return call_within(root, comparison, radius_of_limit(root, comparison, false));
    case Comparator::kMore:
        return call_beyond(root, comparison, radius_of_limit(root, comparison, false));
    case Comparator::kLess:
        return call_within(root, comparison, radius_of_limit(root, comparison, true));
    case Comparator::kAtLeast:
        return call_beyond(root, comparison, radius_of_limit(root, comparison, true));
    case Comparator::kEqual:
        if (is_better_as_equality(root, comparison))
            return nullptr;
        *exact = has_integer_limit(comparison);
        return *exact ? call_at(root, comparison)
                      : call_within(root, comparison, radius_of_limit(root, comparison, false));
    case Comparator::kUnequal:
        return has_integer_limit(comparison) ? negated(call_at(root, comparison)) : nullptr;
    case Comparator::kOneOf:
        *exact = false;
        return call_within(root, comparison, greatest_radius(comparison));
    case Comparator::kNone:
        break;
    }
    return nullptr;
}

// What stands for the comparison `node`; null where it stays as it is.
Node* replacement_for(PlannerInfo* root, Node* node, const Comparison& comparison) {
    if (contain_volatile_functions(node))
        return nullptr;
    root->glob->dependsOnRole = true; // on what its user may call
    if (!may_call(comparison.hamming))
        return nullptr;
    DistanceUses uses = uses_of_distance(root, comparison.distance);
    if (uses.by_others && !uses.by_index)
        return nullptr;
    bool exact;
    Node* predicate = predicate_for(root, comparison, &exact);
    if (predicate == nullptr)
        return nullptr;
    if (exact && !uses.by_others)
        return predicate;
    return reinterpret_cast<Node*>(makeBoolExpr(AND_EXPR, list_make2(predicate, node), -1));
}

// ---- rewriting a condition ----

bool has_comparison(Node* node, void*) {
    Comparison comparison;
    if (node == nullptr || IsA(node, SubPlan))
        return false;
    if (IsA(node, RestrictInfo))
        return has_comparison(
            reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(node)->clause), nullptr);
    return take_apart(node, &comparison) || walk_children(node, has_comparison, nullptr);
}

Node* rewritten_restriction(PlannerInfo* root, RestrictInfo* restriction);

// A list of conditions that all hold, or the arguments of an AND, with those of inner ANDs.
List* flattened(List* conditions) {
    List* flat = NIL;
    ListCell* cell;
    foreach (cell, conditions) {
        auto* condition = static_cast<Node*>(lfirst(cell));
        flat = is_andclause(condition)
                   ? list_concat(flat, flattened(reinterpret_cast<BoolExpr*>(condition)->args))
                   : lappend(flat, condition);
    }
    return flat;
}

Node* rewrite_mutator(Node* node, void* context) {
    auto* root = static_cast<PlannerInfo*>(context);
    // Placeholders are known to the planner by number, with the expression they had when they were
    // made. What a subplan compares stays as written: the executor takes it apart, to hash its
    // sides.
    if (node == nullptr || IsA(node, PlaceHolderVar) || IsA(node, SubPlan))
        return node;
    if (IsA(node, RestrictInfo))
        return rewritten_restriction(root, reinterpret_cast<RestrictInfo*>(node));
    Comparison comparison;
    if (take_apart(node, &comparison))
        if (Node* replacement = replacement_for(root, node, comparison))
            return replacement;
    Node* mutated = mutate_children(node, rewrite_mutator, context);
    if (is_andclause(mutated)) {
        auto* conjunction = reinterpret_cast<BoolExpr*>(mutated);
        conjunction->args = flattened(conjunction->args);
    }
    return mutated;
}

// A condition without a comparison, nearly every one, is not copied.
Node* rewritten(PlannerInfo* root, Node* condition) {
    if (!has_comparison(condition, nullptr))
        return condition;
    Node* mutated = rewrite_mutator(condition, root);
    return IsA(mutated, List) ? reinterpret_cast<Node*>(flattened(reinterpret_cast<List*>(mutated)))
                              : mutated;
}

List* rewritten_list(PlannerInfo* root, List* conditions) {
    return reinterpret_cast<List*>(rewritten(root, reinterpret_cast<Node*>(conditions)));
}

// ---- where conditions stand before the planner distributes them ----

void rewrite_join_tree(PlannerInfo* root, Node* node) {
    if (node == nullptr)
        return;
    if (IsA(node, FromExpr)) {
        auto* from = reinterpret_cast<FromExpr*>(node);
        ListCell* cell;
        foreach (cell, from->fromlist)
            rewrite_join_tree(root, static_cast<Node*>(lfirst(cell)));
        from->quals = rewritten(root, from->quals);
    } else if (IsA(node, JoinExpr)) {
        auto* join = reinterpret_cast<JoinExpr*>(node);
        rewrite_join_tree(root, join->larg);
        rewrite_join_tree(root, join->rarg);
        join->quals = rewritten(root, join->quals);
    }
}

// Row-level security: each element is a list of conditions by then.
void rewrite_security_conditions(PlannerInfo* root) {
    ListCell* table;
    foreach (table, root->parse->rtable) {
        ListCell* conditions;
        foreach (conditions, lfirst_node(RangeTblEntry, table)->securityQuals)
            lfirst(conditions) = rewritten(root, static_cast<Node*>(lfirst(conditions)));
    }
}

} // namespace

void rewrite_query_conditions(PlannerInfo* root) {
    rewrite_join_tree(root, reinterpret_cast<Node*>(root->parse->jointree));
    rewrite_security_conditions(root);
}

void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->indexlist) {
        auto* index = lfirst_node(IndexOptInfo, cell);
        index->indpred = rewritten_list(root, index->indpred);
    }
}

// ---- where they stand afterwards ----
//
// In SELECT * FROM (SELECT ... FROM a UNION ALL SELECT ... FROM b) WHERE fp <~> $1 <= 3, the
// conditions belong to the union, no table is opened before they are distributed, and the members a
// and b get theirs by translating the union's, each after it was opened. So when a member is
// opened, the union's conditions are rewritten where they are by then.

namespace {

void forget_what_was_derived(RestrictInfo* restriction) {
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

void rewrite_restriction(PlannerInfo* root, RestrictInfo* restriction) {
    Node* clause = rewrite_mutator(reinterpret_cast<Node*>(restriction->clause), root);
    // A restriction is one condition, no AND. And where it stays as it is, so does what was derived
    // from it.
    if (is_andclause(clause) || equal(clause, restriction->clause))
        return;
    restriction->clause = reinterpret_cast<Expr*>(clause);
    restriction->orclause = reinterpret_cast<Expr*>(
        rewrite_mutator(reinterpret_cast<Node*>(restriction->orclause), root));
    forget_what_was_derived(restriction);
}

Node* rewritten_restriction(PlannerInfo* root, RestrictInfo* restriction) {
    if (!has_comparison(reinterpret_cast<Node*>(restriction), nullptr))
        return reinterpret_cast<Node*>(restriction);
    auto* copy = makeNode(RestrictInfo);
    *copy = *restriction;
    rewrite_restriction(root, copy);
    return reinterpret_cast<Node*>(copy);
}

// Join conditions are shared between the relations they join and known by address: changed in
// place. Those that belong to an equivalence class are left alone.
void rewrite_join_conditions(PlannerInfo* root, RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->joininfo) {
        auto* restriction = lfirst_node(RestrictInfo, cell);
        if (restriction->left_ec == nullptr && restriction->parent_ec == nullptr &&
            has_comparison(reinterpret_cast<Node*>(restriction->clause), nullptr))
            rewrite_restriction(root, restriction);
    }
}

} // namespace

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
