// The index as a scan sees it. See the header.
#include "index/search/searched_index.hpp"

#include "index/store/index_cache.hpp"

#include <algorithm>
#include <iterator>
#include <new>

namespace simhash {
namespace {

// Returns the plan of one of the backend's last queries of this index if the index has not grown or
// shrunk much since. Every plan finds everything, so an old one costs time at most.
ProbePlan cached_plan(Relation index, const Layout& layout, double entries, int radius) {
    IndexCache* cache = index_cache(index);
    for (const CachedPlan& cached : cache->plans)
        if (cached.entries > 0 && cached.plan.radius == radius && entries < 1.25 * cached.entries &&
            cached.entries < 1.25 * entries)
            return cached.plan;
    ProbePlan plan = make_probe_plan(layout, radius, entries, kTypicalProbeCosts);
    plan.radius = radius;
    CachedPlan* oldest = &cache->plans[cache->next_plan++ % std::size(cache->plans)];
    *oldest = {entries, plan};
    return plan;
}

} // namespace

LeafYield SearchedIndex::backend_yield_;

SearchedIndex::SearchedIndex(Relation index)
    : relation_(index), memory_(CurrentMemoryContext),
      layout_(new (palloc(sizeof(Layout))) Layout(comparable_layout(index))),
      plans_(static_cast<ProbePlan**>(palloc0((kFingerprintBits + 1) * sizeof(ProbePlan*)))) {
    // A scan asks once: a nested loop rescans without asking again.
    BlockNumber blocks = RelationGetNumberOfBlocks(index);
    int count = tree_count(*layout_);
    tables_ = static_cast<SearchedTree*>(palloc(count * sizeof(SearchedTree)));
    for (int i = 0; i < count; i++)
        new (&tables_[i]) SearchedTree(tree_context(index, nullptr, layout_, i), blocks);
    null_table_ = &tables_[null_tree(*layout_)];
    entries_ = estimated_entries(*layout_, blocks);
}

const ProbePlan* SearchedIndex::plan_for(int radius) {
    // -1 and 0 have one place, and the plan's own radius tells which of them it is for.
    ProbePlan*& plan = plans_[std::max(radius, 0)];
    if (plan == nullptr)
        plan = static_cast<ProbePlan*>(MemoryContextAlloc(memory_, sizeof(ProbePlan)));
    else if (plan->radius == radius)
        return plan;
    *plan = cached_plan(relation_, *layout_, entries_, radius);
    return plan;
}

void SearchedIndex::check_places(std::span<const Entry> postings, BlockNumber leaf) {
    uint64_t block = 0, offset = 0; // the greatest ones
    for (const Entry& posting : postings) {
        block = std::max(block, posting.tid >> 16);
        offset = std::max(offset, posting.tid & 0xffff);
    }
    if (block < heap_blocks_ && offset <= heap_offsets_)
        return;
    // The scan of a bitmap is not told the table. The executor keeps it locked, so it does not
    // shrink, and a row is in the table before its postings are in the index.
    Relation table = heap != nullptr ? heap : RelationIdGetRelation(relation_->rd_index->indrelid);
    // TIDs of another table access method need not be blocks and offsets.
    bool is_heap = table->rd_rel->relam == HEAP_TABLE_AM_OID;
    heap_offsets_ = is_heap ? MaxHeapTuplesPerPage : PG_UINT16_MAX;
    bool has_block = !is_heap || block_exists(table, BlockNumber(block));
    heap_blocks_ = is_heap ? BlockNumber(block) + 1 : InvalidBlockNumber;
    if (table != heap)
        RelationClose(table);
    if (!has_block)
        report_corruption(
            relation_, leaf,
            psprintf("A posting points to block %u, which the table lacks.", unsigned(block)));
    if (offset > heap_offsets_)
        report_corruption(relation_, leaf,
                          psprintf("A posting points to offset %u; a page has at most %u rows.",
                                   unsigned(offset), unsigned(heap_offsets_)));
}

} // namespace simhash
