#include "index/walk.hpp"

namespace simhash {

LevelWalk::LevelWalk(const TreeContext& tree, int level, TreeKey first)
    : tree_(tree), level_(level), position_(first), next_(InvalidBlockNumber),
      page_(static_cast<Page>(palloc(BLCKSZ))) {}

bool LevelWalk::next() {
    CHECK_FOR_INTERRUPTS();
    if (ended_)
        return false;
    Buffer buffer = find_page(tree_, next_, position_, level_);
    memcpy(page_, BufferGetPage(buffer), BLCKSZ);
    block_ = BufferGetBlockNumber(buffer);
    UnlockReleaseBuffer(buffer);

    ended_ = page_is_rightmost(page_);
    if (!ended_) {
        if (page_high(page_) <= position_)
            report_corruption(tree_.index, block_, "The page's range is empty.");
        position_ = page_high(page_);
        next_ = page_opaque(page_)->right;
    }
    return true;
}

LeafReader LevelWalk::leaf() const {
    LeafReader reader;
    if (!page_is_leaf(page_) || !reader.open(page_body(page_), page_body_size(page_), tree_.kind))
        report_corruption(tree_.index, block_, "The leaf's header does not fit its content.");
    return reader;
}

EntryWalk::EntryWalk(const TreeContext& tree, TreeKey first)
    : leaves_(tree, 0, first), first_(first),
      entries_(static_cast<LeafEntry*>(palloc(kMaxLeafEntries * sizeof(LeafEntry)))) {}

bool EntryWalk::next(LeafEntry* entry) {
    do {
        while (position_ == count_) {
            if (!leaves_.next())
                return false;
            count_ = leaves_.leaf().decode_sorted(entries_);
            position_ = 0;
        }
        *entry = entries_[position_++];
    } while (*entry < first_);
    return true;
}

int root_level(const TreeContext& tree) {
    Buffer buffer = read_page(tree.index, root_block(tree.tree), BUFFER_LOCK_SHARE);
    int level = page_opaque(BufferGetPage(buffer))->level;
    UnlockReleaseBuffer(buffer);
    return level;
}

// ---- Opening ----

namespace {

// Who may maintain the table may do everything; a member of pg_monitor may look.
bool may_open(Oid table, IndexRight right) {
    return may_maintain(table) ||
           (right == IndexRight::kMonitor && has_privs_of_role(GetUserId(), ROLE_PG_MONITOR));
}

void refuse_other_relations(Relation index) {
    if (index->rd_rel->relkind != RELKIND_INDEX || index->rd_indam->ambuild != index_build)
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
