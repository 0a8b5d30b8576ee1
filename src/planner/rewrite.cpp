// Rewrites comparisons of a distance with a limit into predicates that the index knows. README.md
// beside this file says when the planner calls this, and which comparisons stay as written.
//
// With d for a <~> b, a <~~> b or hamming(a, b), and a limit of int2, int4 or int8, any expression:
//
//   d <= limit     hamming_within(a, b, limit)
//   d <  limit     hamming_within(a, b, hamming_radius_below(limit))
//   d =  limit     hamming_at(a, b, limit)
//   d >  limit     hamming_beyond(a, b, limit)
//   d >= limit     hamming_beyond(a, b, hamming_radius_below(limit))
//   d <> limit     NOT hamming_at(a, b, limit)
//
// and the same with the sides exchanged. No index serves the last three; they are rewritten because
// the planner then estimates them well. hamming_radius_below(limit) is limit - 1 without overflow.
//
// With a limit of numeric or float8 the server compares d::numeric or d::float8:
//
//   d <= limit     hamming_within(a, b, hamming_radius(limit, false))     d >  limit: likewise
//   d <  limit     hamming_within(a, b, hamming_radius(limit, true))      d >= limit: likewise
//   d =  limit     hamming_within(a, b, hamming_radius(limit, false)) AND d = limit
//
// where codes have hamming_radius_of_codes(limit, ...). With a list of constants, none of them
// NULL:
//
//   d IN (1, 2)    hamming_within(a, b, 2) AND d IN (1, 2)
//
// A comparison that was replaced does not match again, and one that stays beside a predicate gives
// the same predicate again. So a condition may be met twice.
#include "planner/rewrite.hpp"
#include "server/expressions.hpp"
#include "planner/distance_uses.hpp"
#include "values/objects.hpp"

#include <algorithm>

