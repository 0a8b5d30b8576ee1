// The part of an index that a backend keeps between two commands (rd_amcache).
#pragma once

#include "core/layout/layout.hpp"
#include "core/layout/probe_plan.hpp"
#include "server/pg.hpp"

namespace simhash {

struct CachedPlan {
    double entries; // that the plan was made for; 0: there is none
    ProbePlan plan;
};

struct IndexCache {
    Layout layout;

    // Plans of the last queries. The lanes of a value are first searched within two radii at most,
    // and may be within three more (Search::share_again()).
    CachedPlan plans[5];
    unsigned next_plan; // the place that the next one takes
};

// Returns the cache of this index. The first call reads the metapage: it expects no page lock and
// leaves none. The result is valid until the server processes an invalidation of the relation, and
// it may do that when it opens any relation. So whoever needs the layout for longer copies it.
IndexCache* index_cache(Relation index);

// The layout, for whoever compares lanes of the index with lanes of today: raises an error if the
// operator class has another definition of them since the index was built. VACUUM, which compares
// none, goes on, and so do the planner's estimates.
const Layout& comparable_layout(Relation index);

// Estimates how many distinct fingerprints an index of `blocks` blocks holds.
double estimated_entries(const Layout& layout, BlockNumber blocks);

} // namespace simhash
