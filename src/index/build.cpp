// CREATE INDEX: sort the postings and write each tree from its leaves up.
//
// The posting table comes first. Its leaves, read back in order, give the distinct fingerprints,
// which are permuted and sorted once per block table. Pages go through shared buffers and are
// logged whole at the end.
#include "core/bits/permutation.hpp"
#include "index/access_method.hpp"
#include "index/scope.hpp"
#include "spill/sorter.hpp"
#include "index/tree.hpp"

namespace simhash {

namespace {

constexpr int kMaxLevels = 16;

// Writes one tree, given its entries in order. A page is written when the next one begins, for only
// then are its right link and high key known; a level that never gets a second page is the root and
// goes to the root's fixed block.
class TreeBuilder {
  public:
    TreeBuilder(const TreeContext& tree, int fillfactor)
        : tree_(tree), sizer_(tree.kind), target_(kBodyCapacity * fillfactor / 100),
          slack_(std::min(target_ * 9 / 100, kBodyCapacity - target_)) {
        pending_ = static_cast<LeafEntry*>(palloc(kMaxLeafEntries * sizeof(LeafEntry)));
        begin_leaf();
    }

    // Entries in ascending order.
    void add(LeafEntry entry) {
        size_t bytes = sizer_.bytes_with(entry);
        // Again, as an entry of a far key and row makes those that were carried over wider, too.
        while (int cut = cut_before(entry, bytes)) {
            end_leaf(cut, entry);
            bytes = sizer_.bytes_with(entry);
        }
        append(entry, bytes);
    }

    // Writes what is left and the root.
    void finish() {
        if (level_count_ == 0)
            begin_level();
        encode_leaf(pending_count_);
        for (int level = 0;; level++) {
            if (levels_[level].block == InvalidBlockNumber) {
                write_page(level, root_block(tree_.tree));
                break;
            }
            write_page(level, levels_[level].block);
            add_pivot(level + 1, Pivot{page_low(levels_[level].page), levels_[level].block});
        }
        for (int level = 0; level < level_count_; level++)
            pfree(levels_[level].page);
        pfree(pending_);
    }

  private:
    struct Level {
        Page page;         // image of the page being filled
        BlockNumber block; // its block, once the level has more than one page
    };

    void begin_level() {
        if (level_count_ == kMaxLevels)
            elog(ERROR, "simhash index has too many levels");
        Level& level = levels_[level_count_];
        level.page = static_cast<Page>(palloc(BLCKSZ));
        level.block = InvalidBlockNumber;
        init_page(level.page, tree_.tree, level_count_, level_count_ == 0 ? kPageLeaf : 0);
        level_count_++;
    }

    void begin_leaf() {
        sizer_.reset();
        pending_count_ = fitting_ = range_end_ = 0;
        bytes_ = 0;
        limit_ = target_ + slack_;
    }

    void append(LeafEntry entry, size_t bytes) {
        sizer_.add(entry);
        pending_[pending_count_++] = entry;
        bytes_ = bytes;
        if (bytes <= target_)
            fitting_ = pending_count_;
    }

    // How many of the pending entries the leaf is to have, if it ends before `entry`, which would
    // bring it to `bytes`; 0 where it does not end yet. It ends where a range of a probe ends, so
    // that one leaf holds the range: at the end that is nearest to its target, if one is within
    // its slack; and else at its target.
    int cut_before(LeafEntry entry, size_t bytes) {
        if (pending_count_ == 0)
            return 0;
        if (bytes_ >= target_ - slack_ &&
            begins_range(tree_, pending_[pending_count_ - 1], entry)) {
            if (bytes_ > target_)
                return pending_count_;
            range_end_ = pending_count_;
            limit_ = target_ + (target_ - bytes_); // beyond that no end is nearer
        }
        if (pending_count_ < kMaxLeafEntries - kMaxTailEntries && bytes <= limit_)
            return 0;
        return range_end_ > 0 ? range_end_ : fitting_;
    }

    // Writes a leaf of so many of the pending entries. Those after them, which are few, and then
    // `next` go to the next leaf.
    void end_leaf(int count, LeafEntry next) {
        int end = pending_count_;
        TreeKey low =
            low_key_between(tree_, pending_[count - 1], count < end ? pending_[count] : next);
        encode_leaf(count);
        end_page(0, low);
        begin_leaf();
        for (int i = count; i < end; i++)
            append(pending_[i], sizer_.bytes_with(pending_[i]));
    }

