#include "index/recent_pages.hpp"

#include <algorithm>

namespace simhash {

namespace {

struct RecentPage {
    Buffer buffer; // shared, or InvalidBuffer
    LeafShape shape;
};

// Addressed by relation and block; a page takes the place of another. The system gives memory to as
// much of it as is used.
constexpr int kRecentPages = 1 << 16;
RecentPage recent_pages[kRecentPages];

// Where buffers are given to other pages all the time, what was noted must not keep pages from
// being fetched from disk: so many times the server is asked instead.
constexpr int kDistrust = 256;
int distrust = 0;

RecentPage& recent_page(Relation index, BlockNumber block) {
    return recent_pages[(block + RelationGetRelid(index) * 40503u) % kRecentPages];
}

} // namespace

Buffer pin_recent_page(Relation index, BlockNumber block) {
    Buffer buffer = recent_page(index, block).buffer;
    if (buffer == InvalidBuffer)
        return InvalidBuffer;
    // A visit by this way does not count as use of the buffer, which would be evicted as if nobody
    // used it. So it is taken only where one use more makes no difference.
    uint32 state = pg_atomic_read_u32(&GetBufferDescriptor(buffer - 1)->state);
    if (BUF_STATE_GET_USAGECOUNT(state) < BM_MAX_USAGE_COUNT)
        return InvalidBuffer;
    if (read_recent_buffer(index, block, buffer))
        return buffer;
    distrust = kDistrust;
    return InvalidBuffer;
}

void note_recent_page(Relation index, BlockNumber block, Buffer buffer) {
    recent_page(index, block).buffer = BufferIsLocal(buffer) ? InvalidBuffer : buffer;
}

void note_recent_leaf(Relation index, BlockNumber block, const LeafReader& reader) {
    recent_page(index, block).shape = reader.shape();
}

void fetch_leaf_ahead(Relation index, BlockNumber block, double from, double to) {
    RecentPage& recent = recent_page(index, block);
    if (recent.buffer == InvalidBuffer || distrust > 0) {
        distrust = std::max(distrust - 1, 0);
        if (get_tablespace_io_concurrency(index->rd_rel->reltablespace) == 0 ||
            !block_exists(index, block))
            return;
        note_recent_page(index, block, PrefetchBuffer(index, MAIN_FORKNUM, block).recent_buffer);
        if (recent.buffer == InvalidBuffer)
            return;
    }
    // Addresses only: the page is not pinned, and may be another one by now.
    Page page = BufferGetPage(recent.buffer);
    __builtin_prefetch(GetBufferDescriptor(recent.buffer - 1));
    __builtin_prefetch(page);
    __builtin_prefetch(page + BLCKSZ - sizeof(PageOpaque));
    recent.shape.prefetch(page_body(page), kBodyCapacity, from, to);
}

} // namespace simhash
