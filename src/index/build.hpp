// What a build by one backend and one by several share.
#pragma once

#include "index/access_method.hpp"
#include "index/build_runs.hpp"
#include "index/tree_writer.hpp"

namespace simhash {

struct IndexBuild {
    Relation heap, index;
    IndexInfo* info;
    const Layout* layout;
    int fillfactor;

    TreeContext tree(int number) const { return tree_context(index, nullptr, layout, number); }
};

// Of one participant, or of all.
struct BuildTotals {
    double heap_tuples, index_tuples;
    bool broken_hot_chain;
};

// How many entries were written, in all trees, for pg_stat_progress_create_index.
class BuildProgress {
  public:
    // Counts for other participants, too, where `shared` is given; only a leader reports.
    explicit BuildProgress(pg_atomic_uint64* shared = nullptr, bool reports = true)
        : shared_(shared), reports_(reports) {}
    void add(uint64_t entries);

  private:
    pg_atomic_uint64* shared_;
    bool reports_;
    uint64_t done_ = 0;
};

void enter_phase(BuildPhase phase);
// Says how many entries all trees are to get, at most.
void expect_entries(const Layout& layout, double rows);

// Reads the table, or with `scan` a share of it, into sorted runs.
BuildTotals collect_rows(const IndexBuild& build, SortedRunCollector* runs, TableScanDesc scan,
                         bool reports);

// ---- Entries of runs, as those of leaves ----

inline LeafEntry leaf_entry(uint64_t key) {
    return {key, 0};
}
inline LeafEntry leaf_entry(const KeyedValue& posting) {
    return {posting.key, posting.value};
}
// The least entry of a run that is not before the key.
inline void run_bound(const TreeKey& key, uint64_t* bound) {
    *bound = key.key;
}
inline void run_bound(const TreeKey& key, KeyedValue* bound) {
    *bound = {key.key, key.tid};
}

// Adds entries to the leaves of a tree, a fingerprint of two runs once. `last` is the one before.
template <typename Entry>
void add_entries(std::span<const Entry> entries, LeafWriter* leaves, LeafEntry* last) {
    for (const Entry& entry : entries) {
        LeafEntry added = leaf_entry(entry);
        if (added != *last)
            leaves->add(added);
        *last = added;
    }
}

// No entry equals this one.
constexpr LeafEntry kNoEntry = {0, UINT64_MAX};

// Writes the leaves of a range from what the runs give.
template <typename Entry>
void write_merged(Merge<Entry>* runs, LeafWriter* leaves, BuildProgress* progress) {
    LeafEntry last = kNoEntry;
    for (;;) {
        std::span<const Entry> entries = runs->next();
        if (entries.empty())
            return;
        add_entries(entries, leaves, &last);
        progress->add(entries.size());
    }
}

// ---- parallel_build.cpp ----

// How many workers the build may ask for: none where an expression, a predicate or the hash
// function of a scope's column must not run in one.
int build_workers(const IndexBuild& build);
// Builds all trees together with workers. False, with nothing done, where none could be had.
bool build_with_workers(const IndexBuild& build, int workers, BuildTotals* totals);

} // namespace simhash
