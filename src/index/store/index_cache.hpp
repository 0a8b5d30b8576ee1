// The part of an index that a backend keeps between two commands (rd_amcache).
#pragma once

#include "pg.hpp"
#include "core/layout/layout.hpp"
#include "core/layout/probe_plan.hpp"

namespace simhash {

struct IndexCache {
    Layout layout;

    // The plan of the last query, and the number of entries that it was made for.
    bool has_plan;
    double plan_entries;
    ProbePlan plan;
};

// Returns the cache of this index. The first call reads the metapage: it expects no page lock and
// leaves none. The result is valid until the server processes an invalidation of the relation, and
// it may do that when it opens any relation. So whoever needs the layout for longer copies it.
IndexCache* index_cache(Relation index);

// Estimates how many distinct fingerprints an index of `blocks` blocks holds.
double estimated_entries(const Layout& layout, BlockNumber blocks);

} // namespace simhash
