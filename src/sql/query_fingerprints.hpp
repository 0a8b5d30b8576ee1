// The fingerprints that a query returns, which is given as a text: read row by row, so that they
// need not be anywhere at once.
#pragma once

#include "pg.hpp"

#include "sql/collector.hpp"

namespace simhash {

// Runs the query as in a READ ONLY transaction, functions that it calls included, and adds what is
// not null.
void collect_query(const text* query, Collector* collector);

} // namespace simhash
