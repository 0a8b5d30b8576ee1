// The on-disk format: pages, their fences and pivots, and the metapage. Also the functions that
// make, read, check and change pages. ../README.md states the protocols.
#pragma once

#include "core/bits/memory.hpp"
#include "core/bits/sort.hpp"
#include "core/layout/layout.hpp"
#include "core/leaf/codec.hpp"
#include "server/pg.hpp"

namespace simhash {

// ---- Pages ----

constexpr BlockNumber kMetaBlock = 0;
constexpr uint32 kMetaMagic = 0x53494d48; // "SIMH"

// The storage format: what is built, and the oldest that can be opened.
constexpr uint8 kFormatVersion = 5;
constexpr uint8 kOldestFormat = 4; // all bits of each of many hashes; no compared columns

// Of each of many hashes of a row so many bits are stored. Among a thousand million others a query
// of a thousand hashes meets a wrong one in about one of 280.
constexpr int kBitsOfHash = 48;

// The last two bytes of every page, by which pg_filedump and our checks know it.
constexpr uint16 kPageId = 0xff96;

enum PageFlag : uint16 {
    kPageMeta = 1 << 0,
    kPageLeaf = 1 << 1,
    kPageDeleted = 1 << 2,
    kPageIncompleteSplit = 1 << 3, // the right sibling has no downlink yet
};

constexpr uint64_t kMaxTid = 0xffffffffffff;

// The special space of every page.
struct PageOpaque {
    // The fences: every key of the page is >= (low_key, low_tid) and, unless the page is rightmost,
    // < (high_key, high_tid). A reader compares them with its key and so detects a stale link,
    // whatever has happened to the page since the reader read that link.
    uint64 low_key;
    uint64 high_key;

    // The next FullTransactionId when VACUUM deleted the page. The page is reused only when no
    // snapshot is older: a scan with an older one may still be about to follow a link to it.
    uint64 deleted_xid;

    uint16 low_tid[3];
    uint16 high_tid[3];

    BlockNumber right; // right sibling, InvalidBlockNumber on the rightmost page
    uint16 flags;      // PageFlag
    uint8 tree;        // number of the tree
    uint8 level;       // 0: leaf
    uint16 reserved;
    uint16 page_id; // kPageId
};
static_assert(sizeof(PageOpaque) == 48);

// The content of block 0.
struct MetaPage {
    uint32 magic; // kMetaMagic
    // The format, and in the high byte Layout::definition: a library that knows of none, 1.2, takes
    // another one than 0 for a format that it cannot read.
    uint16 version;

    uint8 radius;
    uint8 table_count;
    uint8 lane_count; // lanes of a value; each has trees of its own; 0: any number of them

    uint8 scope_columns; // number of columns after the fingerprint

    // These change after the build; all but them is under the checksum.
    uint8 removal_pending; // a removal began and did not end: block tables may hold orphans
    uint8 free_pending;    // deleted pages wait to be put into the free space map

    uint32 checksum; // CRC-32C

    // Format 4 ends here.
    uint32 compared_columns; // Layout::compared_columns
    uint32 unused;

