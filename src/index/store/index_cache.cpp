// Caches an index's layout. See the header.
#include "index/store/index_cache.hpp"

#include "index/lanes.hpp"
#include "index/store/page.hpp"

#include <algorithm>

namespace simhash {

const Layout& cached_layout(Relation index) {
    if (index->rd_amcache == nullptr) {
        // We read the metapage before we allocate: reading may raise an error, and rd_indexcxt
        // lives as long as the relcache entry, so memory from before the error would leak.
        Layout layout = read_layout(index);
        index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof(Layout));
        memcpy(index->rd_amcache, &layout, sizeof(Layout));
    }
    return *static_cast<const Layout*>(index->rd_amcache);
}

const Layout& comparable_layout(Relation index) {
    // Asked each time: when somebody replaces the support function, no backend is told to drop its
    // cache. And before the layout, as that function may do anything, and end the cached one.
    int definition = lane_layout(index).definition;
    const Layout& layout = cached_layout(index);
    if (layout.definition != definition)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("index \"%s\" was built by another definition of its values' lanes",
                       RelationGetRelationName(index)),
                errdetail("The index has definition %d, and its operator class definition %d.",
                          layout.definition, definition),
                errhint("REINDEX the index."));
    return layout;
}

double estimated_entries(const Layout& layout, BlockNumber blocks) {
    // An entry takes about 6 bytes in each table, and its TID another 4 in the posting table. The
    // roots hold next to nothing of a large index.
    double pages = std::max(1.0, double(blocks) - tree_count(layout));
    double bytes_per_entry = (6.0 * layout.table_count + 4) * layout.lane_count;
    return std::max(1.0, pages * kBodyCapacity / bytes_per_entry);
}

} // namespace simhash
