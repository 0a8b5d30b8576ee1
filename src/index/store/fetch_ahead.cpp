// Fetches pages before they are read. See the header.
#include "index/store/fetch_ahead.hpp"

#include "core/bits/prefetch.hpp"

#include <algorithm>

namespace simhash {

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

int typical_row_bytes(Relation heap) {
    Form_pg_class table = heap->rd_rel;
    double page_share = BlockNumber(table->relpages) / double(table->reltuples);
    if (!(page_share > 0 && page_share < 1)) // not analyzed yet, or less than a row a page
        page_share = 1;
    int bytes = int(page_share * (BLCKSZ - SizeOfPageHeaderData)) - int(sizeof(ItemIdData));
    return MAXALIGN_DOWN(std::max(bytes, 0));
}

void fetch_row_ahead(Relation heap, ItemPointerData tid, int row_bytes) {
    Buffer buffer = fetch_page_ahead(heap, ItemPointerGetBlockNumber(&tid));
    if (buffer == InvalidBuffer)
        return;
    prefetch_page(buffer);
    // The page may not be there yet, so we cannot read its line pointers. Rows fill a heap page
    // from the end: row n of equal rows starts n row lengths before it. A wrong guess costs a cache
    // line.
    int offset = ItemPointerGetOffsetNumber(&tid);
    Page page = BufferGetPage(buffer);
    prefetch(page + SizeOfPageHeaderData + (offset - 1) * sizeof(ItemIdData));
    prefetch(page + std::max(BLCKSZ - offset * row_bytes, 0));
}

} // namespace simhash