    uint8 format() const { return uint8(version); }
    int definition() const { return version >> 8; }
};
static_assert(sizeof(MetaPage) == 24);

// An entry of an internal page: `child` holds the keys from `key` up to the next pivot's.
struct Pivot {
    Entry key;
    BlockNumber child;
    // In the place of padding, as a parallel build writes whole pivots to files, and padding would
    // be uninitialized.
    uint32 unused = 0;
};
static_assert(sizeof(Pivot) == sizeof(Entry) + sizeof(BlockNumber) + sizeof(uint32));

// ---- Trees of an index: for each lane its posting and block tables; then the null table ----

inline int null_tree(const Layout& layout) { return layout.lane_count * layout.table_count; }

inline int tree_count(const Layout& layout) { return null_tree(layout) + 1; }

inline int tree_of_table(const Layout& layout, int lane, int table) {
    return lane * layout.table_count + table;
}

// Returns the number that a tree's table has in the layout. Expects another tree than the null
// table.
inline int table_of_tree(const Layout& layout, int tree) { return tree % layout.table_count; }

inline BlockNumber root_block(int tree) { return BlockNumber(tree + 1); }

// A posting table and the null table hold TIDs, the other block tables do not.
inline LeafKind tree_kind(const Layout& layout, int tree) {
    bool has_tids = tree == null_tree(layout) || table_of_tree(layout, tree) == 0;
    return has_tids ? LeafKind::kPosting : LeafKind::kBlock;
}

// ---- TIDs as integers: the block, then 16 bits of offset ----

inline uint64_t tid_to_integer(const ItemPointerData& tid) {
    return uint64_t{ItemPointerGetBlockNumberNoCheck(&tid)} << 16 |
           ItemPointerGetOffsetNumberNoCheck(&tid);
}

// Returns false for a TID that no row can have. A damaged page may hold one. The server must never
// get it: to ReadBuffer(), InvalidBlockNumber is a request for a new page.
inline bool tid_is_possible(uint64_t tid) {
    return (tid & 0xffff) != InvalidOffsetNumber && (tid >> 16) != InvalidBlockNumber;
}

inline ItemPointerData integer_to_tid(uint64_t tid) {
    ItemPointerData result;
    ItemPointerSet(&result, BlockNumber(tid >> 16), OffsetNumber(tid & 0xffff));
    return result;
}

// ---- Header, special space and content ----

inline PageOpaque* page_opaque(Page page) {
    return reinterpret_cast<PageOpaque*>(PageGetSpecialPointer(page));
}

// Bytes of content that fit into a page.
constexpr size_t kBodyCapacity =
    BLCKSZ - MAXALIGN(SizeOfPageHeaderData) - MAXALIGN(sizeof(PageOpaque));

inline bool page_is_leaf(Page page) { return page_opaque(page)->flags & kPageLeaf; }

inline bool page_is_deleted(Page page) { return page_opaque(page)->flags & kPageDeleted; }

inline bool page_is_rightmost(Page page) { return page_opaque(page)->right == InvalidBlockNumber; }

// A page's content lies between the page header and pd_lower. core/leaf/codec.hpp describes the
// content of a leaf; an internal page holds pivots.
inline uint8_t* page_body(Page page) {
    return reinterpret_cast<uint8_t*>(page) + MAXALIGN(SizeOfPageHeaderData);
}

inline size_t page_body_size(Page page) {
    Assert(reinterpret_cast<PageHeader>(page)->pd_lower >= MAXALIGN(SizeOfPageHeaderData));
    return reinterpret_cast<PageHeader>(page)->pd_lower - MAXALIGN(SizeOfPageHeaderData);
}

inline void page_set_body_size(Page page, size_t size) {
    static_assert(BLCKSZ <= UINT16_MAX);
    Assert(size <= kBodyCapacity);
    reinterpret_cast<PageHeader>(page)->pd_lower = uint16(MAXALIGN(SizeOfPageHeaderData) + size);
}

inline size_t page_free_bytes(Page page) {
    auto* header = reinterpret_cast<PageHeader>(page);
    return header->pd_upper - header->pd_lower;
}

// ---- Fences ----

inline Entry page_low(Page page) {
    return {page_opaque(page)->low_key, read_tid(page_opaque(page)->low_tid)};
}

// The caller has checked that the page is not rightmost: a rightmost page has no high fence.
inline Entry page_high(Page page) {
    return {page_opaque(page)->high_key, read_tid(page_opaque(page)->high_tid)};
}

inline void set_page_low(Page page, Entry low) {
    page_opaque(page)->low_key = low.key;
    write_tid(page_opaque(page)->low_tid, low.tid);
}

inline void set_page_high(Page page, Entry high) {
    page_opaque(page)->high_key = high.key;
    write_tid(page_opaque(page)->high_tid, high.tid);
}

// True when `key` belongs on a page further to the right.
inline bool page_precedes(Page page, Entry key) {
    return !page_is_rightmost(page) && key >= page_high(page);
}

// ---- Pivots: key (8 bytes), in trees of postings the TID, child (4 bytes) ----

inline size_t pivot_bytes(LeafKind kind) {
    return 8 + (kind == LeafKind::kPosting ? kTidBytes : 0) + 4;
}

inline int pivot_count(LeafKind kind, Page page) {
    return int(page_body_size(page) / pivot_bytes(kind));
}

inline Pivot read_pivot(LeafKind kind, Page page, int i) {
    const uint8_t* at = page_body(page) + i * pivot_bytes(kind);
    Pivot pivot{};
    memcpy(&pivot.key.key, at, 8);
    if (kind == LeafKind::kPosting)
        pivot.key.tid = read_tid(at + 8);
    memcpy(&pivot.child, at + pivot_bytes(kind) - 4, 4);
    return pivot;
}

inline void write_pivot(LeafKind kind, uint8_t* at, const Pivot& pivot) {
    memcpy(at, &pivot.key.key, 8);
    if (kind == LeafKind::kPosting)
        write_tid(at + 8, pivot.key.tid);
    memcpy(at + pivot_bytes(kind) - 4, &pivot.child, 4);
}

// Returns the index of the last pivot whose key is <= `key`, or 0 if there is none. Keys are mostly
// spread evenly, so the search starts at the place that an even spread gives. It touches fewer
// cache lines than a binary search.
inline int find_pivot(LeafKind kind, Page page, Entry key) {
    int count = pivot_count(kind, page);
    uint64_t low = page_low(page).key,
             end = page_is_rightmost(page) ? UINT64_MAX : page_high(page).key;
    // The key may lie beyond the page, where the planner counts postings, or anywhere if the page
    // is damaged.
    double fraction =
        low <= key.key && key.key < end ? double(key.key - low) / double(end - low) : 1;
    int guess = int(fraction * count);
    return last_that_holds(0, count, guess, 2,
                           [&](int i) { return read_pivot(kind, page, i).key <= key; });
}

// ---- Checks ----

// Raises the error of a damaged page; `what` is its DETAIL.
[[noreturn]] void report_corruption(Relation index, BlockNumber block, const char* what);

// True when the page has the header and special space of this access method. Nobody may read
// page_opaque() before this is known: a damaged pd_special would point anywhere.
inline bool page_is_well_formed(Page page) {
    return PageGetPageSize(page) == BLCKSZ &&
           reinterpret_cast<PageHeader>(page)->pd_special ==
               BLCKSZ - MAXALIGN(sizeof(PageOpaque)) &&
           page_opaque(page)->page_id == kPageId;
}

// Raises an error unless the page is well-formed. Every reader calls this after it has locked a
// page and before it uses the content.
inline void check_page(Relation index, BlockNumber block, Buffer buffer) {
    Page page = BufferGetPage(buffer);
    auto* header = reinterpret_cast<PageHeader>(page);
    if (PageIsNew(page))
        report_corruption(index, block, "The page is all zeros.");
    if (!page_is_well_formed(page))
        report_corruption(index, block, "The page is not one of this access method.");
    // The free space is one hole, from pd_lower to pd_upper. pd_upper never moves.
    if (header->pd_lower < MAXALIGN(SizeOfPageHeaderData) || header->pd_lower > header->pd_upper ||
        header->pd_upper != header->pd_special)
        report_corruption(index, block, "The bounds of the page's free space are wrong.");
    uint16 flags = page_opaque(page)->flags;
    bool leaf = flags & kPageLeaf, meta = flags & kPageMeta;
    if (meta != (block == kMetaBlock) || leaf != (!meta && page_opaque(page)->level == 0))
        report_corruption(index, block, "The page's flags do not fit its place.");
}

// Raises an error unless the page is internal and holds one pivot or more and no part of one.
// Expects the page locked.
void check_internal(Relation index, Buffer buffer, LeafKind kind);

// ---- Making pages ----

// These write an empty page, leaf or metapage. `page` is a buffer that the caller has locked
// exclusively, an image of generic WAL, or the caller's own memory.
void init_page(Page page, int tree, int level, uint16 flags);
void init_leaf(Page page, int tree, LeafKind kind);
void init_meta_page(Page page, const Layout& layout, int scope_columns);

// Returns a recycled or a new page, pinned and locked exclusively. The caller logs it with
// GENERIC_XLOG_FULL_IMAGE, as replay must not depend on its old content. The caller may hold page
// locks: a new page is locked last (rule 3).
Buffer allocate_page(Relation index, Relation heap);

// True when the page is all zeros, or when VACUUM deleted it so long ago that no running scan can
// have a link to it. Expects the page locked.
bool page_is_recyclable(Page page, Relation heap);

// ---- Reading pages ----

// Pins the page that a link names. A damaged link may name no page, or a page that this backend has
// locked already; both raise an error.
Buffer pin_page(Relation index, BlockNumber block, BufferAccessStrategy strategy = nullptr);

// Pins the page if the shared buffer `buffer` still holds it; otherwise returns InvalidBuffer. This
// backend may have locked the page already.
inline Buffer pin_recent_page(Relation index, BlockNumber block, Buffer buffer) {
    // ReadRecentBuffer() does not raise the buffer's use count. If we always pinned in this way,
    // the clock sweep would evict our hottest pages. At the maximum it could not rise.
    bool usable = buffer != InvalidBuffer && use_count_is_full(buffer);
    return usable && read_recent_buffer(index, block, buffer) ? buffer : InvalidBuffer;
}

// Pins a page by its block, locks it in `lock_mode` and checks it.
Buffer read_page(Relation index, BlockNumber block, BufferLockMode lock_mode);

// Opens a leaf of the given kind for reading, or raises an error. The LeafReader reads the page in
// place, so the caller keeps the leaf locked while it uses the reader.
LeafReader open_leaf(Relation index, Buffer buffer, LeafKind kind);

// Moves `position` to the high key of this page, where the page to the right begins. Returns false
// on the rightmost page of a level. Raises an error if the position would not grow: otherwise
// damaged links could keep a scan going round. Expects the page locked.
inline bool go_right(Relation index, Buffer buffer, Entry* position) {
    Page page = BufferGetPage(buffer);
    if (page_is_rightmost(page))
        return false;
    if (page_high(page) <= *position)
        report_corruption(index, BufferGetBlockNumber(buffer), "The page's range is empty.");
    *position = page_high(page);
    return true;
}

// ---- Fetching pages before they are read ----

// From disk into shared buffers, and from there into the processor's cache. Nothing here pins a
// page or reads its content, so a fetch of the wrong page costs time and nothing else.

// True when effective_io_concurrency of the relation's tablespace allows fetching ahead.
bool may_fetch_ahead(Relation relation);
// Asks the server to read a page from disk, if the relation has that page. Returns the shared
// buffer that seems to hold the page already, or InvalidBuffer.
Buffer fetch_page_ahead(Relation relation, BlockNumber block);
// Fetches the buffer's descriptor and both ends of its page, headers and special space, into the
// cache, by address. We have no pin, so the buffer may hold another page by now.
inline void prefetch_page(Buffer buffer) {
    prefetch(buffer_descriptor(buffer));
    prefetch(BufferGetPage(buffer));
    prefetch(BufferGetPage(buffer) + BLCKSZ - 1);
}

// ---- The metapage ----

// Reads the layout. Raises an error if the metapage is damaged or of an unknown format. Expects no
// page lock, leaves none.
Layout read_layout(Relation index);

// The layout, which a backend keeps between two commands (rd_amcache). The first call reads the
// metapage: it expects no page lock and leaves none. The result is valid until the server processes
// an invalidation of the relation, and it may do that when it opens any relation. So whoever needs
// the layout for longer copies it.
const Layout& cached_layout(Relation index);

// The same, for whoever compares lanes of the index with lanes of today: raises an error if the
// operator class has another definition of them since the index was built. VACUUM, which compares
// none, goes on, and so do the planner's estimates.
const Layout& comparable_layout(Relation index);

// Estimates how many distinct fingerprints an index of `blocks` blocks holds.
double estimated_entries(const Layout& layout, BlockNumber blocks);

// These read and set one of VACUUM's flags. set_meta_flag() logs the change. Both lock the
// metapage, which comes last in the order of locks (rule 3), so the caller may hold a leaf's lock.
bool meta_flag(Relation index, uint8 MetaPage::*flag);
void set_meta_flag(Relation index, uint8 MetaPage::*flag, bool value);

} // namespace simhash
