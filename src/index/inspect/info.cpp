// simhash_index_info: returns one row about the whole index and one for each level of each tree. It
// reads the whole index while others read and write it, so the figures of a page are those of the
// moment at which it was read.
#include "index/inspect/level_reader.hpp"
#include "index/inspect/open_index.hpp"
#include "index/store/index_cache.hpp"

namespace simhash {

namespace {

// The sums of one level. fingerprints counts the distinct keys: in the posting table a fingerprint
// may have many postings.
struct LevelInfo {
    int tree, level;
    int64 pages, entries, fingerprints, tail_entries;
    int64 used_bytes; // of the pages' bodies
};

struct Info {
    Relation index;
    const Layout* layout;
    ReturnSetInfo* result;
    Entry* entries; // [kMaxLeafEntries]
};

void add_leaf(Info* info, const LevelReader& pages, LevelInfo* level, bool* any, uint64_t* last) {
    LeafReader reader = pages.leaf();
    // Entries of equal keys may go on from leaf to leaf, so the last key is kept between leaves.
    int count = reader.decode_sorted(info->entries);
    for (int i = 0; i < count; i++) {
        level->fingerprints += !*any || info->entries[i].key != *last;
        *any = true;
        *last = info->entries[i].key;
    }
    level->entries += count;
    // Entries that came since the leaf was written or merged.
    level->tail_entries += reader.tail_count();
}

LevelInfo read_level(Info* info, const TreeContext& tree, int number) {
    LevelInfo level{tree.number, number, 0, 0, 0, 0, 0};
    LevelReader pages(tree, number);
    // 0 is a key, so `any` says whether there was one before.
    bool any = false;
    uint64_t last = 0;
    while (pages.next()) {
        level.pages++;
        level.used_bytes += int64(page_body_size(pages.page()));
        if (number == 0)
            add_leaf(info, pages, &level, &any, &last);
        else
            // Above the leaves an entry is a pivot.
            level.entries += pivot_count(tree.kind, pages.page());
    }
    return level;
}

// By the words of the index README.
const char* tree_name(const Layout& layout, int tree) {
    if (tree == null_tree(layout))
        return "nulls";
    return table_of_tree(layout, tree) == 0 ? "postings" : "block table";
}

// Two places are enough to compare indexes, and stay the same from run to run.
double rounded(double value) {
    return double(int64(value * 100 + 0.5)) / 100;
}

// Columns of the result, in the order of the SQL function.
constexpr int kColumns = 13;

void put_row(Info* info, Datum* values, const bool* absent) {
    bool nulls[kColumns];
    for (int i = 0; i < kColumns; i++)
        nulls[i] = absent[i];
    tuplestore_putvalues(info->result->setResult, info->result->setDesc, values, nulls);
}

void put_level(Info* info, const LevelInfo& level) {
    bool postings_or_table = level.tree != null_tree(*info->layout);
    uint64_t mask =
        postings_or_table ? info->layout->mask(table_of_tree(*info->layout, level.tree)) : 0;
    // Fingerprints and tails are those of leaves.
    bool leaf = level.level == 0;
    // A level has a page at least, so nothing is divided by 0 below.
    double bytes = double(level.pages) * BLCKSZ;
    Datum values[kColumns] = {
        CStringGetTextDatum(tree_name(*info->layout, level.tree)),
        Int32GetDatum(level.tree),
        Int32GetDatum(level.level),
        Datum(0),
        Int32GetDatum(std::popcount(mask)),
        CStringGetTextDatum(psprintf("%016llx", static_cast<unsigned long long>(mask))),
        Int64GetDatum(level.pages),
        Int64GetDatum(level.pages * BLCKSZ),
        Int64GetDatum(level.entries),
        Int64GetDatum(level.fingerprints),
        Int64GetDatum(level.tail_entries),
        Float8GetDatum(rounded(double(level.used_bytes) / (double(level.pages) * kBodyCapacity))),
        Float8GetDatum(level.entries > 0 ? rounded(bytes / double(level.entries)) : 0)};
    bool absent[kColumns] = {};
    // The columns by number: 3 is the radius, 4 and 5 the prefix, 9 the fingerprints, 10 the tail
    // entries, 12 the bytes per entry.
    absent[3] = true;
    absent[4] = absent[5] = !postings_or_table;
    absent[9] = !leaf || !postings_or_table;
    absent[10] = !leaf;
    absent[12] = level.entries == 0;
    put_row(info, values, absent);
}

// Puts the row of the whole index, from its leaves' figures.
void put_whole(Info* info, const LevelInfo* leaves) {
    const Layout& layout = *info->layout;
    int64 pages = RelationGetNumberOfBlocks(info->index);
    // The first lane has a posting for each row with lanes, the null table one for each other row.
    int64 rows = leaves[0].entries + leaves[null_tree(layout)].entries;
    int64 tail_entries = 0;
    for (int tree = 0; tree < tree_count(layout); tree++)
        tail_entries += leaves[tree].tail_entries;
    double bytes = double(pages) * BLCKSZ;
    // The radius is that of a whole value, up to which each lane is searched within the layout's
    // radius t: the sum of (t + 1) over the lanes is the radius + 1.
    Datum values[kColumns] = {CStringGetTextDatum("index"),
                              Datum(0),
                              Datum(0),
                              Int32GetDatum(layout.lane_count * (layout.radius + 1) - 1),
                              Int32GetDatum(layout.prefix_bits(layout.table_count - 1)),
                              Datum(0),
                              Int64GetDatum(pages),
                              Int64GetDatum(pages * BLCKSZ),
                              Int64GetDatum(rows),
                              Int64GetDatum(leaves[0].fingerprints),
                              Int64GetDatum(tail_entries),
                              Datum(0),
                              Float8GetDatum(rows > 0 ? rounded(bytes / double(rows)) : 0)};
    bool absent[kColumns] = {};
    absent[1] = absent[2] = absent[5] = absent[11] = true;
    absent[12] = rows == 0;
    put_row(info, values, absent);
}

void read_info(Info* info) {
    int trees = tree_count(*info->layout);
    // The row of the whole index comes last, from the figures of its leaves.
    auto* leaves = static_cast<LevelInfo*>(palloc0(trees * sizeof(LevelInfo)));
    for (int number = 0; number < trees; number++) {
        TreeContext tree = tree_context(info->index, nullptr, info->layout, number);
        // A root that is pushed down meanwhile adds a level above, which this row set then lacks.
        for (int level = root_level(tree); level > 0; level--)
            put_level(info, read_level(info, tree, level));
        leaves[number] = read_level(info, tree, 0);
        put_level(info, leaves[number]);
    }
    put_whole(info, leaves);
}

} // namespace

} // namespace simhash

extern "C" {
PG_FUNCTION_INFO_V1(simhash_index_info);

Datum simhash_index_info(PG_FUNCTION_ARGS) {
    using namespace simhash;
    Relation heap, index;
    // This is a reader's lock: INSERT and VACUUM go on.
    open_index(PG_GETARG_OID(0), AccessShareLock, &heap, &index, IndexRight::kMonitor);
    InitMaterializedSRF(fcinfo, 0);
    Layout layout = index_cache(index)->layout;
    auto* entries = static_cast<Entry*>(palloc(kMaxLeafEntries * sizeof(Entry)));
    Info info{index, &layout, reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), entries};
    read_info(&info);
    index_close(index, AccessShareLock);
    table_close(heap, AccessShareLock);
    PG_RETURN_NULL();
}
}
