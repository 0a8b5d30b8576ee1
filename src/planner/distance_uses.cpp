// Looks for the indexes of a table that contain a distance. See the header.
#include "planner/rewrite.hpp"

#include "index/access_method.hpp"

namespace simhash {
namespace {

// equal() ignores where in the query's text the nodes stood.
bool contains(Node* expression, void* distance) {
    return expression != nullptr &&
           (equal(expression, distance) || walk_children(expression, contains, distance));
}

// True when a simhash index has one side of the distance as its column.
bool indexes_a_side(Relation index, Node* distance) {
    if (!is_simhash_index(index))
        return false;
    // Only the first column of our index has a distance.
    AttrNumber column = index->rd_index->indkey.values[0];
    List* expressions = RelationGetIndexExpressions(index);
    // Column number 0 in indkey stands for an expression.
    auto is_indexed = [&](Node* side) {
        return column != 0 ? IsA(side, Var) && reinterpret_cast<Var*>(side)->varattno == column
                           : equal(side, linitial(expressions));
    };
    List* sides = reinterpret_cast<OpExpr*>(distance)->args;
    return is_indexed(node_at(sides, 0)) || is_indexed(node_at(sides, 1));
}

} // namespace

DistanceUses uses_of_distance(PlannerInfo* root, Node* distance) {
    DistanceUses uses = {false, false};
    int number;
    // A distance between two tables, or of none, is in no index of one table.
    if (!IsA(distance, OpExpr) || !bms_get_singleton_member(pull_varnos(root, distance), &number))
        return uses;
    RangeTblEntry* entry = rt_fetch(number, root->parse->rtable);
    if (entry->rtekind != RTE_RELATION)
        return uses;
    Relation table = try_relation_open(entry->relid, NoLock);
    if (table == nullptr)
        return uses; // dropped meanwhile
    // In the catalogs a table's own columns have the number 1.
    auto* of_catalogs = static_cast<Node*>(copyObjectImpl(distance));
    ChangeVarNodes(of_catalogs, number, 1, 0);
    ListCell* cell;
    foreach (cell, RelationGetIndexList(table)) {
        // The planner is about to open it with the same lock.
        Relation index = index_open(lfirst_oid(cell), AccessShareLock);
        if (index->rd_index->indisvalid && indexes_a_side(index, of_catalogs))
            uses.by_simhash = true;
        else
            uses.by_others |=
                contains(reinterpret_cast<Node*>(RelationGetIndexExpressions(index)), of_catalogs);
        index_close(index, NoLock);
    }
    relation_close(table, NoLock);
    return uses;
}

} // namespace simhash
