// The opening of an index that SQL names; see the header.
#include "index/open_index.hpp"

#include "index/access_method.hpp"

namespace simhash {

namespace {

// Who may maintain the table may do everything; a member of pg_monitor may look.
bool may_open(Oid table, IndexRight right) {
    return may_maintain(table) ||
           (right == IndexRight::kMonitor && has_privs_of_role(GetUserId(), ROLE_PG_MONITOR));
}

void refuse_other_relations(Relation index) {
    if (index->rd_rel->relkind != RELKIND_INDEX || !is_simhash_index(index))
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("\"%s\" is not a simhash index", RelationGetRelationName(index))));
    if (RELATION_IS_OTHER_TEMP(index))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("cannot access temporary index \"%s\" of another session",
                               RelationGetRelationName(index))));
    if (!index->rd_index->indisvalid)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
                        errhint("Please REINDEX or drop it.")));
    if (RecoveryInProgress() && !RelationIsPermanent(index))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("unlogged index \"%s\" has no content during recovery",
                               RelationGetRelationName(index))));
}

} // namespace

void open_index(Oid oid, LOCKMODE mode, Relation* heap, Relation* index, IndexRight right) {
    // The table first, as everyone does; the index's identity is settled when both are locked.
    Oid table = IndexGetRelation(oid, true);
    if (!OidIsValid(table) || get_rel_relkind(oid) != RELKIND_INDEX) {
        char* name = get_rel_name(oid);
        ereport(ERROR,
                (errcode(name == nullptr ? ERRCODE_UNDEFINED_TABLE : ERRCODE_WRONG_OBJECT_TYPE),
                 name == nullptr ? errmsg("relation with OID %u does not exist", oid)
                                 : errmsg("\"%s\" is not a simhash index", name),
                 get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX
                     ? errhint("Name the indexes of its partitions.")
                     : 0));
    }
    if (!may_open(table, right))
        aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, get_rel_name(oid));
    *heap = table_open(table, mode);
    *index = index_open(oid, mode);
    if (table != IndexGetRelation(oid, true) || !may_open(table, right))
        ereport(ERROR,
                (errcode(ERRCODE_UNDEFINED_TABLE),
                 errmsg("index \"%s\" was changed concurrently", RelationGetRelationName(*index))));
    refuse_other_relations(*index);
}

} // namespace simhash
