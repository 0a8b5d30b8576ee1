// Having pages brought nearer before they are read: from disk into memory, and from memory into the
// processor's cache. What is asked for may never come, or be something else by then: nothing here
// reads or pins a page.
#pragma once

#include "pg.hpp"
#include "core/bits/prefetch.hpp"

namespace simhash {

// Whether the server's settings are for having the relation's pages fetched before they are read.
bool may_fetch_ahead(Relation relation);
// Has the server bring a page from disk into memory, if there is such a page. The buffer that seems
// to hold it already, if any.
Buffer fetch_page_ahead(Relation relation, BlockNumber block);
// Has the buffer's descriptor and the beginning of the page in it brought into the cache. By
// address only: the page is not pinned, and may be another one by now.
inline void prefetch_page(Buffer buffer) {
    prefetch(buffer_descriptor(buffer));
    prefetch(BufferGetPage(buffer));
}
// The same for the last bytes of the page.
inline void prefetch_page_end(Buffer buffer) {
    prefetch(BufferGetPage(buffer) + BLCKSZ - 1);
}
// About how many bytes of its page a row of the table takes.
int typical_row_bytes(Relation heap);
// Has the row's page brought nearer, and there its pointer, and the row where it lies if the rows
// of the page are of so many bytes each.
void fetch_row_ahead(Relation heap, ItemPointerData tid, int row_bytes);

} // namespace simhash
