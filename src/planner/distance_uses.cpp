// Looks for the objects of a table that contain a distance. See the header.
#include "planner/distance_uses.hpp"

#include "index/access_method.hpp"

namespace simhash {

namespace {

struct Search {
    Node* distance; // as the catalogs write it, with the columns of range table entry 1
    DistanceUses found;
};

// equal() ignores where in the query's text the nodes stood.
bool contains(Node* expression, void* distance) {
    return expression != nullptr &&
           (equal(expression, distance) || walk_children(expression, contains, distance));
}

void look_at_expressions(Search* search, List* expressions) {
    search->found.by_others |= contains(reinterpret_cast<Node*>(expressions), search->distance);
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
    return is_indexed(static_cast<Node*>(linitial(sides))) ||
           is_indexed(static_cast<Node*>(lsecond(sides)));
}

void look_at_indexes(Search* search, Relation table) {
    List* indexes = RelationGetIndexList(table);
    ListCell* cell;
    foreach (cell, indexes) {
        // The planner is about to open it with the same lock.
        Relation index = index_open(lfirst_oid(cell), AccessShareLock);
        if (index->rd_index->indisvalid && indexes_a_side(index, search->distance))
            search->found.by_index = true;
        else
            look_at_expressions(search, RelationGetIndexExpressions(index));
        index_close(index, NoLock);
    }
    list_free(indexes);
}

void look_at_constraints(Search* search, PlannerInfo* root, Relation table) {
    TupleConstr* constraints = table->rd_att->constr;
    for (int i = 0; constraints != nullptr && i < constraints->num_check; i++) {
        // The constraint is simplified as the planner simplifies conditions, so that equal()
        // compares like with like.
        auto* check = static_cast<Node*>(stringToNode(constraints->check[i].ccbin));
        look_at_expressions(search, list_make1(eval_const_expressions(root, check)));
    }
}

// True where the server compares conditions with CHECK constraints: by default only where a table
// has children. Elsewhere it does not simplify them, which may call a function that this user may
// not call.
bool constraints_count(bool with_children) {
    return constraint_exclusion == CONSTRAINT_EXCLUSION_ON ||
           (constraint_exclusion == CONSTRAINT_EXCLUSION_PARTITION && with_children);
}

void look_at_table(Search* search, PlannerInfo* root, Relation table, bool with_children) {
    look_at_indexes(search, table);
    if (constraints_count(with_children))
        look_at_constraints(search, root, table);
    if (PartitionKey key = RelationGetPartitionKey(table))
        look_at_expressions(search, key->partexprs);
}

// The tables below this one whose objects count: all children by inheritance, and of partitions
// only those that are partitioned themselves. A table may have thousands of the others.
List* tables_below(Relation table) {
    if (table->rd_rel->relkind != RELKIND_PARTITIONED_TABLE)
        return has_subclass(RelationGetRelid(table))
                   ? find_inheritance_children(RelationGetRelid(table), AccessShareLock)
                   : NIL;
    PartitionDesc partitions = RelationGetPartitionDesc(table, true);
    List* below = NIL;
    for (int i = 0; i < partitions->nparts; i++)
        if (!partitions->is_leaf[i]) {
            LockRelationOid(partitions->oids[i], AccessShareLock);
            below = lappend_oid(below, partitions->oids[i]);
        }
    return below;
}

// Expects the table locked.
void look_at_tables(Search* search, PlannerInfo* root, Oid oid, bool with_children) {
    Relation table = try_relation_open(oid, NoLock);
    if (table == nullptr)
        return; // dropped meanwhile
    look_at_table(search, root, table, with_children);
    if (with_children) {
        ListCell* cell;
        foreach (cell, tables_below(table))
            look_at_tables(search, root, lfirst_oid(cell), true);
    }
    relation_close(table, NoLock);
}

} // namespace

DistanceUses uses_of_distance(PlannerInfo* root, Node* distance) {
    int number;
    // A distance between two tables, or of none, is in no index, key or constraint of one table.
    if (!IsA(distance, OpExpr) || !bms_get_singleton_member(pull_varnos(root, distance), &number))
        return {false, true};
    RangeTblEntry* entry = rt_fetch(number, root->parse->rtable);
    if (entry->rtekind != RTE_RELATION)
        return {false, true};
    // In the catalogs a table's own columns have the number 1.
    auto* of_catalogs = static_cast<Node*>(copyObjectImpl(distance));
    ChangeVarNodes(of_catalogs, number, 1, 0);
    Search search = {of_catalogs, {false, false}};
    look_at_tables(&search, root, entry->relid, entry->inh);
    return search.found;
}

} // namespace simhash
