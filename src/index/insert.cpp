// Insertion of a row, the callback aminsert: one posting, and the fingerprint in every block table
// that lacks it.
#include "core/bits/permutation.hpp"
#include "index/access_method.hpp"
#include "index/scope.hpp"
#include "index/testing.hpp"
#include "index/tree.hpp"
#include "index/wal.hpp"

namespace simhash {

namespace {

// Inserts into all tables by one WAL record where every leaf has room. Locks block tables in order
// of number and the posting leaf last (rule 3). Returns false, with nothing done, where a leaf is
// full.
bool append_everywhere(Relation index, Relation heap, const Layout* layout, LeafEntry posting) {
    LeafAppend appends[kMaxAppends];
    Buffer locked[kMaxAppends];
    int locked_count = 0, append_count = 0;
    bool room = true;

    for (int i = 1; i <= layout->table_count && room; i++) {
        int table = i % layout->table_count;
        TreeContext tree = tree_context(index, heap, layout, table);
        LeafEntry entry =
            table == 0 ? posting : LeafEntry{layout->permutation(table).apply(posting.key), 0};
        Buffer buffer = descend_for_write(tree, entry);
        locked[locked_count++] = buffer;
        LeafReader reader = open_leaf(index, buffer, tree.kind);
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
                  IndexUniqueCheck, bool, IndexInfo*) {
    // The cached one goes when the relation is invalidated.
    Layout copy = index_cache(index)->layout;
    const Layout* layout = &copy;
    uint64_t tid = tid_to_integer(*heap_tid);
    if (isnull[0]) {
        insert_entry(tree_context(index, heap, layout, null_tree(*layout)), {0, tid});
        return false;
    }
    uint64_t fingerprint = stored_fingerprint(index, values, isnull);
    if (layout->table_count <= kMaxAppends &&
        append_everywhere(index, heap, layout, {fingerprint, tid}))
        return false;
    // The posting first: vacuum relies on it (README.md, "Why (2) is safe").
    insert_entry(tree_context(index, heap, layout, 0), {fingerprint, tid});
    pause_for_test("insert-after-posting");
    for (int table = 1; table < layout->table_count; table++)
        insert_entry(tree_context(index, heap, layout, table),
                     {layout->permutation(table).apply(fingerprint), 0});
    return false;
}

} // namespace simhash
