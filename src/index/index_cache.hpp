// What a backend keeps of an index between two commands (rd_amcache).
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

// The cache of this index. Expects no page lock, leaves none: the first call reads the metapage.
// The result is valid until the relation is invalidated, which the opening of any relation may do.
IndexCache* index_cache(Relation index);

// Roughly how many distinct fingerprints an index of that many blocks holds.
double estimated_entries(const Layout& layout, BlockNumber blocks);

} // namespace simhash
