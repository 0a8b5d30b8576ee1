// Fetches pages before they are read: from disk into shared buffers, and from there into the
// processor's cache. Nothing here pins a page or reads its content, so a fetch of the wrong page
// costs time and nothing else.
#pragma once

#include "server/pg.hpp"
#include "core/bits/prefetch.hpp"

namespace simhash {

// True when effective_io_concurrency of the relation's tablespace allows fetching ahead.
bool may_fetch_ahead(Relation relation);
// Asks the server to read a page from disk, if the relation has that page. Returns the shared
// buffer that seems to hold the page already, or InvalidBuffer.
Buffer fetch_page_ahead(Relation relation, BlockNumber block);
// Fetches the buffer's descriptor and the beginning of its page into the cache, by address. We have
// no pin, so the buffer may hold another page by now.
inline void prefetch_page(Buffer buffer) {
    prefetch(buffer_descriptor(buffer));
    prefetch(BufferGetPage(buffer));
}
// Fetches the last bytes of the buffer's page, where the special space is.
inline void prefetch_page_end(Buffer buffer) {
    prefetch(BufferGetPage(buffer) + BLCKSZ - 1);
}

} // namespace simhash