namespace simhash {

// ---- comparisons of a distance with a limit ----

namespace {

enum class Comparator { kNone, kLess, kAtMost, kEqual, kAtLeast, kMore, kUnequal, kOneOf };

struct ComparisonFunction {
    Oid function;
    Comparator comparator;
};

// The server's comparison functions that have a distance on one side: an int4, or that cast to
// numeric or float8.
// They are known by their OIDs, which are fixed in the server's catalogs. The names of operators
// depend on search_path.
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
// Equality and inequality are their own mirrors.
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
    Node* distance; // a <~> b, a <~~> b or hamming(a, b)
    const DistanceFamily* family;
    Oid hamming;     // the distance function
    List* arguments; // its two arguments
    Node* limit;     // of type int2, int4, int8, numeric or float8; kOneOf: a constant array
};

// True where the node is a <~> b, a <~~> b or hamming(a, b), or that cast to another type of
// number.
bool take_distance(Node* node, Comparison* comparison) {
    Oid function = InvalidOid;
    List* arguments = NIL;
    if (IsA(node, OpExpr)) {
        auto* op = reinterpret_cast<OpExpr*>(node);
        // The server need not have filled in the operator's function yet.
        set_opfuncid(op);
        function = op->opfuncid;
        arguments = op->args;
    } else if (IsA(node, FuncExpr)) {
        auto* call = reinterpret_cast<FuncExpr*>(node);
        function = call->funcid;
        arguments = call->args;
        // The cast of an int4 that the server adds where the limit is of that type.
        if (function == F_NUMERIC_INT4 || function == F_FLOAT8_INT4)
            return take_distance(static_cast<Node*>(linitial(arguments)), comparison);
    }
    const DistanceFamily* family =
        list_length(arguments) == 2 ? family_of(function, &DistanceFamily::hamming) : nullptr;
    if (family == nullptr)
        return false;
    comparison->family = family;
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
    // Without useOr it is d <> ALL (...) or the like. A list with parameters has no greatest
    // element yet.
    if (!op->useOr || !is_equality || !IsA(right, Const) || is_null_constant(right))
        return false;
    comparison->comparator = Comparator::kOneOf;
    comparison->limit = right;
    return take_distance(left, comparison);
}

// True where the node is a comparison of a distance with a limit, which is then in *comparison.
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

// A simplified call of the extension's function `name`, which is looked for beside the distance
// function. Null where that function is missing, or where an argument is null because another was.
Node* call_sibling(PlannerInfo* root, const Comparison& comparison, const char* name,
                   const OurFunction& ours, Oid result, List* arguments) {
    // No function of ours that is called here has more arguments.
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
    // The planner has simplified the query already, so what is new must be simplified here: the
    // call of constants becomes a constant.
    return eval_const_expressions(root, reinterpret_cast<Node*>(call));
}

// A simplified call of one of the server's functions of one argument. Where the plan is written as
// SQL, in EXPLAIN and by postgres_fdw, `form` says how; an implicit cast is not written.
Node* call_of_server(PlannerInfo* root, Oid function, Oid type, Node* value, CoercionForm form) {
    auto* call = makeFuncExpr(function, type, list_make1(value), InvalidOid, InvalidOid, form);
    return eval_const_expressions(root, reinterpret_cast<Node*>(call));
}

bool has_integer_limit(const Comparison& comparison) {
    Oid type = exprType(comparison.limit);
    return type == INT2OID || type == INT4OID || type == INT8OID;
}

Node* limit_as_bigint(PlannerInfo* root, const Comparison& comparison) {
    switch (exprType(comparison.limit)) {
    case INT2OID:
        return call_of_server(root, F_INT8_INT2, INT8OID, comparison.limit, COERCE_IMPLICIT_CAST);
    case INT4OID:
        return call_of_server(root, F_INT8_INT4, INT8OID, comparison.limit, COERCE_IMPLICIT_CAST);
    default:
        return comparison.limit;
    }
}

// The greatest radius that is not above the limit or, with `below`, the greatest that is below it.
// Null where a function for it is missing.
Node* radius_of_limit(PlannerInfo* root, const Comparison& comparison, bool below) {
    if (has_integer_limit(comparison)) {
        Node* limit = limit_as_bigint(root, comparison);
        return below ? call_sibling(root, comparison, "hamming_radius_below", kHammingRadiusBelow,
                                    INT8OID, list_make1(limit))
                     : limit;
    }
    Node* limit = comparison.limit;
    if (exprType(limit) == FLOAT8OID) {
        // It is rounded first: the cast to numeric keeps 15 digits, and might round it up.
        limit = call_of_server(root, below ? F_CEIL_FLOAT8 : F_FLOOR_FLOAT8, FLOAT8OID, limit,
                               COERCE_EXPLICIT_CALL);
        limit = call_of_server(root, F_NUMERIC_FLOAT8, NUMERICOID, limit, COERCE_EXPLICIT_CAST);
    }
    return call_sibling(root, comparison, comparison.family->radius_sql, comparison.family->radius,
                        INT8OID, list_make2(limit, makeBoolConst(below, false)));
}

// The greatest of the constants. Null where there is none, or where one is NULL: such a list is
// true or NULL but never false, and no predicate of ours is like that.
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
    return call_predicate(root, comparison, "hamming_within", comparison.family->within, radius);
}

Node* call_beyond(PlannerInfo* root, const Comparison& comparison, Node* radius) {
    return call_predicate(root, comparison, "hamming_beyond", comparison.family->beyond, radius);
}

Node* call_at(PlannerInfo* root, const Comparison& comparison) {
    return call_predicate(root, comparison, "hamming_at", comparison.family->at,
                          limit_as_bigint(root, comparison));
}

// An equality of a distance within one table with a limit from another can be a hash or merge join.
// That is worth more than the index, and only possible while it stays an equality. Where the
// distance is between two tables, these would have to be joined first, perhaps all rows with all.
bool is_better_as_equality(PlannerInfo* root, const Comparison& comparison) {
    Relids limit = pull_varnos(root, comparison.limit);
    Relids distance = pull_varnos(root, reinterpret_cast<Node*>(comparison.arguments));
    return !bms_is_subset(limit, distance) && bms_membership(distance) != BMS_MULTIPLE;
}

Node* negated(Node* predicate) {
    return predicate == nullptr
               ? nullptr
               : reinterpret_cast<Node*>(make_notclause(reinterpret_cast<Expr*>(predicate)));
}

