// CREATE INDEX: sorts the postings and writes each tree from its leaves up.
//
// The build reads the table once. It turns the rows into sorted runs for each tree: postings for
// the posting table, permuted fingerprints for each block table. Then it writes the trees from
// these runs. Here one backend does it alone; parallel.cpp does it with workers. README.md's
// section on the build says why nobody else sees the pages.
#include "index/build/build.hpp"
#include "index/scope.hpp"
#include "index/testing.hpp"

namespace simhash {

void add_done(pg_atomic_uint64* done, uint64_t entries) {
    auto sum = int64(pg_atomic_add_fetch_u64(done, int64(entries)));
    if (!IsParallelWorker())
        pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, sum);
}

void enter_phase(BuildPhase phase) {
    pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, phase);
}

IndexBuildResult collect_rows(const IndexBuild& build, SortedRunCollector* runs,
                              TableScanDesc scan) {
    // A scan of our own begins at block 0 instead of joining another scan. So TIDs come in order,
    // and need no sorting. A parallel scan gives them out of order anyway.
    bool may_synchronise = scan != nullptr;
    auto take = [&](std::span<const uint64_t> fingerprints, const ItemPointerData& tid) {
        runs->add(fingerprints, tid_to_integer(tid));
        // Tests stop a leader here that has read a part of its rows.
        if (runs->rows() % 65536 == 0 && !IsParallelWorker())
            pause_for_test("build-leader-reads");
    };
    double rows = scan_rows(build.heap, build.index, build.info, *build.layout, scan,
                            may_synchronise, !IsParallelWorker(), take);
    return {rows, double(runs->rows())};
}

namespace {

template <typename AnyEntry>
void write_from_memory(std::span<const AnyEntry> entries, LeafWriter* leaves,
                       pg_atomic_uint64* done) {
    constexpr size_t kPiece = 1 << 16;
    for (size_t at = 0; at < entries.size(); at += kPiece)
        write_entries(entries.subspan(at, std::min(kPiece, entries.size() - at)), leaves, done);
}

// Writes a tree and closes its file. If its runs are in no file, writes it from memory.
void write_tree(const IndexBuild& build, int number, SortedRunCollector* runs, NewPages* pages,
                pg_atomic_uint64* done) {
    TreeContext tree = build.tree(number);
    LeafRange all;
    LeafWriter leaves(tree, build.fillfactor, all, pages);
    TemporaryFile& file = runs->file(number);
    // Where there is a file the collector has released its postings: the merge has their memory.
    size_t memory = size_t(maintenance_work_mem) * 1024;
    if (tree.kind == LeafKind::kPosting && file.exists())
        write_merged<Entry>({&file, 1}, all, memory, &leaves, done);
    else if (tree.kind == LeafKind::kPosting)
        write_from_memory(runs->postings(number), &leaves, done);
    else if (file.exists())
        write_merged<uint64_t>({&file, 1}, all, memory, &leaves, done);
    else {
        std::span<const uint64_t> keys = runs->block_keys(number);
        add_done(done, runs->postings(number).size() - keys.size()); // of repeated fingerprints
        write_from_memory(keys, &leaves, done);
    }
    file.close();
    write_upper_levels(tree, leaves.finish(), pages);
}

IndexBuildResult build_alone(const IndexBuild& build) {
    SortedRunCollector runs(build.layout, size_t(maintenance_work_mem) * 1024);
    enter_phase(kPhaseScan);
    IndexBuildResult result = collect_rows(build, &runs, nullptr);
    enter_phase(kPhaseSort);
    runs.finish(false);
    pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, int64(runs.entries()));
    enter_phase(kPhaseWrite);
    pg_atomic_uint64 done;
    pg_atomic_init_u64(&done, 0);
    // One page at a time: nobody else adds pages, so there is no lock to wait for.
    NewPages pages(build.index, 1);
    // The block tables come from the last to the first, as block_keys() asks for.
    for (int tree = null_tree(*build.layout); tree >= 0; tree--)
        write_tree(build, tree, &runs, &pages, &done);
    pause_for_test("build-ends");
    runs.release();
    return result;
}

Layout layout_of_build(Relation index) {
    Layout layout = layout_of_options(index);
    layout.compared_columns = compared_columns(index);
    return layout;
}

// Writes the metapage and the empty roots into the first blocks of an empty fork. An index without
// rows is complete with these; a build with rows overwrites the roots.
void write_first_pages(Relation index, ForkNumber fork, const Layout& layout) {
    // Links to roots are computed from the tree's number: each root must get just its block.
    for (BlockNumber block = 0; block <= BlockNumber(tree_count(layout)); block++) {
        Buffer buffer = extend_relation(index, fork);
        if (BufferGetBlockNumber(buffer) != block)
            elog(ERROR, "unexpected block %u in new index \"%s\"", BufferGetBlockNumber(buffer),
                 RelationGetRelationName(index));
        // Between the change of the page and its WAL nothing may fail.
        START_CRIT_SECTION();
        Page page = BufferGetPage(buffer);
        if (block == kMetaBlock)
            init_meta_page(page, layout, scope_columns(index));
        else
            init_leaf(page, int(block) - 1, tree_kind(layout, int(block) - 1));
        MarkBufferDirty(buffer);
        // The init fork of an unlogged index is logged, because after a crash or a promotion the
        // server copies it over the main fork.
        if (fork == INIT_FORKNUM || RelationNeedsWAL(index))
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
    case kPhaseWrite:
        return pstrdup("writing tables");
    default:
        return nullptr;
    }
}

IndexBuildResult* index_build(Relation heap, Relation index, IndexInfo* info) {
    if (RelationGetNumberOfBlocks(index) != 0)
        elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
    check_first_column(index, info);
    check_scope(index);
    // There is no warning at a REINDEX, whose user did not just write the constraint.
    if (is_new_index(index)) {
        warn_of_exclusion(index, info);
        warn_of_keys(heap, index, info);
    }
    Layout layout = layout_of_build(index);
    IndexBuild build{heap, index, info, &layout, fillfactor_of_options(index)};
    write_first_pages(index, MAIN_FORKNUM, layout);

    auto* result = static_cast<IndexBuildResult*>(palloc(sizeof(IndexBuildResult)));
    int workers = build_workers(build);
    if (workers == 0 || !build_with_workers(build, workers, result))
        *result = build_alone(build);
    return result;
}

void index_build_empty(Relation index) {
    // For an unlogged index: these pages are all that is left of it after a crash.
    write_first_pages(index, INIT_FORKNUM, layout_of_build(index));
}

} // namespace simhash
