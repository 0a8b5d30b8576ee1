#include "index/recent_leaves.hpp"

#include <algorithm>

namespace simhash {

namespace {

struct RecentLeaf {
    Oid index;
    BlockNumber block;
    Buffer buffer; // shared, or InvalidBuffer
    LeafShape shape;
};

// Addressed by index and block; a leaf takes the place of another. The system gives memory to as
// much of it as is used.
constexpr int kRecentLeaves = 1 << 16;
RecentLeaf recent_leaves[kRecentLeaves];

// Where buffers are given to other pages all the time, what was noted must not keep leaves from
// being fetched from disk: so many times the server is asked instead.
constexpr int kDistrust = 256;
int distrust = 0;

RecentLeaf* recent_leaf(Relation index, BlockNumber block) {
    Oid oid = RelationGetRelid(index);
    RecentLeaf* recent = &recent_leaves[(block + oid * 40503u) % kRecentLeaves];
    if (recent->index != oid || recent->block != block)
        *recent = {oid, block, InvalidBuffer, {}};
    return recent;
}

} // namespace

void fetch_leaf_ahead(Relation index, BlockNumber block, double from, double to) {
    RecentLeaf* recent = recent_leaf(index, block);
    if (recent->buffer == InvalidBuffer || distrust > 0) {
        distrust = std::max(distrust - 1, 0);
        if (!block_exists(index, block) ||
            get_tablespace_io_concurrency(index->rd_rel->reltablespace) == 0)
            return;
        recent->buffer = PrefetchBuffer(index, MAIN_FORKNUM, block).recent_buffer;
        if (BufferIsLocal(recent->buffer))
            recent->buffer = InvalidBuffer;
        if (recent->buffer == InvalidBuffer)
            return;
    }
    // Addresses only: the page is not pinned, and may be another one by now.
    Page page = BufferGetPage(recent->buffer);
    __builtin_prefetch(GetBufferDescriptor(recent->buffer - 1));
    __builtin_prefetch(page);
    __builtin_prefetch(page + BLCKSZ - sizeof(PageOpaque));
    recent->shape.prefetch(page_body(page), kBodyCapacity, from, to);
}

Buffer pin_recent_leaf(Relation index, BlockNumber block) {
    Buffer buffer = recent_leaf(index, block)->buffer;
    if (buffer == InvalidBuffer)
        return InvalidBuffer;
    // A visit by this way does not count as use of the buffer, which would be evicted as if nobody
    // used it. So it is taken only where one use more makes no difference.
    uint32 state = pg_atomic_read_u32(&GetBufferDescriptor(buffer - 1)->state);
    bool counts = BUF_STATE_GET_USAGECOUNT(state) < BM_MAX_USAGE_COUNT;
    return !counts && read_recent_buffer(index, block, buffer) ? buffer : InvalidBuffer;
}

void note_recent_leaf(Relation index, Buffer buffer, const LeafReader& reader) {
    // A shared page may have the same name but for the session.
    if (RelationUsesLocalBuffers(index))
        return;
    RecentLeaf* recent = recent_leaf(index, BufferGetBlockNumber(buffer));
    if (recent->buffer != InvalidBuffer && recent->buffer != buffer)
        distrust = kDistrust;
    recent->buffer = buffer;
    recent->shape = reader.shape();
}

} // namespace simhash
