// Fetches pages before they are read. See the header.
#include "index/store/fetch_ahead.hpp"

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

} // namespace simhash
