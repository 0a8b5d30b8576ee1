// simhash_index_info: returns one row about the whole index and one for each level of each tree. It
// reads the whole index while others read and write it, so the figures of a page are those of the
// moment at which it was read.
#include "index/inspect/inspect.hpp"
#include "index/lanes.hpp"

#include <optional>

namespace simhash {
namespace {

constexpr int kWholeIndex = -1;

// The sums of one level, or of the whole index. fingerprints counts the distinct keys: in the
// posting table a fingerprint may have many postings.
struct LevelInfo {
    int tree, level;
    int64 pages, entries, fingerprints, tail_entries;
    int64 used_bytes; // of the pages' bodies
};

LevelInfo read_level(const TreeContext& tree, int number) {
    LevelInfo level{tree.number, number, 0, 0, 0, 0, 0};
    auto* room = static_cast<Entry*>(palloc(kMaxLeafEntries * sizeof(Entry)));
    LevelReader pages(tree, number);
    // Entries of equal keys may go on from leaf to leaf.
    std::optional<uint64_t> last;
    while (pages.next()) {
        level.pages++;
        level.used_bytes += int64(page_body_size(pages.page()));
        if (number > 0) {
            level.entries += pivot_count(tree.kind, pages.page());
            continue;
        }
        LeafReader reader = pages.leaf();
        for (const Entry& entry : std::span(room, size_t(reader.decode_sorted(room)))) {
            level.entries++;
            level.fingerprints += entry.key != last;
            last = entry.key;
        }
        level.tail_entries += reader.tail_count();
    }
    pfree(room);
    return level;
}

// By the words of the index README.
const char* tree_name(const Layout& layout, int tree) {
    if (tree == null_tree(layout))
        return "nulls";
    return table_of_tree(layout, tree) == 0 ? "postings" : "block table";
}

// Two places are enough to compare indexes, and stay the same from run to run.
double rounded(double value) { return double(int64(value * 100 + 0.5)) / 100; }

// Puts the row of a level, or of the whole index. A column that has no meaning is NULL.
void put_row(ReturnSetInfo* result, Relation index, const Layout& layout, const LevelInfo& sums) {
    bool is_whole = sums.tree == kWholeIndex;
    bool is_leaf = !is_whole && sums.level == 0;
    bool has_keys = !is_whole && sums.tree != null_tree(layout);
    uint64_t mask = has_keys ? layout.mask(table_of_tree(layout, sums.tree)) : 0;
    int prefix_bits = is_whole ? layout.prefix_bits(layout.table_count - 1) : std::popcount(mask);
    // The radius is that of a whole value, up to which each lane is searched within the layout's
    // radius t. Where the lanes' distances add up, the sum of (t + 1) over the lanes is the
    // radius + 1.
    bool adds_up = is_whole && lane_layout(index).rule == LaneRule::kSum;
    int radius = adds_up ? layout.lane_count * (layout.radius + 1) - 1 : layout.radius;
    double capacity = double(sums.pages) * kBodyCapacity, bytes = double(sums.pages) * BLCKSZ;
    // The columns in the order of the SQL function.
    struct {
        bool is_there;
        Datum value;
    } row[] = {
        {true, CStringGetTextDatum(is_whole ? "index" : tree_name(layout, sums.tree))},
        {!is_whole, Int32GetDatum(sums.tree)},
        {!is_whole, Int32GetDatum(sums.level)},
        {is_whole, Int32GetDatum(radius)},
        {is_whole || has_keys, Int32GetDatum(prefix_bits)},
        {has_keys, CStringGetTextDatum(psprintf("%016llx", static_cast<unsigned long long>(mask)))},
        {true, Int64GetDatum(sums.pages)},
        {true, Int64GetDatum(sums.pages * BLCKSZ)},
        {true, Int64GetDatum(sums.entries)},
        {is_whole || (is_leaf && has_keys), Int64GetDatum(sums.fingerprints)},
        {is_whole || is_leaf, Int64GetDatum(sums.tail_entries)},
        {!is_whole, Float8GetDatum(rounded(double(sums.used_bytes) / capacity))},
        {sums.entries > 0,
         Float8GetDatum(rounded(bytes / double(std::max<int64>(sums.entries, 1))))},
    };
    Datum values[lengthof(row)];
    bool nulls[lengthof(row)];
    for (size_t i = 0; i < lengthof(row); i++) {
        values[i] = row[i].value;
        nulls[i] = !row[i].is_there;
    }
    tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

void read_info(ReturnSetInfo* result, Relation index, const Layout& layout) {
    LevelInfo whole{kWholeIndex, 0, 0, 0, 0, 0, 0};
    for (int number = 0; number < tree_count(layout); number++) {
        TreeContext tree = tree_context(index, nullptr, &layout, number);
        // A root that is pushed down meanwhile adds a level above, which this row set then lacks.
        for (int level = root_level(tree); level > 0; level--)
            put_row(result, index, layout, read_level(tree, level));
        LevelInfo leaves = read_level(tree, 0);
        put_row(result, index, layout, leaves);
        whole.tail_entries += leaves.tail_entries;
        // The first lane has a posting for each row with lanes, the null table one for each other.
        if (number == 0 || number == null_tree(layout))
            whole.entries += leaves.entries;
        if (number == 0)
            whole.fingerprints = leaves.fingerprints;
    }
    whole.pages = RelationGetNumberOfBlocks(index);
    put_row(result, index, layout, whole);
}

} // namespace
} // namespace simhash

SIMHASH_FUNCTION(simhash_index_info) {
    using namespace simhash;
    Relation heap, index;
    // This is a reader's lock: INSERT and VACUUM go on.
    open_index(PG_GETARG_OID(0), AccessShareLock, true, &heap, &index);
    InitMaterializedSRF(fcinfo, 0);
    Layout layout = cached_layout(index);
    read_info(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo), index, layout);
    index_close(index, AccessShareLock);
    table_close(heap, AccessShareLock);
    PG_RETURN_NULL();
}
