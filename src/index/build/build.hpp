// The parts that a build by one backend and one by several share.
#pragma once

#include "index/access_method.hpp"
#include "index/build/run_collector.hpp"
#include "index/build/tree_writer.hpp"

namespace simhash {

// All parts of a build need to know this. It does not change during the build.
struct IndexBuild {
    Relation heap, index;
    IndexInfo* info;
    const Layout* layout;
    // Percent of a leaf's body that is filled.
    int fillfactor;

    TreeContext tree(int number) const { return tree_context(index, nullptr, layout, number); }
};

// Adds entries to those that all participants have taken from the sorted runs of all trees. The
// leader reports the sum, for pg_stat_progress_create_index.
void add_done(pg_atomic_uint64* done, uint64_t entries);
void enter_phase(BuildPhase phase);

// Reads the table into sorted runs, or with `scan` a share of it. Returns the numbers of rows.
IndexBuildResult collect_rows(const IndexBuild& build, SortedRunCollector* runs,
                              TableScanDesc scan);

// ---- From sorted runs, of entries or of the keys of a block table, to leaves ----

// Adds entries to the leaves of a tree, and counts them.
template <typename AnyEntry>
void write_entries(std::span<const AnyEntry> entries, LeafWriter* leaves, pg_atomic_uint64* done) {
    for (const AnyEntry& entry : entries)
        leaves->add(Entry(entry));
    add_done(done, entries.size());
}

// Merges a range from the runs in these files, in `memory` bytes, and writes its leaves.
template <typename AnyEntry>
void write_merged(std::span<const TemporaryFile> files, const LeafRange& range, size_t memory,
                  LeafWriter* leaves, pg_atomic_uint64* done) {
    Merge<AnyEntry> merge;
    for (const TemporaryFile& file : files)
        visit_sorted_runs<AnyEntry>(file, [&](const SortedRun<AnyEntry>& run) {
            CHECK_FOR_INTERRUPTS();
            // It takes each run's entries from low on, up to high: both by binary search.
            merge.add(run.part(run.count_before(range.low),
                               range.is_last ? run.count : run.count_before(range.high)));
        });
    merge.begin(memory);
    for (auto entries = merge.next(); !entries.empty(); entries = merge.next())
        write_entries(entries, leaves, done);
    merge.release();
}

// ---- parallel.cpp ----

// Returns how many workers the build may ask for: 0 if an expression, the predicate or a support
// function of an operator class is not parallel safe.
int build_workers(const IndexBuild& build);
// Builds all trees together with workers. Returns false, with nothing done, if it got no worker.
bool build_with_workers(const IndexBuild& build, int workers, IndexBuildResult* result);

} // namespace simhash
