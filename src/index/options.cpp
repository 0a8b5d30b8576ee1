// Storage parameters: radius, tables, fillfactor. ALTER INDEX takes effect with REINDEX.
#include "index/access_method.hpp"
#include "index/lanes.hpp"
#include "index/store/page.hpp"

#include <algorithm>

namespace simhash {

namespace {

relopt_kind option_kind;

constexpr int kDefaultRadius = 3;   // of values of one lane
constexpr int kRadiusByValues = -1; // stands for kDefaultRadius, or the radius of =~~
constexpr int kDefaultTables = 4;   // at most; a radius below 3 needs fewer
constexpr int kTablesByRadius = -1; // stands for min(a lane's radius + 1, kDefaultTables)
constexpr int kDefaultFillfactor = 90;
constexpr int kMinFillfactor = 10;

// PostgreSQL 18 has more members. They stay zero.
constexpr relopt_parse_elt int_option(const char* name, int offset) {
    relopt_parse_elt option{};
    option.optname = name;
    option.opttype = RELOPT_TYPE_INT;
    option.offset = offset;
    return option;
}

} // namespace

void define_options() {
    // The server gives a number to each kind of relation, and each backend asks for it again.
    option_kind = add_reloption_kind();
    add_int_reloption(option_kind, "radius",
                      "Hamming distance that the block tables are laid out for, if there are more "
                      "tables than that",
                      kRadiusByValues, 0, kMaxLayoutRadius, AccessExclusiveLock);
    add_int_reloption(option_kind, "tables",
                      "Greatest number of block tables of a lane (default: radius + 1, at most 4)",
                      kTablesByRadius, 1, kMaxTables, AccessExclusiveLock);
    add_int_reloption(option_kind, "fillfactor", "Per cent of a leaf that the build fills",
                      kDefaultFillfactor, kMinFillfactor, 100, ShareUpdateExclusiveLock);
}

bytea* index_options(Datum options, bool validate) {
    static constexpr relopt_parse_elt kTable[] = {
        int_option("radius", offsetof(Options, radius)),
        int_option("tables", offsetof(Options, tables)),
        int_option("fillfactor", offsetof(Options, fillfactor)),
    };
    return static_cast<bytea*>(build_reloptions(options, validate, option_kind, sizeof(Options),
                                                kTable, lengthof(kTable)));
}

Layout layout_of_lanes(const LaneLayout& lanes, const Options* options) {
    if (lanes.rule == LaneRule::kCommon) {
        // A lane is looked up as it is: the one table is that of the postings.
        Layout layout = make_layout(0, 1);
        layout.lanes_vary = true;
        layout.key_bits = kBitsOfHash;
        layout.definition = lanes.definition;
        return layout;
    }
    int radius = options != nullptr ? options->radius : kRadiusByValues;
    int tables = options != nullptr ? options->tables : kTablesByRadius;
    if (radius == kRadiusByValues)
        radius = lanes.count == 1 ? kDefaultRadius : lanes.near_radius;
    // What is laid out is the greatest radius within which a lane is searched.
    radius = std::min(lane_radius({lanes.rule, radius}, lanes.count, 0), kMaxLayoutRadius);
    if (tables == kTablesByRadius)
        tables = std::min(radius + 1, kDefaultTables);
    Assert(lanes.count >= 1 && lanes.count <= kMaxLanes); // so each lane has a table at least
    static_assert(kMaxLanes < kMaxTrees);
    Layout layout = make_layout(radius, std::min(tables, (kMaxTrees - 1) / lanes.count));
    layout.lane_count = lanes.count;
    layout.definition = lanes.definition;
    return layout;
}

Layout layout_of_options(Relation index) {
    return layout_of_lanes(lane_layout(index), reinterpret_cast<Options*>(index->rd_options));
}

int fillfactor_of_options(Relation index) {
    auto* options = reinterpret_cast<Options*>(index->rd_options);
    return options != nullptr ? options->fillfactor : kDefaultFillfactor;
}

} // namespace simhash