// A predicate that the comparison implies, or null. *exact tells whether the two always agree.
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
        // With a limit of 2.5 no distance is equal, but those within 2 pass the predicate.
        *exact = has_integer_limit(comparison);
        return *exact ? call_at(root, comparison)
                      : call_within(root, comparison, radius_of_limit(root, comparison, false));
    // A limit that is no integer has no hamming_at(), and the comparison stays.
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

// Returns the expression that replaces the comparison `node`, or null if the comparison stays.
Node* replacement_for(PlannerInfo* root, Node* node, const Comparison& comparison) {
    // A volatile function must be called as often as the query says.
    if (contain_volatile_functions(node))
        return nullptr;
    // A user may call what is written in the query, and may not be allowed to call what we would
    // write. So the plan holds for this user only.
    root->glob->dependsOnRole = true;
    if (!may_call(comparison.hamming))
        return nullptr;
    // The server matches a B-tree on this distance with the comparison as it is written.
    DistanceUses uses = uses_of_distance(root, comparison.distance);
    if (uses.by_others && !uses.by_index)
        return nullptr;
    bool exact;
    Node* predicate = predicate_for(root, comparison, &exact);
    if (predicate == nullptr)
        return nullptr;
    // Otherwise both stand: the predicate for the index, and the comparison for what the predicate
    // lets through or for the server's own matching.
    if (exact && !uses.by_others)
        return predicate;
    // A subplan, which may call a volatile function as well, would run in both.
    if (contain_subplans(node))
        return nullptr;
    return reinterpret_cast<Node*>(makeBoolExpr(AND_EXPR, list_make2(predicate, node), -1));
}

// ---- rewriting a condition ----

bool has_comparison(Node* node, void*) {
    Comparison comparison;
    // As in rewrite_mutator(): a subplan's comparison is not rewritten, so it does not count.
    if (node == nullptr || IsA(node, SubPlan))
        return false;
    if (IsA(node, RestrictInfo))
        return has_comparison(
            reinterpret_cast<Node*>(reinterpret_cast<RestrictInfo*>(node)->clause), nullptr);
    return take_apart(node, &comparison) || walk_children(node, has_comparison, nullptr);
}

Node* rewritten_restriction(PlannerInfo* root, RestrictInfo* restriction);

// A list of conditions of which all must hold, with the arguments of the ANDs in it in place of
// these: the planner expects no AND within an AND.
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
    // The planner compares a placeholder with the expression that it had when it was made. The
    // executor takes the comparison of a subplan apart, to hash its sides. Both stay as written.
    if (node == nullptr || IsA(node, PlaceHolderVar) || IsA(node, SubPlan))
        return node;
    if (IsA(node, RestrictInfo))
        return rewritten_restriction(root, reinterpret_cast<RestrictInfo*>(node));
    Comparison comparison;
    if (take_apart(node, &comparison))
        if (Node* replacement = replacement_for(root, node, comparison))
            return replacement;
    Node* mutated = mutate_children(node, rewrite_mutator, context);
    // An inner comparison may have become an AND itself.
    if (is_andclause(mutated)) {
        auto* conjunction = reinterpret_cast<BoolExpr*>(mutated);
        conjunction->args = flattened(conjunction->args);
    }
    return mutated;
}

// The rewritten condition. Nearly every condition has no comparison of a distance: it is returned
// as it is, without a copy.
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
            // RangeTblRef nodes, the leaves of the tree, have no conditions.
            rewrite_join_tree(root, static_cast<Node*>(lfirst(cell)));
        from->quals = rewritten(root, from->quals);
    } else if (IsA(node, JoinExpr)) {
        auto* join = reinterpret_cast<JoinExpr*>(node);
        rewrite_join_tree(root, join->larg);
        rewrite_join_tree(root, join->rarg);
        join->quals = rewritten(root, join->quals);
    }
}

// Conditions of a table's row-level security. When tables are opened, each element is a list of
// conditions.
void rewrite_security_conditions(PlannerInfo* root, RangeTblEntry* table) {
    ListCell* conditions;
    foreach (conditions, table->securityQuals)
        // The list is changed in place, because it belongs to the query that is being planned.
        lfirst(conditions) = rewritten(root, static_cast<Node*>(lfirst(conditions)));
}

} // namespace

void rewrite_query_conditions(PlannerInfo* root) {
    rewrite_join_tree(root, reinterpret_cast<Node*>(root->parse->jointree));
    ListCell* table;
    foreach (table, root->parse->rtable)
        rewrite_security_conditions(root, lfirst_node(RangeTblEntry, table));
}

