// Makes, reads, checks and allocates pages, and reads and writes the metapage.
#include "index/store/page.hpp"

#include "core/layout/lane_radii.hpp"
#include "index/scope.hpp"

#include <algorithm>

namespace simhash {

void report_corruption(Relation index, BlockNumber block, const char* what) {
    ereport(ERROR, errcode(ERRCODE_INDEX_CORRUPTED),
            errmsg("index \"%s\" is corrupted at block %u", RelationGetRelationName(index), block),
            errdetail("%s", what), errhint("Please REINDEX it."));
    pg_unreachable();
}

namespace {

// The layout has a checksum of its own because data checksums may be off, and a wrong number of
// tables would give wrong answers without any other sign of damage. VACUUM's flags are left out:
// they change.
uint32 meta_checksum(const MetaPage* meta) {
    pg_crc32c crc;
    INIT_CRC32C(crc);
    COMP_CRC32C(crc, meta, offsetof(MetaPage, removal_pending));
    if (meta->format() > kOldestFormat)
        COMP_CRC32C(crc, &meta->compared_columns,
                    sizeof(MetaPage) - offsetof(MetaPage, compared_columns));
    FIN_CRC32C(crc);
    return crc;
}

} // namespace

void init_page(Page page, int tree, int level, uint16 flags) {
    PageInit(page, BLCKSZ, sizeof(PageOpaque));
    page_set_body_size(page, 0);
    PageOpaque* opaque = page_opaque(page);
    opaque->right = InvalidBlockNumber;
    opaque->flags = flags;
    opaque->tree = uint8(tree);
    opaque->level = uint8(level);
    // The other fields are 0, which PageInit() has left: the least key, no deletion.
    opaque->page_id = kPageId;
}

void init_leaf(Page page, int tree, LeafKind kind) {
    init_page(page, tree, 0, kPageLeaf);
    // Even an empty leaf has a packed part: LeafReader expects its header.
    page_set_body_size(page, encode_packed(kind, nullptr, 0, page_body(page), kBodyCapacity));
}

void init_meta_page(Page page, const Layout& layout, int scope_columns) {
    init_page(page, 0, 0, kPageMeta);
    auto* meta = reinterpret_cast<MetaPage*>(page_body(page));
    *meta = {};
    meta->magic = kMetaMagic;
    meta->version = uint16(layout.definition << 8 | kFormatVersion);
    meta->radius = uint8(layout.radius);
    meta->table_count = uint8(layout.table_count);
    meta->lane_count = uint8(layout.lanes_vary ? 0 : layout.lane_count);
    meta->scope_columns = uint8(scope_columns);
    meta->compared_columns = layout.compared_columns;
    static_assert(kMaxTables <= UINT8_MAX && kMaxLanes <= UINT8_MAX && kMaxTrees <= UINT8_MAX &&
                  INDEX_MAX_KEYS <= UINT8_MAX);
    meta->checksum = meta_checksum(meta);
    // pd_lower lies behind the content: full-page images leave out what lies after it.
    page_set_body_size(page, sizeof(MetaPage));
}

LeafReader open_leaf(Relation index, Buffer buffer, LeafKind kind) {
    Page page = BufferGetPage(buffer);
    LeafReader reader;
    if (!page_is_leaf(page) || !reader.open(page_body(page), page_body_size(page), kind))
        report_corruption(index, BufferGetBlockNumber(buffer),
                          "The leaf's header does not fit its content.");
    return reader;
}

Buffer pin_page(Relation index, BlockNumber block, BufferAccessStrategy strategy) {
    if (block == InvalidBlockNumber || !block_exists(index, block))
        report_corruption(index, block, "A link names no page.");
    Buffer buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL, strategy);
    // Content locks are not reentrant and have no deadlock detection: we would wait for ourselves
    // and could not be cancelled.
    if (page_locked_by_me(buffer))
        report_corruption(index, block, "Links form a circle.");
    return buffer;
}