    void encode_leaf(int count) {
        if (level_count_ == 0)
            begin_level();
        Page page = levels_[0].page;
        size_t bytes = encode_run(tree_.kind, pending_, count, page_body(page), kBodyCapacity);
        if (bytes == 0)
            elog(ERROR, "entries of a leaf do not fit"); // cannot be: sizer_ has counted them
        page_set_body_size(page, bytes);
    }

    BlockNumber new_block() {
        Buffer buffer = extend_relation(tree_.index);
        BlockNumber block = BufferGetBlockNumber(buffer);
        UnlockReleaseBuffer(buffer);
        return block;
    }

    // Ends the level's current page; the next one begins at `next_low`.
    void end_page(int level, TreeKey next_low) {
        CHECK_FOR_INTERRUPTS();
        Level& ended = levels_[level];
        if (ended.block == InvalidBlockNumber)
            ended.block = new_block();
        BlockNumber next = new_block();
        page_opaque(ended.page)->right = next;
        set_page_high(ended.page, next_low);
        write_page(level, ended.block);
        add_pivot(level + 1, Pivot{page_low(ended.page), ended.block});
        init_page(ended.page, tree_.tree, level, level == 0 ? kPageLeaf : 0);
        set_page_low(ended.page, next_low);
        ended.block = next;
    }

    void add_pivot(int level, const Pivot& pivot) {
        if (level == level_count_)
            begin_level();
        size_t bytes = pivot_bytes(tree_.kind);
        if (page_body_size(levels_[level].page) + bytes > kBodyCapacity * 9 / 10)
            end_page(level, pivot.key);
        Page page = levels_[level].page;
        size_t size = page_body_size(page);
        write_pivot(tree_.kind, page_body(page) + size, pivot);
        page_set_body_size(page, size + bytes);
    }

    void write_page(int level, BlockNumber block) {
        Buffer buffer = ReadBuffer(tree_.index, block);
        LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
        auto* header = reinterpret_cast<PageHeader>(levels_[level].page);
        memset(levels_[level].page + header->pd_lower, 0, header->pd_upper - header->pd_lower);
        START_CRIT_SECTION();
        memcpy(BufferGetPage(buffer), levels_[level].page, BLCKSZ);
        MarkBufferDirty(buffer);
        END_CRIT_SECTION();
        UnlockReleaseBuffer(buffer);
    }

