// The index as a scan sees it. See the header.
#include "index/search/searched_index.hpp"

#include "index/access_method.hpp"
#include "index/store/index_cache.hpp"

#include <algorithm>
#include <new>

namespace simhash {

namespace {

// Returns the plan of the backend's last query of this index if the index has not grown or shrunk
// much since. Every plan finds everything, so an old one costs time at most.
ProbePlan cached_plan(Relation index, const Layout& layout, double entries, int radius) {
    IndexCache* cache = index_cache(index);
    if (cache->has_plan && cache->plan.radius == radius && entries < 1.25 * cache->plan_entries &&
        cache->plan_entries < 1.25 * entries)
        return cache->plan;
    ProbePlan plan = make_probe_plan(layout, radius, entries, kTypicalProbeCosts);
    plan.radius = radius;
    cache->has_plan = true;
    cache->plan_entries = entries;
    cache->plan = plan;
    return plan;
}

} // namespace

LeafYield SearchedIndex::backend_yield_;

SearchedIndex::SearchedIndex(Relation index)
    : relation_(index), memory_(CurrentMemoryContext), layout_(index_cache(index)->layout) {
    BlockNumber blocks = RelationGetNumberOfBlocks(index);
    int count = tree_count(layout_);
    trees_ = static_cast<SearchedTree*>(palloc(count * sizeof(SearchedTree)));
    for (int i = 0; i < count; i++)
        new (&trees_[i]) SearchedTree(tree_context(index, nullptr, &layout_, i), blocks);
    permutations_ = static_cast<Permutation*>(palloc(layout_.table_count * sizeof(Permutation)));
    for (int i = 0; i < layout_.table_count; i++)
        new (&permutations_[i]) Permutation(layout_.permutation(i));
    entries_ = estimated_entries(layout_, blocks);
}

const ProbePlan* SearchedIndex::plan_for(int radius) {
    ProbePlan*& plan = plans_[std::max(radius, 0)];
    if (plan == nullptr)
        plan = static_cast<ProbePlan*>(MemoryContextAlloc(memory_, sizeof(ProbePlan)));
    else if (plan->radius == radius)
        return plan;
    *plan = cached_plan(relation_, layout_, entries_, radius);
    return plan;
}

} // namespace simhash
