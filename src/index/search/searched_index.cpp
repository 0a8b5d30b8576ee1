// The index as a scan sees it. See the header.
#include "index/search/searched_index.hpp"

#include "core/bits/hash_table.hpp"
#include "server/arguments.hpp"

#include <algorithm>
#include <cmath>
#include <new>

namespace simhash {

LeafYield SearchedIndex::backend_yield_;

SearchedIndex::SearchedIndex(Relation index)
    : relation_(index), layout_(new (palloc(sizeof(Layout))) Layout(comparable_layout(index))) {
    // A scan asks once: a nested loop rescans without asking again.
    BlockNumber blocks = RelationGetNumberOfBlocks(index);
    int count = tree_count(*layout_);
    tables_ = static_cast<SearchedTree*>(palloc(count * sizeof(SearchedTree)));
    for (int i = 0; i < count; i++)
        new (&tables_[i]) SearchedTree(tree_context(index, nullptr, layout_, i), blocks);
    null_table_ = &tables_[null_tree(*layout_)];
    entries_ = estimated_entries(*layout_, blocks);
    size_class_ = int(std::log2(entries_) * 3);
}

// Plans are made once in a backend, for all indexes of a layout and about a size: every plan finds
// everything, so one for fewer or more entries costs time at most.
const ProbePlan* SearchedIndex::plan_for(int radius) const {
    using Plans = HashTable<const ProbePlan*>;
    static Plans* plans = nullptr;
    Memory memory = server_memory(TopMemoryContext);
    if (plans == nullptr)
        plans = new (allocate_array<Plans>(memory, 1)) Plans(memory);
    uint64_t key = uint64_t(size_class_) << 32 | uint64_t(layout_->radius) << 24 |
                   uint64_t(layout_->table_count) << 16 | uint64_t(radius + 1);
    key *= 0x9e3779b97f4a7c15; // spreads the leading bits, and tells different ones apart
    if (const ProbePlan** kept = plans->find(key))
        return *kept;
    ProbePlan plan = make_probe_plan(*layout_, radius, entries_, kTypicalProbeCosts);
    // Without the places of probes that it has not.
    size_t bytes = offsetof(ProbePlan, probes) + size_t(plan.probe_count) * sizeof(Probe);
    void* kept = MemoryContextAlloc(TopMemoryContext, bytes);
    memcpy(kept, &plan, bytes);
    return plans->add(key, static_cast<const ProbePlan*>(kept));
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
