// The layout of an index, which a backend keeps between two commands (rd_amcache).
#pragma once

#include "core/layout/layout.hpp"
#include "server/pg.hpp"

namespace simhash {

// The first call reads the metapage: it expects no page lock and leaves none. The result is valid
// until the server processes an invalidation of the relation, and it may do that when it opens any
// relation. So whoever needs the layout for longer copies it.
const Layout& cached_layout(Relation index);

// The same, for whoever compares lanes of the index with lanes of today: raises an error if the
// operator class has another definition of them since the index was built. VACUUM, which compares
// none, goes on, and so do the planner's estimates.
const Layout& comparable_layout(Relation index);

// Estimates how many distinct fingerprints an index of `blocks` blocks holds.
double estimated_entries(const Layout& layout, BlockNumber blocks);

} // namespace simhash
