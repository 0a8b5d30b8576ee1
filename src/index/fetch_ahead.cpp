// Pages brought nearer; see the header.
#include "index/fetch_ahead.hpp"

#include "core/bits/prefetch.hpp"

namespace simhash {

bool may_fetch_ahead(Relation relation) {
    return get_tablespace_io_concurrency(relation->rd_rel->reltablespace) > 0;
}

Buffer fetch_page_ahead(Relation relation, BlockNumber block) {
    if (!block_exists(relation, block))
        return InvalidBuffer;
    Buffer buffer = PrefetchBuffer(relation, MAIN_FORKNUM, block).recent_buffer;
    return BufferIsLocal(buffer) ? InvalidBuffer : buffer;
}

void fetch_row_ahead(Relation heap, ItemPointerData tid) {
    Buffer buffer = fetch_page_ahead(heap, ItemPointerGetBlockNumber(&tid));
    if (buffer == InvalidBuffer)
        return;
    prefetch_page(buffer);
    prefetch(BufferGetPage(buffer) + SizeOfPageHeaderData +
             (ItemPointerGetOffsetNumber(&tid) - 1) * sizeof(ItemIdData));
}

} // namespace simhash
