// Opens an index that SQL names. See the header.
#include "index/inspect/open_index.hpp"

#include "index/access_method.hpp"

namespace simhash {

namespace {

// A user who may maintain the table may do everything. A member of pg_monitor may look.
bool may_open(Oid table, IndexRight right) {
    return may_maintain(table) ||
           (right == IndexRight::kMonitor && has_privs_of_role(GetUserId(), ROLE_PG_MONITOR));
}

void refuse_other_relations(Relation index) {
    if (index->rd_rel->relkind != RELKIND_INDEX || !is_simhash_index(index))
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("\"%s\" is not a simhash index", RelationGetRelationName(index))));
    // The other session has its pages in memory of its own.
    if (RELATION_IS_OTHER_TEMP(index))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("cannot access temporary index \"%s\" of another session",
                               RelationGetRelationName(index))));
    // A failed CREATE INDEX CONCURRENTLY leaves an index that lacks rows.
    if (!index->rd_index->indisvalid)
        ereport(ERROR, (errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                        errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
                        errhint("Please REINDEX or drop it.")));
    // A standby gets no pages of it.
    if (RecoveryInProgress() && !RelationIsPermanent(index))
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("unlogged index \"%s\" has no content during recovery",
                               RelationGetRelationName(index))));
}

} // namespace

void open_index(Oid oid, LOCKMODE mode, Relation* heap, Relation* index, IndexRight right) {
    // We lock the table before the index, as the whole server does: the other order could deadlock.
    // Until both are locked, the OID may become another index. So we look and check rights first,
    // in order not to lock other users' tables, and check again afterwards.
    Oid table = IndexGetRelation(oid, true);
    char kind = get_rel_relkind(oid);
    if (kind == RELKIND_PARTITIONED_INDEX)
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("\"%s\" is a partitioned index", get_rel_name(oid)),
                        errhint("Name the indexes of its partitions.")));
    if (!OidIsValid(table) || kind != RELKIND_INDEX) {
        char* name = get_rel_name(oid);
        ereport(ERROR,
                (errcode(name == nullptr ? ERRCODE_UNDEFINED_TABLE : ERRCODE_WRONG_OBJECT_TYPE),
                 name == nullptr ? errmsg("relation with OID %u does not exist", oid)
                                 : errmsg("\"%s\" is not a simhash index", name)));
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
