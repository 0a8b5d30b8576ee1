// Adds the fingerprints, or the codes, that a query returns to a collection. The query is a text.
// Streams the rows instead of materialising them.
#pragma once

#include "server/pg.hpp"

#include "tables/codes.hpp"
#include "tables/collector.hpp"

namespace simhash {

// Runs the query, with the functions that it calls, as in a READ ONLY transaction. Adds each
// value that is not null.
void collect_query(const text* query, Collector* collector);
void collect_query(const text* query, CodeSet* codes);

} // namespace simhash