    TreeContext tree_;
    RunSizer sizer_;
    size_t target_, slack_; // bytes of a leaf's body, and by how much it may miss them
    LeafEntry* pending_;    // of the leaf being filled
    int pending_count_;
    size_t bytes_, limit_; // of the leaf now, and at most
    int fitting_;          // so many entries take no more than target_
    int range_end_;        // after so many a range ends, near enough to target_; 0: there is none
    Level levels_[kMaxLevels];
    int level_count_ = 0;
};

struct BuildState {
    ExternalSorter<KeyedValue>* postings;
    ExternalSorter<KeyedValue>* nulls;
    double tuples = 0;
};

void add_heap_tuple(Relation index, ItemPointer tid, Datum* values, bool* isnull, bool,
                    void* opaque) {
    auto* state = static_cast<BuildState*>(opaque);
    uint64_t integer = tid_to_integer(*tid);
    if (isnull[0])
        state->nulls->add({0, integer});
    else
        state->postings->add({stored_fingerprint(index, values, isnull), integer});
    state->tuples += 1;
}

void enter_phase(BuildPhase phase) {
    pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

// Writes a tree of postings (the posting or the null table) from its sorted entries.
void write_postings(const TreeContext& tree, int fillfactor, ExternalSorter<KeyedValue>* sorter) {
    TreeBuilder builder(tree, fillfactor);
    KeyedValue entry;
    uint64 done = 0;
    while (sorter->next(&entry)) {
        builder.add({entry.key, entry.value});
        if ((++done & 0xffff) == 0)
            pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, int64(done));
    }
    builder.finish();
}

// Writes block table `number` from the posting table.
void write_block_table(Relation index, const Layout* layout, int number, int fillfactor) {
    TreeContext postings = tree_context(index, nullptr, layout, 0);
    Permutation permutation(layout->masks[number]);
    ExternalSorter<uint64_t> sorter(size_t(maintenance_work_mem) * 1024, "maintenance_work_mem");
    bool any = false;
    uint64_t last = 0;

    Buffer buffer = descend(postings, {0, 0}, 0, BUFFER_LOCK_SHARE);
    for (;;) {
        LeafReader reader = open_leaf(index, buffer, postings.kind);
        LockBuffer(buffer, BUFFER_LOCK_UNLOCK); // nobody else sees the index yet
        reader.visit_run(0, UINT64_MAX, [&](uint64_t key, int) {
            if (any && key == last)
                return;
            any = true;
            last = key;
            sorter.add(permutation.apply(key));
        });
        BlockNumber next = page_opaque(BufferGetPage(buffer))->right;
        ReleaseBuffer(buffer);
        if (next == InvalidBlockNumber)
            break;
        CHECK_FOR_INTERRUPTS();
        buffer = read_page(index, next, BUFFER_LOCK_SHARE);
    }

    sorter.finish();
    TreeBuilder builder(tree_context(index, nullptr, layout, number), fillfactor);
    uint64_t key;
    while (sorter.next(&key))
        builder.add({key, 0});
    builder.finish();
    sorter.release();
}

// Writes the metapage and empty roots into blocks 0 .. of an empty fork.
void write_first_pages(Relation index, ForkNumber fork, const Layout& layout, int fillfactor) {
    for (BlockNumber block = 0; block <= BlockNumber(tree_count(layout)); block++) {
        Buffer buffer = extend_relation(index, fork);
        if (BufferGetBlockNumber(buffer) != block)
            elog(ERROR, "unexpected block %u in new index \"%s\"", BufferGetBlockNumber(buffer),
                 RelationGetRelationName(index));
        START_CRIT_SECTION();
        Page page = BufferGetPage(buffer);
        if (block == kMetaBlock)
            init_meta_page(page, layout, fillfactor, scope_columns(index));
        else
            init_leaf(page, int(block) - 1, tree_kind(layout, int(block) - 1));
        MarkBufferDirty(buffer);
        if (fork == INIT_FORKNUM)
            log_newpage_buffer(buffer, true);
        END_CRIT_SECTION();
        UnlockReleaseBuffer(buffer);
    }
}

} // namespace

char* index_build_phase_name(int64 phase) {
    switch (phase) {
    case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
        return pstrdup("initializing");
    case kPhaseScan:
        return pstrdup("scanning table");
    case kPhaseSort:
        return pstrdup("sorting postings");
    case kPhasePostings:
        return pstrdup("writing posting table");
    case kPhaseBlocks:
        return pstrdup("writing block tables");
    default:
        return nullptr;
    }
}

IndexBuildResult* index_build(Relation heap, Relation index, IndexInfo* info) {
    if (RelationGetNumberOfBlocks(index) != 0)
        elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
    check_columns(index);
    Layout layout = layout_of_options(index);
    int fillfactor = fillfactor_of_options(index);
    write_first_pages(index, MAIN_FORKNUM, layout, fillfactor);

    enter_phase(kPhaseScan);
    ExternalSorter<KeyedValue> postings(size_t(maintenance_work_mem) * 1024,
                                        "maintenance_work_mem");
    ExternalSorter<KeyedValue> nulls(size_t(maintenance_work_mem) * 1024 / 8,
                                     "maintenance_work_mem");
    BuildState state{&postings, &nulls};
    // Not synchronised with other scans: TIDs come in order.
    double heap_tuples =
        table_index_build_scan(heap, index, info, false, true, add_heap_tuple, &state, nullptr);

    enter_phase(kPhaseSort);
    pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, int64(state.tuples));
    postings.finish();
    nulls.finish();
    enter_phase(kPhasePostings);
    write_postings(tree_context(index, nullptr, &layout, null_tree(layout)), fillfactor, &nulls);
    nulls.release();
    write_postings(tree_context(index, nullptr, &layout, 0), fillfactor, &postings);
    postings.release();
    enter_phase(kPhaseBlocks);
    for (int table = 1; table < layout.table_count; table++)
        write_block_table(index, &layout, table, fillfactor);

    if (RelationNeedsWAL(index))
        log_newpage_range(index, MAIN_FORKNUM, 0, RelationGetNumberOfBlocks(index), true);

    auto* result = static_cast<IndexBuildResult*>(palloc0(sizeof(IndexBuildResult)));
    result->heap_tuples = heap_tuples;
    result->index_tuples = state.tuples;
    return result;
}

void index_build_empty(Relation index) {
    write_first_pages(index, INIT_FORKNUM, layout_of_options(index), fillfactor_of_options(index));
}

} // namespace simhash
