// Insertion of a row, the callback aminsert: one posting, and the fingerprint in every block table
// that lacks it.
#include "core/bits/permutation.hpp"
#include "index/access_method.hpp"
#include "index/cursor.hpp"
#include "index/index_cache.hpp"
#include "index/scope.hpp"
#include "index/testing.hpp"
#include "index/tree.hpp"
#include "index/wal.hpp"

#include <algorithm>
#include <new>

namespace simhash {

namespace {

// What an insertion keeps from row to row of a statement.
struct Insertion {
    Layout layout;
    Permutation* permutations; // [layout.table_count]
    SearchedTree* trees;       // [layout.table_count]
    int rows_left;             // until the trees' notes follow the index's size again

    const TreeContext& tree(int table) const { return trees[table].context; }
    LeafEntry entry(int table, LeafEntry posting) const {
        return table == 0 ? posting : LeafEntry{permutations[table].apply(posting.key), 0};
    }
    void insert_one(int table, LeafEntry posting) const {
        insert_entry(tree(table), entry(table, posting), &trees[table].notes);
    }
};

constexpr int kRowsBetweenSizes = 4096;

Insertion* insertion_of(Relation index, Relation heap, IndexInfo* info) {
    auto* insertion = static_cast<Insertion*>(info->ii_AmCache);
    if (insertion == nullptr) {
        auto alloc = [info](Size size) { return MemoryContextAlloc(info->ii_Context, size); };
        insertion = static_cast<Insertion*>(alloc(sizeof(Insertion)));
        // The cached one goes when the relation is invalidated.
        insertion->layout = index_cache(index)->layout;
        int count = insertion->layout.table_count;
        insertion->permutations = static_cast<Permutation*>(alloc(count * sizeof(Permutation)));
        insertion->trees = static_cast<SearchedTree*>(alloc(count * sizeof(SearchedTree)));
        for (int i = 0; i < count; i++)
            new (&insertion->permutations[i]) Permutation(insertion->layout.permutation(i));
        insertion->rows_left = 0;
        info->ii_AmCache = insertion;
    }
    if (insertion->rows_left-- == 0) {
        BlockNumber blocks = RelationGetNumberOfBlocks(index);
        for (int i = 0; i < insertion->layout.table_count; i++)
            new (&insertion->trees[i])
                SearchedTree(tree_context(index, heap, &insertion->layout, i), blocks);
        insertion->rows_left = kRowsBetweenSizes;
    }
    return insertion;
}

// Has the leaves of all tables brought nearer together, before the first of them is locked.
void fetch_leaves_ahead(const Insertion& insertion, LeafEntry posting) {
    constexpr int kMostAhead = 16;
    if (RelationUsesLocalBuffers(insertion.tree(0).index))
        return; // there are no notes, and a descent for each would be made twice
    LeafCursor leaves[kMostAhead];
    int count = std::min(insertion.layout.table_count, kMostAhead);
    for (int table = 0; table < count; table++) {
        uint64_t key = insertion.entry(table, posting).key;
        leaves[table] = LeafCursor(&insertion.trees[table], {key, key});
    }
    LeafCursor::fetch_ahead(leaves, count);
}

// Inserts into all tables by one WAL record where every leaf has room. Locks block tables in order
// of number and the posting leaf last (rule 3). Returns false, with nothing done, where a leaf is
// full.
bool append_everywhere(Relation index, const Insertion& insertion, LeafEntry posting) {
    LeafAppend appends[kMaxAppends];
    Buffer locked[kMaxAppends];
    int locked_count = 0, append_count = 0, table_count = insertion.layout.table_count;
    bool room = true;

    for (int i = 1; i <= table_count && room; i++) {
        int table = i % table_count;
        const TreeContext& tree = insertion.tree(table);
        LeafEntry entry = insertion.entry(table, posting);
        Buffer buffer = descend_for_write(tree, entry);
        locked[locked_count++] = buffer;
        LeafReader reader = open_leaf(index, buffer, tree.kind);
        insertion.trees[table].notes.put(entry.key, {}, buffer, reader);
        if (table != 0 && reader.contains_key(entry.key))
            continue;
        room = leaf_has_room(tree, BufferGetPage(buffer), reader);
        appends[append_count++] = LeafAppend{buffer, tree.kind, entry};
    }
    if (room)
        append_to_tails(index, appends, append_count);
    while (locked_count > 0)
        UnlockReleaseBuffer(locked[--locked_count]);
    return room;
}

} // namespace

bool index_insert(Relation index, Datum* values, bool* isnull, ItemPointer heap_tid, Relation heap,
                  IndexUniqueCheck, bool, IndexInfo* info) {
    const Insertion& insertion = *insertion_of(index, heap, info);
    const Layout& layout = insertion.layout;
    uint64_t tid = tid_to_integer(*heap_tid);
    if (isnull[0]) {
        insert_entry(tree_context(index, heap, &layout, null_tree(layout)), {0, tid});
        return false;
    }
    LeafEntry posting = {stored_fingerprint(index, values, isnull), tid};
    fetch_leaves_ahead(insertion, posting);
    if (layout.table_count <= kMaxAppends && append_everywhere(index, insertion, posting))
        return false;
    // The posting first: vacuum relies on it (README.md, "Why (2) is safe").
    insertion.insert_one(0, posting);
    pause_for_test("insert-after-posting");
    for (int table = 1; table < layout.table_count; table++)
        insertion.insert_one(table, posting);
    return false;
}

} // namespace simhash
