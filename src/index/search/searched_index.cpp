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

} // namespace simhash
