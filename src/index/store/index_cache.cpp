// Caches an index's layout and its last plan. See the header.
#include "index/store/index_cache.hpp"

#include "index/lanes.hpp"
#include "index/store/page.hpp"

#include <algorithm>

namespace simhash {

IndexCache* index_cache(Relation index) {
    if (index->rd_amcache != nullptr)
        return static_cast<IndexCache*>(index->rd_amcache);

    // We read the metapage before we allocate: reading may raise an error, and rd_indexcxt lives as
    // long as the relcache entry, so memory from before the error would leak.
    Layout layout = read_layout(index);
    int definition = lane_layout(index).definition;
    auto* cache =
        static_cast<IndexCache*>(MemoryContextAllocZero(index->rd_indexcxt, sizeof(IndexCache)));
    cache->layout = layout;
    cache->definition = definition;
    index->rd_amcache = cache;
    return cache;
}

const Layout& comparable_layout(Relation index) {
    const IndexCache* cache = index_cache(index);
    if (cache->layout.definition != cache->definition)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("index \"%s\" was built by another definition of its values' lanes",
                       RelationGetRelationName(index)),
                errdetail("The index has definition %d, and its operator class definition %d.",
                          cache->layout.definition, cache->definition),
                errhint("REINDEX the index."));
    return cache->layout;
}

double estimated_entries(const Layout& layout, BlockNumber blocks) {
    // An entry takes about 6 bytes in each table, and its TID another 4 in the posting table. The
    // roots hold next to nothing of a large index.
    double pages = std::max(1.0, double(blocks) - tree_count(layout));
    double bytes_per_entry = (6.0 * layout.table_count + 4) * layout.lane_count;
    return std::max(1.0, pages * kBodyCapacity / bytes_per_entry);
}

} // namespace simhash
