// simhash_index_info: returns one row about the whole index and one for each level of each tree. It
// reads the whole index while others read and write it, so the figures of a page are those of the
// moment at which it was read.
#include "index/inspect/inspect.hpp"
#include "index/lanes.hpp"
#include "index/store/index_cache.hpp"

#include <optional>

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

LevelInfo read_level(Info* info, const TreeContext& tree, int number) {
    LevelInfo level{tree.number, number, 0, 0, 0, 0, 0};
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
        for (const Entry& entry :
             std::span(info->entries, size_t(reader.decode_sorted(info->entries)))) {
            level.entries++;
            level.fingerprints += entry.key != last;
            last = entry.key;
        }
        level.tail_entries += reader.tail_count();
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
double rounded(double value) { return double(int64(value * 100 + 0.5)) / 100; }

// A row of the result: the columns in the order of the SQL function. Without a value it is NULL.
constexpr size_t kColumns = 13;
using Row = std::optional<Datum>[kColumns];

void put_row(Info* info, const Row& row) {
    Datum values[kColumns];
    bool nulls[kColumns];
    for (size_t i = 0; i < kColumns; i++) {
        values[i] = row[i].value_or(Datum(0));
        nulls[i] = !row[i];
    }
    tuplestore_putvalues(info->result->setResult, info->result->setDesc, values, nulls);
}

// The value, or NULL where it has no meaning.
std::optional<Datum> datum_if(bool condition, Datum datum) {
    return condition ? std::optional(datum) : std::nullopt;
}

std::optional<Datum> bytes_per_entry(int64 pages, int64 entries) {
    double bytes = double(pages) * BLCKSZ;
    return datum_if(entries > 0,
                    Float8GetDatum(rounded(bytes / double(std::max<int64>(entries, 1)))));
}

void put_level(Info* info, const LevelInfo& level) {
    const Layout& layout = *info->layout;
    bool has_keys = level.tree != null_tree(layout);
    uint64_t mask = has_keys ? layout.mask(table_of_tree(layout, level.tree)) : 0;
    auto* digits = psprintf("%016llx", static_cast<unsigned long long>(mask));
    bool is_leaf = level.level == 0;
    double capacity = double(level.pages) * kBodyCapacity;
    put_row(info, {CStringGetTextDatum(tree_name(layout, level.tree)), Int32GetDatum(level.tree),
                   Int32GetDatum(level.level),
                   std::nullopt, // radius
                   datum_if(has_keys, Int32GetDatum(std::popcount(mask))),
                   datum_if(has_keys, CStringGetTextDatum(digits)), Int64GetDatum(level.pages),
                   Int64GetDatum(level.pages * BLCKSZ), Int64GetDatum(level.entries),
                   datum_if(is_leaf && has_keys, Int64GetDatum(level.fingerprints)),
                   datum_if(is_leaf, Int64GetDatum(level.tail_entries)),
                   Float8GetDatum(rounded(double(level.used_bytes) / capacity)),
                   bytes_per_entry(level.pages, level.entries)});
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
    // The radius is that of a whole value, up to which each lane is searched within the layout's
    // radius t. Where the lanes' distances add up, the sum of (t + 1) over the lanes is the
    // radius + 1.
    bool adds_up = lane_layout(info->index).rule == LaneRule::kSum;
    int radius = adds_up ? layout.lane_count * (layout.radius + 1) - 1 : layout.radius;
    put_row(info, {CStringGetTextDatum("index"),
                   std::nullopt, // tree
                   std::nullopt, // level
                   Int32GetDatum(radius), Int32GetDatum(layout.prefix_bits(layout.table_count - 1)),
                   std::nullopt, // prefix
                   Int64GetDatum(pages), Int64GetDatum(pages * BLCKSZ), Int64GetDatum(rows),
                   Int64GetDatum(leaves[0].fingerprints), Int64GetDatum(tail_entries),
                   std::nullopt, // fill
                   bytes_per_entry(pages, rows)});
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

SIMHASH_FUNCTION(simhash_index_info) {
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