Buffer read_page(Relation index, BlockNumber block, BufferLockMode lock_mode) {
    Buffer buffer = pin_page(index, block);
    LockBuffer(buffer, lock_mode);
    check_page(index, block, buffer);
    return buffer;
}

bool may_fetch_ahead(Relation relation) {
    // With 0 the user turns prefetching off, as for the server's own bitmap heap scans.
    return get_tablespace_io_concurrency(relation->rd_rel->reltablespace) > 0;
}

Buffer fetch_page_ahead(Relation relation, BlockNumber block) {
    // The link may be stale, and PrefetchBuffer() raises an error for a block of a segment file
    // that does not exist.
    if (!block_exists(relation, block))
        return InvalidBuffer;
    Buffer buffer = PrefetchBuffer(relation, MAIN_FORKNUM, block).recent_buffer;
    // The caller takes a shared buffer's address from its number; local buffers lie elsewhere.
    return BufferIsLocal(buffer) ? InvalidBuffer : buffer;
}

// ---- Metapage ----

namespace {

size_t meta_size(uint8 version) {
    return version == kOldestFormat ? offsetof(MetaPage, compared_columns) : sizeof(MetaPage);
}

void check_meta(Relation index, const MetaPage* meta, size_t size) {
    // Nothing below may read beyond the content.
    if (size < offsetof(MetaPage, radius) || meta->magic != kMetaMagic)
        report_corruption(index, kMetaBlock, "The metapage's magic number is wrong.");
    // The version comes before size and checksum: another format may define both differently.
    if (meta->format() < kOldestFormat || meta->format() > kFormatVersion)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("index \"%s\" has storage format version %u", RelationGetRelationName(index),
                       meta->format()),
                errdetail("This version of simhash reads format versions %u to %u.", kOldestFormat,
                          kFormatVersion),
                errhint("Install a version of simhash that reads it, or REINDEX the index."));
    if (size != meta_size(meta->format()) || meta->radius >= kFingerprintBits ||
        meta->table_count < 1 || meta->table_count > kMaxTables || meta->lane_count > kMaxLanes ||
        meta->table_count * meta->lane_count >= kMaxTrees ||
        (meta->lane_count == 0 && meta->table_count > 1))
        report_corruption(index, kMetaBlock, "The metapage's layout is out of range.");
    if (meta->checksum != meta_checksum(meta))
        report_corruption(index, kMetaBlock, "The metapage's checksum is wrong.");
    // The catalog and the metapage must agree, or scans would XOR another hash than the build.
    if (meta->scope_columns != scope_columns(index))
        report_corruption(index, kMetaBlock, "The metapage's scope has other columns.");
}

} // namespace

Layout read_layout(Relation index) {
    Buffer buffer = read_page(index, kMetaBlock, BUFFER_LOCK_SHARE);
    Page page = BufferGetPage(buffer);
    auto* meta = reinterpret_cast<MetaPage*>(page_body(page));
    check_meta(index, meta, page_body_size(page));
    bool lanes_vary = meta->lane_count == 0;
    Layout layout = {meta->radius, meta->table_count, lanes_vary ? 1 : meta->lane_count,
                     lanes_vary};
    if (meta->format() > kOldestFormat)
        layout.compared_columns = meta->compared_columns;
    if (lanes_vary && meta->format() > kOldestFormat)
        layout.key_bits = kBitsOfHash;
    layout.definition = meta->definition();
    UnlockReleaseBuffer(buffer);
    // The operator class is asked without the lock, as it may do anything.
    LaneLayout lanes = lane_layout(index);
    if (layout.lane_count != lanes.count || layout.lanes_vary != (lanes.rule == LaneRule::kCommon))
        report_corruption(index, kMetaBlock, "The metapage's values have another number of lanes.");
    return layout;
}

const Layout& cached_layout(Relation index) {
    if (index->rd_amcache == nullptr) {
        // We read the metapage before we allocate: reading may raise an error, and rd_indexcxt
        // lives as long as the relcache entry, so memory from before the error would leak.
        Layout layout = read_layout(index);
        index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof(Layout));
        memcpy(index->rd_amcache, &layout, sizeof(Layout));
    }
    return *static_cast<const Layout*>(index->rd_amcache);
}

