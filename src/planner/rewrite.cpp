// Rewrites comparisons of a distance with a limit into predicates that the index knows. README.md
// beside this file says when the planner calls this, and which comparisons stay as written.
//
// With d for a <~> b, a <~~> b or hamming(a, b), and a limit of int2, int4 or int8, any expression:
//
//   d <= limit     hamming_within(a, b, limit)
//   d <  limit     hamming_within(a, b, hamming_radius_below(limit))
//   d =  limit     both of them: the first, AND NOT the second
//
// and the same with the sides exchanged. hamming_radius_below(limit) is limit - 1 without overflow.
// With a limit of numeric the server compares d::numeric, and the radii are
//
//   hamming_radius(limit, false)     the greatest that is not above the limit
//   hamming_radius(limit, true)      the greatest that is below it
//
// A comparison that was replaced does not match again, so a condition may be met twice.
#include "index/lanes.hpp"
#include "planner/planner.hpp"
#include "values/objects.hpp"

namespace simhash {

// ---- comparisons of a distance with a limit ----

namespace {

// A comparison taken apart: distance comparator limit.
struct Comparison {
    int strategy;     // of the comparator in the server's B-trees: less, at most, or equal
    OpExpr* distance; // a <~> b or a <~~> b
    const DistanceFamily* family;
    Node* limit; // of type int2, int4, int8 or numeric
};

// True where the node is a distance, perhaps cast to numeric, as the server casts it where the
// limit is of that type. hamming(a, b) has become a <~> b.
bool take_distance(Node* node, Comparison* comparison) {
    if (IsA(node, FuncExpr) && reinterpret_cast<FuncExpr*>(node)->funcid == F_NUMERIC_INT4)
        node = node_at(reinterpret_cast<FuncExpr*>(node)->args, 0);
    comparison->distance = reinterpret_cast<OpExpr*>(node);
    if (!IsA(node, OpExpr) || list_length(comparison->distance->args) != 2)
        return false;
    // The server need not have filled in the operator's function yet.
    set_opfuncid(comparison->distance);
    comparison->family = family_of(comparison->distance->opfuncid, &DistanceFamily::hamming);
    return comparison->family != nullptr;
}

// True where the node is a comparison of a distance with a limit, which is then in *comparison. The
// comparator is known by the server's own families of operators, as names depend on search_path.
bool take_apart(Node* node, Comparison* comparison) {
    auto* op = reinterpret_cast<OpExpr*>(node);
    if (!IsA(node, OpExpr) || list_length(op->args) != 2)
        return false;
    Oid comparator = op->opno;
    comparison->limit = node_at(op->args, 1);
    if (!take_distance(node_at(op->args, 0), comparison)) {
        if (!take_distance(node_at(op->args, 1), comparison))
            return false;
        comparison->limit = node_at(op->args, 0);
        // limit > distance is distance < limit.
        comparator = get_commutator(comparator);
    }
    Oid type = exprType(comparison->limit);
    if (type != NUMERICOID && !is_integer(type))
        return false;
    Oid family = lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
    comparison->strategy = get_op_opfamily_strategy(comparator, family);
    return comparison->strategy == BTLessStrategyNumber ||
           comparison->strategy == BTLessEqualStrategyNumber ||
           comparison->strategy == BTEqualStrategyNumber;
}

// True when a table has an index on this very distance: the server matches it with the comparison
// as it is written.
bool has_index(PlannerInfo* root, const OpExpr* distance) {
    auto* expression = reinterpret_cast<Node*>(copyObjectImpl(distance));
    int number;
    // A distance between two tables, or of none, is in no index of one table.
    if (!bms_get_singleton_member(pull_varnos(root, expression), &number) ||
        rt_fetch(number, root->parse->rtable)->rtekind != RTE_RELATION)
        return false;
    Relation table = try_relation_open(rt_fetch(number, root->parse->rtable)->relid, NoLock);
    if (table == nullptr)
        return false; // dropped meanwhile
    // In the catalogs a table's own columns have the number 1.
    ChangeVarNodes(expression, number, 1, 0);
    bool found = false;
    ListCell* cell;
    foreach (cell, RelationGetIndexList(table)) {
        // The planner is about to open it with the same lock.
        Relation index = index_open(lfirst_oid(cell), AccessShareLock);
        // equal() ignores where in the query's text the nodes stood.
        found |= list_member(RelationGetIndexExpressions(index), expression);
        index_close(index, NoLock);
    }
    relation_close(table, NoLock);
    return found;
}

// ---- rewriting one comparison ----

// The greatest radius that is not above the limit or, with `below`, the greatest that is below it.
// Null where a function for it is missing.
Node* radius_of_limit(PlannerInfo* root, const Comparison& comparison, bool below) {
    Oid beside = comparison.distance->opfuncid;
    if (exprType(comparison.limit) == NUMERICOID)
        return call_sibling(root, beside, kHammingRadius,
                            list_make2(comparison.limit, makeBoolConst(below, false)));
    // Where the plan is written as SQL, in EXPLAIN and by postgres_fdw, an implicit cast is not
    // written.
    Node* limit = coerce_to_target_type(nullptr, comparison.limit, exprType(comparison.limit),
                                        INT8OID, -1, COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
    return below ? call_sibling(root, beside, kHammingRadiusBelow, list_make1(limit))
                 : eval_const_expressions(root, limit);
}

Node* call_within(PlannerInfo* root, const Comparison& comparison, bool below) {
    List* values = comparison.distance->args;
    return call_sibling(
        root, comparison.distance->opfuncid, comparison.family->within,
        list_make3(linitial(values), lsecond(values), radius_of_limit(root, comparison, below)));
}

// An equality of a distance within one table with a limit from another can be a hash or merge join.
// That is worth more than the index, and only possible while it stays an equality. Where the
// distance is between two tables, these would have to be joined first, perhaps all rows with all.
bool is_better_as_equality(PlannerInfo* root, const Comparison& comparison) {
    Relids limit = pull_varnos(root, comparison.limit);
    Relids distance = pull_varnos(root, reinterpret_cast<Node*>(comparison.distance));
    return !bms_is_subset(limit, distance) && bms_membership(distance) != BMS_MULTIPLE;
}

// d = limit: the first of the rows within the limit are not those within less than it. The
// arguments stand in both, so a subplan, which may call a volatile function, would run in both.
Node* call_at(PlannerInfo* root, const Comparison& comparison) {
    if (is_better_as_equality(root, comparison) ||
        contain_subplans(reinterpret_cast<Node*>(comparison.distance)) ||
        contain_subplans(comparison.limit))
        return nullptr;
    Node* within = call_within(root, comparison, false);
    Node* below = call_within(root, comparison, true);
    if (within == nullptr || below == nullptr)
        return nullptr;
    auto* beyond = make_notclause(reinterpret_cast<Expr*>(below));
    return reinterpret_cast<Node*>(makeBoolExpr(AND_EXPR, list_make2(within, beyond), -1));
}

// Returns the expression that replaces the comparison `node`, and is true, false or NULL where that
// is; null if the comparison stays.
Node* replacement_for(PlannerInfo* root, Node* node, const Comparison& comparison) {
    // A volatile function must be called as often as the query says.
    if (contain_volatile_functions(node))
        return nullptr;
    // A user may call what is written in the query, and may not be allowed to call what we would
    // write. So the plan holds for this user only.
    root->glob->dependsOnRole = true;
    if (!may_call(comparison.distance->opfuncid) || has_index(root, comparison.distance))
        return nullptr;
    return comparison.strategy == BTEqualStrategyNumber
               ? call_at(root, comparison)
               : call_within(root, comparison, comparison.strategy == BTLessStrategyNumber);
}

// ---- rewriting a condition ----

bool has_comparison(Node* node, void*) {
    Comparison comparison;
    // As in rewrite_mutator(): a subplan's comparison is not rewritten, so it does not count.
    if (node == nullptr || IsA(node, SubPlan))
        return false;
    return take_apart(node, &comparison) || walk_children(node, has_comparison, nullptr);
}

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

} // namespace

Node* call_sibling(PlannerInfo* root, Oid beside, const OurFunction& ours, List* arguments) {
    Oid types[FUNC_MAX_ARGS];
    int count = 0;
    ListCell* cell;
    foreach (cell, arguments) {
        if (lfirst(cell) == nullptr)
            return nullptr;
        types[count++] = exprType(static_cast<Node*>(lfirst(cell)));
    }
    Oid function = sibling_function(beside, ours, types, count);
    if (!OidIsValid(function))
        return nullptr;
    auto* call = makeFuncExpr(function, get_func_rettype(function), arguments, InvalidOid,
                              InvalidOid, COERCE_EXPLICIT_CALL);
    // The planner has simplified the query already, so what is new must be simplified here.
    return eval_const_expressions(root, reinterpret_cast<Node*>(call));
}

void rewrite_query_conditions(PlannerInfo* root) {
    rewrite_join_tree(root, reinterpret_cast<Node*>(root->parse->jointree));
    ListCell *table, *conditions;
    foreach (table, root->parse->rtable)
        // Row-level security: when tables are opened, each element is a list of conditions. It is
        // changed in place, because it belongs to the query that is being planned.
        foreach (conditions, lfirst_node(RangeTblEntry, table)->securityQuals)
            lfirst(conditions) = rewritten(root, static_cast<Node*>(lfirst(conditions)));
}

void rewrite_index_predicates(PlannerInfo* root, RelOptInfo* relation) {
    ListCell* cell;
    foreach (cell, relation->indexlist) {
        auto* index = lfirst_node(IndexOptInfo, cell);
        // The planner made this list for the query, so the relation cache keeps its own.
        auto* predicate = reinterpret_cast<Node*>(index->indpred);
        index->indpred = reinterpret_cast<List*>(rewritten(root, predicate));
    }
}

} // namespace simhash
