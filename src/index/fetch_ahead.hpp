// Having pages brought nearer before they are read: from disk into memory, and from memory into the
// processor's cache. What is asked for may never come, or be something else by then: nothing here
// reads or pins a page.
#pragma once

#include "pg.hpp"

namespace simhash {

// Whether the server's settings are for having the relation's pages fetched before they are read.
bool may_fetch_ahead(Relation relation);
// Has the server bring a page from disk into memory, if there is such a page. The buffer that seems
// to hold it already, if any.
Buffer fetch_page_ahead(Relation relation, BlockNumber block);
// Has the beginning of the page in a shared buffer, and the buffer's descriptor, brought into the
// cache.
void prefetch_page(Buffer buffer);
// The same for its other end, its last bytes.
void prefetch_page_end(Buffer buffer);
// Has the row's page brought nearer, and its pointer there.
void fetch_row_ahead(Relation heap, ItemPointerData tid);

} // namespace simhash
