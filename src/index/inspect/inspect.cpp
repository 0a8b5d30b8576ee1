// Opens an index that SQL names, and reads it from end to end. See the header.
#include "index/inspect/inspect.hpp"

#include "index/access_method.hpp"

namespace simhash {

// ---- opening ----

namespace {

void refuse_other_relations(Relation index) {
    if (index->rd_rel->relkind != RELKIND_INDEX || !is_simhash_index(index))
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a simhash index", RelationGetRelationName(index)));
    // The other session has its pages in memory of its own.
    if (RELATION_IS_OTHER_TEMP(index))
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("cannot access temporary index \"%s\" of another session",
                       RelationGetRelationName(index)));
    // A failed CREATE INDEX CONCURRENTLY leaves an index that lacks rows.
    if (!index->rd_index->indisvalid)
        ereport(ERROR, errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
                errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
                errhint("Please REINDEX or drop it."));
    // A standby gets no pages of it.
    if (RecoveryInProgress() && !RelationIsPermanent(index))
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("unlogged index \"%s\" has no content during recovery",
                       RelationGetRelationName(index)));
}

} // namespace

void open_index(Oid oid, LOCKMODE mode, bool may_monitor, Relation* heap, Relation* index) {
    auto may_open = [may_monitor](Oid table) {
        return may_maintain(table) ||
               (may_monitor && has_privs_of_role(GetUserId(), ROLE_PG_MONITOR));
    };
    // We lock the table before the index, as the whole server does: the other order could deadlock.
    // Until both are locked, the OID may become another index. So we look and check rights first,
    // in order not to lock other users' tables, and check again afterwards.
    Oid table = IndexGetRelation(oid, true);
    const char* name = get_rel_name(oid);
    if (name == nullptr)
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
                errmsg("relation with OID %u does not exist", oid));
    if (get_rel_relkind(oid) == RELKIND_PARTITIONED_INDEX)
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is a partitioned index", name),
                errhint("Name the indexes of its partitions."));
    if (!OidIsValid(table))
        ereport(ERROR, errcode(ERRCODE_WRONG_OBJECT_TYPE),
                errmsg("\"%s\" is not a simhash index", name));
    if (!may_open(table))
        aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, name);
    *heap = table_open(table, mode);
    *index = index_open(oid, mode);
    if (table != IndexGetRelation(oid, true) || !may_open(table))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_TABLE),
                errmsg("index \"%s\" was changed concurrently", RelationGetRelationName(*index)));
    refuse_other_relations(*index);
}

// ---- reading ----

LevelReader::LevelReader(const TreeContext& tree, int level, Entry first)
    : tree_(tree), level_(level), position_(first), next_(InvalidBlockNumber),
      page_(static_cast<Page>(palloc(BLCKSZ))) {}

bool LevelReader::next() {
    CHECK_FOR_INTERRUPTS();
    if (ended_)
        return false;
    // We copy the page, because the caller may raise errors, allocate and wait while it looks at
    // it: nobody may do that under a page lock. The position moves under the same lock.
    Buffer buffer = find_page(tree_, next_, position_, level_);
    memcpy(page_, BufferGetPage(buffer), BLCKSZ);
    block_ = BufferGetBlockNumber(buffer);
    // go_right() moves the position to the page's high, and returns false where there is none.
    ended_ = !go_right(tree_.index, buffer, &position_);
    UnlockReleaseBuffer(buffer);
    // This is the link in the copy. The page itself may have another right neighbour by now, and
    // the position will tell.
    next_ = page_opaque(page_)->right;
    return true;
}

// The reader reads in the copy, which is valid until next().
LeafReader LevelReader::leaf() const {
    LeafReader reader;
    if (!page_is_leaf(page_) || !reader.open(page_body(page_), page_body_size(page_), tree_.kind))
        report("The leaf's header does not fit its content.");
    return reader;
}

EntryReader::EntryReader(const TreeContext& tree, Entry first)
    : leaves_(tree, 0, first), first_(first),
      entries_(static_cast<Entry*>(palloc(kMaxLeafEntries * sizeof(Entry)))) {}

bool EntryReader::next(Entry* entry) {
    do {
        // Empty leaves take more than one turn.
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

} // namespace simhash
