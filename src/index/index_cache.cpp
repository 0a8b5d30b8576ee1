// What a backend keeps of an index; see the header.
#include "index/index_cache.hpp"

#include "index/page.hpp"

#include <algorithm>

namespace simhash {

IndexCache* index_cache(Relation index) {
    if (index->rd_amcache != nullptr)
        return static_cast<IndexCache*>(index->rd_amcache);

    // The metapage comes first: reading it may fail, and then nothing must be left behind.
    Layout layout = read_layout(index);
    auto* cache =
        static_cast<IndexCache*>(MemoryContextAllocZero(index->rd_indexcxt, sizeof(IndexCache)));
    cache->layout = layout;
    index->rd_amcache = cache;
    return cache;
}

double estimated_entries(const Layout& layout, BlockNumber blocks) {
    // The roots are not counted. An entry takes about 6 bytes in each table, and its TID takes
    // another 4 in the posting table.
    double pages = std::max(1.0, double(blocks) - tree_count(layout));
    double bytes_per_entry = 6.0 * layout.table_count + 4;
    return std::max(1.0, pages * kBodyCapacity / bytes_per_entry);
}

} // namespace simhash