void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->indexlist) {
        auto* index = lfirst_node(IndexOptInfo, cell);
        // The planner made this list for the query, so the relation cache keeps its own.
        index->indpred = rewritten_list(root, index->indpred);
    }
}

// ---- where they stand afterwards ----
//
// In SELECT * FROM (SELECT ... FROM a UNION ALL SELECT ... FROM b) WHERE fp <~> $1 <= 3 the
// conditions belong to the union, and the planner distributes them before it opens a table. It
// opens the members a and b later, and then translates the union's conditions for each and adds
// those of the member's row-level security. So when a member is opened, the former are rewritten
// where they stand in the union's relation, and the latter in the member's range table entry.

namespace {

// Resets what the planner has derived from a clause that is now another one. It derives it again
// when it is asked for.
void forget_what_was_derived(RestrictInfo* restriction) {
    restriction->can_join = false;
    restriction->left_relids = restriction->right_relids = nullptr;
    restriction->parent_ec = nullptr;
    // -1 says that it is not computed yet.
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
    // A RestrictInfo holds one condition and must not become an AND. If the condition stays, so
    // does what was derived from it.
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
    // We change a copy, because the same RestrictInfo may stand in other lists, too.
    *copy = *restriction;
    rewrite_restriction(root, copy);
    return reinterpret_cast<Node*>(copy);
}

bool has_clause(List* restrictions, Node* clause) {
    ListCell* cell;
    foreach (cell, restrictions)
        if (equal(lfirst_node(RestrictInfo, cell)->clause, clause))
            return true;
    return false;
}

// The conditions on one relation. Where predicate and comparison both stand, each is a condition of
// its own. For another member of the union the predicate is there already.
List* rewritten_restrictions(PlannerInfo* root, List* restrictions) {
    List* all = NIL;
    ListCell* cell;
    foreach (cell, restrictions) {
        auto* restriction = lfirst_node(RestrictInfo, cell);
        Node* clause = rewritten(root, reinterpret_cast<Node*>(restriction->clause));
        all = lappend(all, rewritten_restriction(root, restriction));
        if (!is_andclause(clause))
            continue;
        auto* predicate = static_cast<Node*>(linitial(reinterpret_cast<BoolExpr*>(clause)->args));
        if (has_clause(restrictions, predicate))
            continue;
        auto* beside = makeNode(RestrictInfo);
        *beside = *restriction;
        beside->clause = reinterpret_cast<Expr*>(predicate);
        forget_what_was_derived(beside);
        all = lappend(all, beside);
    }
    return all;
}

// The relations of a join share its conditions and know them by their addresses, so these are
// changed in place. A condition of an equivalence class is left alone: other conditions are derived
// from it.
void rewrite_join_conditions(PlannerInfo* root, RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->joininfo) {
        auto* restriction = lfirst_node(RestrictInfo, cell);
        if (restriction->left_ec != nullptr || restriction->parent_ec != nullptr ||
            !has_comparison(reinterpret_cast<Node*>(restriction->clause), nullptr))
            continue;
        // Where the planner has taken conditions on one table out of an OR, it has set the OR's
        // selectivity to what is left of it beside them. That stays, or they would count twice.
        Selectivity beside = restriction->norm_selec;
        rewrite_restriction(root, restriction);
        restriction->norm_selec = beside;
    }
}

} // namespace

void rewrite_union_conditions(PlannerInfo* root, RelOptInfo* member) {
    AppendRelInfo* link =
        root->append_rel_array != nullptr ? root->append_rel_array[member->relid] : nullptr;
    RelOptInfo* parent = link != nullptr ? root->simple_rel_array[link->parent_relid] : nullptr;
    // A member of an inheritance tree has a table as its parent, whose conditions were rewritten
    // with the query.
    if (parent == nullptr || parent->rtekind != RTE_SUBQUERY)
        return;
    parent->baserestrictinfo = rewritten_restrictions(root, parent->baserestrictinfo);
    rewrite_join_conditions(root, parent);
    rewrite_security_conditions(root, planner_rt_fetch(member->relid, root));
}

} // namespace simhash