const Layout& comparable_layout(Relation index) {
    // Asked each time: when somebody replaces the support function, no backend is told to drop its
    // cache. And before the layout, as that function may do anything, and end the cached one.
    int definition = lane_layout(index).definition;
    const Layout& layout = cached_layout(index);
    if (layout.definition != definition)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("index \"%s\" was built by another definition of its values' lanes",
                       RelationGetRelationName(index)),
                errdetail("The index has definition %d, and its operator class definition %d.",
                          layout.definition, definition),
                errhint("REINDEX the index."));
    return layout;
}

double estimated_entries(const Layout& layout, BlockNumber blocks) {
    // An entry takes about 6 bytes in each table, and its TID another 4 in the posting table. The
    // roots hold next to nothing of a large index.
    double pages = std::max(1.0, double(blocks) - tree_count(layout));
    double bytes_per_entry = (6.0 * layout.table_count + 4) * layout.lane_count;
    return std::max(1.0, pages * kBodyCapacity / bytes_per_entry);
}

bool meta_flag(Relation index, uint8 MetaPage::*flag) {
    Buffer buffer = read_page(index, kMetaBlock, BUFFER_LOCK_SHARE);
    bool value = reinterpret_cast<MetaPage*>(page_body(BufferGetPage(buffer)))->*flag != 0;
    UnlockReleaseBuffer(buffer);
    return value;
}

void set_meta_flag(Relation index, uint8 MetaPage::*flag, bool value) {
    Buffer buffer = read_page(index, kMetaBlock, BUFFER_LOCK_EXCLUSIVE);
    GenericXLogState* state = GenericXLogStart(index);
    // The flag is outside of the checksum, so the checksum stays right.
    Page page = GenericXLogRegisterBuffer(state, buffer, 0);
    reinterpret_cast<MetaPage*>(page_body(page))->*flag = value;
    GenericXLogFinish(state);
    UnlockReleaseBuffer(buffer);
}

// ---- Allocation ----

bool page_is_recyclable(Page page, Relation heap) {
    // A crash between extension and linking leaves an all-zero page. No link can lead there.
    if (PageIsNew(page))
        return true;
    if (!page_is_well_formed(page) || !page_is_deleted(page))
        return false;
    FullTransactionId deleted = FullTransactionIdFromU64(page_opaque(page)->deleted_xid);
    return GlobalVisCheckRemovableFullXid(heap, deleted);
}

Buffer allocate_page(Relation index, Relation heap) {
    for (;;) {
        BlockNumber block = GetFreeIndexPage(index);
        if (block == InvalidBlockNumber)
            break;
        // No WAL record tells that an unused page was added. So after a crash, or on a promoted
        // standby, the map may name a page that the file does not have. From 15.7 and 16.3 on the
        // server leaves such pages out itself.
        if (!block_exists(index, block))
            continue;
        Buffer buffer = ReadBuffer(index, block);
        // We lock conditionally because the map is only a hint. The page may be in use: we may even
        // hold its lock ourselves, or wait against rule 3 for somebody who does.
        if (ConditionalLockBuffer(buffer)) {
            // We check again under the lock. The caller links the page before it releases the lock,
            // so no second backend can take it.
            if (page_is_recyclable(BufferGetPage(buffer), heap))
                return buffer;
            LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
        }
        ReleaseBuffer(buffer);
    }
    return extend_relation(index);
}

void check_internal(Relation index, Buffer buffer, LeafKind kind) {
    Page page = BufferGetPage(buffer);
    if (page_is_leaf(page) || page_body_size(page) == 0 ||
        page_body_size(page) % pivot_bytes(kind) != 0)
        report_corruption(index, BufferGetBlockNumber(buffer),
                          "An internal page holds no whole number of pivots.");
}

} // namespace simhash
