// Estimates what an index path costs: the work of the probe plan for the query's radius, in units
// of the planner.
//
// index_cost_estimate(), at the end, goes by these steps: what the path looks for (PathQuals), how
// many rows it finds (PathEstimate), how much the searches do for that (SearchWork), and what an
// order by distance adds.
#include "index/access_method.hpp"

#include "core/bits/ball_size.hpp"
#include "core/layout/lane_radii.hpp"
#include "core/layout/probe_plan.hpp"
#include "index/lanes.hpp"
#include "index/store/index_cache.hpp"
#include "index/store/page.hpp"
#include "server/expressions.hpp"
#include "values/objects.hpp"
#include "values/hamming_space.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace simhash {
namespace {

// The planner charges a row cpu_tuple_cost, 0.01, for about 0.1 µs of work.
constexpr double kMicrosecondsPerUnit = 10;
constexpr double kVisitCost = kTypicalProbeCosts.visit / kMicrosecondsPerUnit;
constexpr double kCandidateCost = kTypicalProbeCosts.candidate / kMicrosecondsPerUnit;

// A matching row is looked up in the posting table. It is less than a visit because the rows of one
// fingerprint are looked up together.
constexpr double kLookupCost = 0.03;

// The distance of a lane is added to that of its row, where the distances of all rows are.
constexpr double kSumCost = 0.003;

// A scan in order of distance: stages before its first row, and how many distances occur in all.
constexpr double kStages = 3;
constexpr double kLevels = 40;

// ---- what the path looks for ----

// What the index's operator class says of the lanes of its first column.
LaneLayout lanes_of(const IndexOptInfo* index) {
    auto* column = reinterpret_cast<Node*>(linitial_node(TargetEntry, index->indextlist)->expr);
    int32 typmod = exprTypmod(column);
    Oid type = index->opcintype[0], base = getBaseTypeAndTypmod(exprType(column), &typmod);
    LaneLayout lanes = lane_layout(index->opfamily[0], type, base == type ? typmod : -1);
    // An index that only an advisor imagines may be on values of no known length.
    if (lanes.count < 1)
        lanes = {1, kAlikeRadius, LaneRule::kSum, kFingerprintBits};
    return lanes;
}

Layout layout_of(const IndexOptInfo* info) {
    // An index that only an advisor imagines has no metapage.
    if (info->hypothetical) {
        LaneLayout lanes = lanes_of(info);
        if (lanes.rule == LaneRule::kCommon)
            return layout_of_varying_lanes();
        Layout layout = default_layout();
        layout.lane_count = lanes.count;
        return layout;
    }
    // The planner holds a lock on the index since it opened the table.
    Relation index = index_open(info->indexoid, NoLock);
    Layout layout = index_cache(index)->layout;
    index_close(index, NoLock);
    return layout;
}

bool computes_lanes(const IndexOptInfo* index) { return !values_are_lanes(index->opcintype[0]); }

int scope_columns(const IndexOptInfo* index) { return index->nkeycolumns - 1; }

// The radius that an operator of the index searches, with this argument.
ValueRadius radius_of_operator(PlannerInfo* root, const IndexOptInfo* index,
                               const LaneLayout& lanes, int strategy, Node* argument) {
    if (strategy == kWithinBall)
        return {lanes.rule, examine_ball(root, argument, lanes.bits, lanes.near_radius).radius};
    if (strategy == kAlike)
        return {lanes.rule, lanes.near_radius};
    // Of values that are equal by such a collation the scan looks at every row.
    Oid collation = index->indexcollations[0];
    if (strategy == kEqual && OidIsValid(collation) && !get_collation_isdeterministic(collation))
        return {LaneRule::kSum, lanes.bits};
    return {LaneRule::kSum, radius_of_strategy(strategy)};
}

// The lanes of a query where values have any number: by the size of a constant, or an average row.
double lanes_of_argument(PlannerInfo* root, const IndexOptInfo* index, Node* argument) {
    // One of the winnowed hashes of a text stands for about five words.
    constexpr double kBytesOfLane = 30;
    Node* value = estimate_expression_value(root, argument);
    auto* known = reinterpret_cast<Const*>(value);
    if (IsA(value, Const) && !known->constisnull && known->constlen == -1)
        return 1 + double(VARSIZE_ANY_EXHDR(DatumGetPointer(known->constvalue))) / kBytesOfLane;
    return std::max(1.0, estimated_entries(layout_of(index), index->pages) /
                             std::max(1.0, index->tuples));
}

struct PathQuals {
    List* clauses = NIL;               // RestrictInfos of the index conditions
    List* conditions = NIL;            // RestrictInfos of the query that gave them
    int computed_lanes = 0;            // arguments of which the scan computes the lanes
    LaneLayout lanes = {};             // of the first column
    ValueRadius radius = {};           // the smallest of all conditions
    RestrictInfo* null_test = nullptr; // fp IS NULL
    bool ordered = false;              // by distance
    double searches = 1;               // of the index: one for each element of an array
    double hashes = 1;                 // of an argument whose lanes are looked up one by one
    Bitmapset* scope_known = nullptr;  // the columns of the scope for which there is a value

    double lookups() const { return searches * hashes; }
    bool finds_all() const { return radius.bits >= lanes.bits; }
    bool leaves_scope_open(const IndexOptInfo* index) const {
        return bms_num_members(scope_known) < scope_columns(index);
    }
};

// True when `column operator value` gives the value of a column of the scope. ScopeReader decides
// likewise when the scan begins.
bool tells_scope(Oid opfamily, Oid op) {
    int strategy;
    Oid left, right;
    get_op_opfamily_properties(op, opfamily, false, &strategy, &left, &right);
    return strategy == kEqual && OidIsValid(get_opfamily_proc(opfamily, right, right, kHashScope));
}

// Adds a clause `column operator argument` or `column operator ANY (array)`.
void add_operator(PlannerInfo* root, const IndexOptInfo* index, int column, Expr* clause,
                  PathQuals* quals) {
    Oid op = InvalidOid;
    List* arguments = NIL;
    if (IsA(clause, OpExpr)) {
        op = reinterpret_cast<OpExpr*>(clause)->opno;
        arguments = reinterpret_cast<OpExpr*>(clause)->args;
    } else if (IsA(clause, ScalarArrayOpExpr)) {
        op = reinterpret_cast<ScalarArrayOpExpr*>(clause)->opno;
        arguments = reinterpret_cast<ScalarArrayOpExpr*>(clause)->args;
        // column = ANY (array): the executor runs a scan for each element.
        quals->searches *= std::max(1.0, array_length(root, node_at(arguments, 1)));
    } else {
        return;
    }
    auto* argument = node_at(arguments, 1);
    if (column == 0) {
        int strategy;
        Oid left, right;
        get_op_opfamily_properties(op, index->opfamily[0], false, &strategy, &left, &right);
        ValueRadius radius = radius_of_operator(root, index, quals->lanes, strategy, argument);
        if (radius.rule == LaneRule::kCommon && radius.bits < quals->radius.bits)
            quals->hashes = lanes_of_argument(root, index, argument);
        if (radius.bits < quals->radius.bits)
            quals->radius = radius;
        // Other balls have lanes in their centers.
        quals->computed_lanes +=
            is_value_strategy(strategy) || has_values_as_centers(right, index->opcintype[0]);
    } else if (tells_scope(index->opfamily[column], op)) {
        quals->scope_known = bms_add_member(quals->scope_known, column);
    }
}

void add_clause(PlannerInfo* root, const IndexOptInfo* index, int column, RestrictInfo* clause,
                PathQuals* quals) {
    if (!IsA(clause->clause, NullTest)) {
        add_operator(root, index, column, clause->clause, quals);
    } else if (reinterpret_cast<NullTest*>(clause->clause)->nulltesttype == IS_NULL) {
        if (column == 0)
            quals->null_test = clause;
        else
            quals->scope_known = bms_add_member(quals->scope_known, column);
    }
}

PathQuals quals_of_path(PlannerInfo* root, IndexPath* path) {
    PathQuals quals;
    quals.lanes = lanes_of(path->indexinfo);
    // No condition: every value is within the greatest distance.
    quals.radius = {LaneRule::kSum, quals.lanes.bits};
    quals.ordered = path->indexorderbys != NIL;
    ListCell* cell;
    foreach (cell, path->indexclauses) {
        auto* clause = lfirst_node(IndexClause, cell);
        quals.conditions = lappend(quals.conditions, clause->rinfo);
        ListCell* inner;
        // A condition of the query may have been turned into another one by a support function:
        // indexquals has what the index is asked.
        foreach (inner, clause->indexquals) {
            auto* info = lfirst_node(RestrictInfo, inner);
            quals.clauses = lappend(quals.clauses, info);
            add_clause(root, path->indexinfo, clause->indexcol, info, &quals);
        }
    }
    // Without the whole scope no fingerprint can be searched for: the scan reads everything.
    if (quals.leaves_scope_open(path->indexinfo))
        quals.radius = {LaneRule::kSum, quals.lanes.bits};
    return quals;
}

// True when the query asks for a row's place in the table (ctid), as FOR UPDATE does.
bool asks_for_place(const RelOptInfo* table) {
    Bitmapset* columns = nullptr;
    pull_varattnos(reinterpret_cast<Node*>(table->reltarget->exprs), table->relid, &columns);
    ListCell* cell;
    foreach (cell, table->baserestrictinfo)
        pull_varattnos(reinterpret_cast<Node*>(lfirst_node(RestrictInfo, cell)->clause),
                       table->relid, &columns);
    return bms_is_member(SelfItemPointerAttributeNumber - FirstLowInvalidHeapAttributeNumber,
                         columns);
}

void give_up_order(IndexPath* path) {
    path->path.pathkeys = path->indexorderbys = path->indexorderbycols = NIL;
}

// The index orders the rows of one scope by the distance of their fingerprints, and nothing else. A
// path for another order, such as by the distance of a bigint of the scope, loses its order here.
// So does one whose rows are held back, where lanes do not tell their distances, or where there are
// several orders, if their places are asked for: the server returns such a row without its place,
// and FOR UPDATE would look for it anywhere.
void give_up_other_order(IndexPath* path, const PathQuals& quals) {
    bool is_other = quals.leaves_scope_open(path->indexinfo) ||
                    ((computes_lanes(path->indexinfo) || list_length(path->indexorderbys) > 1) &&
                     asks_for_place(path->path.parent));
    ListCell* cell;
    foreach (cell, path->indexorderbycols)
        is_other |= lfirst_int(cell) > 0;
    if (is_other)
        give_up_order(path);
}

// ---- how many rows it finds ----

struct PathEstimate {
    PlannerInfo* root;
    IndexOptInfo* index;
    Layout layout;
    PathQuals quals;
    ProbePlan plan;      // of a value's first lane, whose radius is the greatest
    bool is_one_pass;    // of several lanes, the first is read from end to end, and no other
    double entries;      // distinct fingerprints in the index
    double leaf_pages;   // of one block table
    Selectivity found;   // the share of all rows that the index finds
    double rows;         // the number of these
    double scope_rows;   // those of them that are of the scope
    double fingerprints; // distinct ones among the rows: by chance, and some close ones

    double random_page;
    double sequential_page;
};

// The share of all rows that meet the clauses.
Selectivity share_of_clauses(PlannerInfo* root, IndexOptInfo* info, List* clauses) {
    return clauselist_selectivity(root, add_predicate_to_index_quals(info, clauses),
                                  int(info->rel->relid), JOIN_INNER, nullptr);
}

// The radius within which a lane is searched, -1 .. 64.
int radius_of_lane(const PathEstimate& path, int lane) {
    if (path.quals.finds_all())
        return kFingerprintBits;
    return saturate_radius(lane_radius(path.quals.radius, path.layout.lane_count, lane));
}

// The expected number of an average row's lanes that are near those of the query by chance. Where a
// value is a single lane, the share of rows within the radius.
double near_by_chance(const PathEstimate& path) {
    double lanes = 0;
    for (int i = 0; i < path.layout.lane_count; i++)
        lanes += ball_share(path.quals.lanes.bits_of_lane(i), radius_of_lane(path, i));
    return lanes;
}

// The share of all rows that the index finds, of which the server drops those that do not match.
Selectivity share_found(const PathEstimate& path, Selectivity matching) {
    IndexOptInfo* info = path.index;
    const PathQuals& quals = path.quals;
    bool has_scope = scope_columns(info) > 0;
    // An index with scopes finds the rows without a fingerprint of all scopes.
    if (quals.null_test != nullptr)
        return has_scope ? share_of_clauses(path.root, info, list_make1(quals.null_test))
                         : matching;
    // A partial index has only this share of the table's rows.
    double indexed = std::min(1.0, info->tuples / std::max(1.0, info->rel->tuples));
    // Every row is looked at where a condition gives no ball, as an equality by a collation that is
    // not deterministic, and where one pass over the first of several lanes is the cheapest. In an
    // order by distance, sums of the lanes' distances then tell the rows.
    if (computes_lanes(info) && (quals.finds_all() || (path.is_one_pass && !quals.ordered)))
        return std::max(matching, indexed);
    if (!has_scope && (path.layout.lane_count == 1 || path.is_one_pass))
        return matching;
    // Rows of other scopes, and those that have one of several lanes near the query's.
    double others = quals.lookups() * near_by_chance(path) * indexed;
    return std::max(matching, std::min(indexed, matching + others));
}

ProbePlan plan_of_lane(const PathEstimate& path, int lane) {
    return make_probe_plan(path.layout, radius_of_lane(path, lane), path.entries,
                           kTypicalProbeCosts);
}

PathEstimate estimate_path(PlannerInfo* root, IndexPath* path, const PathQuals& quals) {
    IndexOptInfo* info = path->indexinfo;
    PathEstimate estimate{};
    estimate.root = root;
    estimate.index = info;
    estimate.layout = layout_of(info);
    estimate.quals = quals;
    estimate.entries = estimated_entries(estimate.layout, info->pages);
    int trees = estimate.layout.table_count * estimate.layout.lane_count;
    // All trees of an index are about the same size; the pages above the leaves are few.
    estimate.leaf_pages = std::max(1.0, info->pages / double(trees));
    estimate.plan = plan_of_lane(estimate, 0);
    int lanes = estimate.layout.lane_count;
    // Where any lane decides, the first does not tell which rows lie within the radius.
    estimate.is_one_pass =
        lanes > 1 &&
        (quals.finds_all() || (quals.radius.rule == LaneRule::kSum &&
                               one_pass_is_cheaper(estimate.plan, quals.radius.bits, lanes)));

    Selectivity matching = share_of_clauses(root, info, quals.conditions);
    estimate.scope_rows = clamp_row_est(matching * info->rel->tuples);
    estimate.found = share_found(estimate, matching);
    estimate.rows = clamp_row_est(estimate.found * info->rel->tuples);
    constexpr double kClose = 10;
    double by_chance = quals.null_test != nullptr ? 0 : near_by_chance(estimate);
    estimate.fingerprints = std::min(estimate.rows, kClose + estimate.entries * by_chance);

    get_tablespace_page_costs(info->reltablespace, &estimate.random_page,
                              &estimate.sequential_page);
    return estimate;
}

// ---- how much the searches do ----

struct SearchWork {
    double visits;      // ranges that are looked up
    double candidates;  // fingerprints that are checked
    double pages;       // leaf pages that the visits read
    double page_cost;   // of one of them
    double lookup_cost; // of a row, once it is known to match
};

// Leaf pages that the plan's probes read. Each slice of a range differs from the query in one bit.
// The later that bit, the nearer the slice lies to the query, so slices share leaves: together they
// are on all leaves of the range if these are few, else on about the logarithm of their number.
double pages_of_probes(const ProbePlan& plan, double entries) {
    // A packed entry of a block table takes this in a table of some millions of rows.
    constexpr double kEntryBytes = 6;
    double pages = 0;
    for (const Probe& probe : std::span(plan.probes, size_t(plan.probe_count))) {
        double more = ldexp(entries, -probe.prefix_bits) * kEntryBytes / kBodyCapacity;
        if (probe.slice_bits > 0)
            more = std::min(more, std::log2(1 + more) + 1);
        pages += ball_size(probe.prefix_bits, probe.threshold) * (1 + more);
    }
    return pages;
}

// Adds the work of `count` searches by one plan.
void add_plan(const PathEstimate& path, const ProbePlan& plan, double count, SearchWork* work) {
    work->visits += plan.visits * count;
    work->candidates += (plan.candidates + plan.slices * kCandidatesOfSlice) * count;
    work->pages += (plan.read_all ? path.leaf_pages : pages_of_probes(plan, path.entries)) * count;
    if (!plan.read_all)
        return;
    // A pass over the posting table meets the TIDs with their fingerprints. Leaves follow each
    // other in a pass, but splits have moved some of them.
    work->page_cost = (path.random_page + path.sequential_page) / 2;
    work->lookup_cost = 0;
}

// Each lane is searched within its own radius. There are two such radii at most: some of the first
// lanes have the radius of the first, and all others the next smaller one. A search for every row
// reads one lane.
SearchWork work_of_searches(const PathEstimate& path) {
    if (path.quals.null_test != nullptr)
        return {1, 0, 1, path.random_page, 0};
    SearchWork work = {0, 0, 0, path.random_page, kLookupCost};
    int lanes = path.is_one_pass ? 1 : path.layout.lane_count;
    int like_first = 1;
    while (like_first < lanes && radius_of_lane(path, like_first) == radius_of_lane(path, 0))
        like_first++;
    add_plan(path, path.plan, like_first * path.quals.lookups(), &work);
    if (like_first < lanes)
        add_plan(path, plan_of_lane(path, lanes - 1), (lanes - like_first) * path.quals.lookups(),
                 &work);
    return work;
}

// Pages of the index that a search reads: those of its probes, and those of the posting table in
// which its rows are looked up. A search that is repeated in a join finds some of them in memory.
double pages_fetched(const PathEstimate& path, const SearchWork& work, double loop_count) {
    double pages = work.pages + std::min(path.rows, path.leaf_pages);
    // This is the formula of Mackert and Lohman, which the server uses for repeated scans.
    return index_pages_fetched(pages * loop_count, path.index->pages, path.index->pages,
                               path.root) /
           loop_count;
}

// The cost of one of these pages. A search for several lanes reads so many that they may be most of
// the index: then each costs less, by the server's rule for the pages of a bitmap scan.
double cost_of_page(const PathEstimate& path, const SearchWork& work, double pages) {
    if (path.layout.lane_count == 1 || path.plan.read_all)
        return work.page_cost;
    double share = std::min(1.0, pages / std::max(1.0, double(path.index->pages)));
    return path.random_page - (path.random_page - path.sequential_page) * std::sqrt(share);
}

Cost cost_of_searches(const PathEstimate& path, const SearchWork& work, double pages) {
    return pages * cost_of_page(path, work, pages) + work.visits * kVisitCost +
           work.candidates * kCandidateCost;
}

// The server plans an index-only scan for a query that needs no column, such as count(*), whether
// or not the index can return any. If it cannot, or if the server must compute distances from the
// rows, the path becomes a plain scan here. Returns the
// cost that the server has left out: an index-only scan need not visit rows on pages that are
// visible to everybody.
Cost give_up_index_only_scan(IndexPath* path, const PathEstimate& estimate) {
    const IndexOptInfo* info = estimate.index;
    if (path->path.pathtype != T_IndexOnlyScan ||
        (info->canreturn[0] && list_length(path->indexorderbys) < 2))
        return 0;
    path->path.pathtype = T_IndexScan;
    double table_random;
    get_tablespace_page_costs(info->rel->reltablespace, &table_random, nullptr);
    return info->rel->allvisfrac * table_random *
           index_pages_fetched(estimate.rows, info->rel->pages, info->pages, estimate.root);
}

// ---- what a type that has lanes adds ----

// The server charges nothing for comparing a row again that the index has found by its own
// operators. To compare documents costs more than to find them, so it is charged here.
Cost cost_of_recheck(const PathEstimate& path) {
    if (path.index->nkeycolumns == 1 && !computes_lanes(path.index))
        return 0;
    QualCost recheck;
    cost_qual_eval(&recheck, path.quals.clauses, path.root);
    return recheck.startup + recheck.per_tuple * path.rows;
}

// The lanes of the arguments, which the scan computes when it begins.
Cost cost_of_lanes(const PathEstimate& path) {
    if (!computes_lanes(path.index))
        return 0;
    Oid type = path.index->opcintype[0];
    QualCost call = {0, 0};
    add_function_cost(path.root,
                      get_opfamily_proc(path.index->opfamily[0], type, type, kValueLanes), nullptr,
                      &call);
    return call.startup + call.per_tuple * path.quals.computed_lanes * path.quals.searches;
}

// ---- what an order by distance adds ----

// Returns how many rows of an order will be read, as far as the planner knows: one where a LIMIT or
// a cursor may end it anywhere, and in a join, of which nobody knows how many rows of each table
// that takes.
double rows_read_in_order(PlannerInfo* root, double rows) {
    if (bms_membership(root->all_baserels) != BMS_SINGLETON)
        return 1;
    if (root->limit_tuples > 0)
        return std::min(rows, root->limit_tuples);
    return root->tuple_fraction > 0 ? 1 : rows;
}

Cost cost_of_pass(const PathEstimate& path) {
    return path.entries * kCandidateCost + path.leaf_pages * path.sequential_page;
}

// In order of distance from a fingerprint, rows of other scopes come between those of the scope.
// Returns what they cost until the scan has returned the rows that will be read: passes over the
// posting table, and look-ups of table rows of other scopes. This is startup cost, as the server
// spreads the rest evenly over all rows of the order.
Cost cost_of_other_scopes(const PathEstimate& path) {
    const IndexOptInfo* info = path.index;
    double met = path.rows * rows_read_in_order(path.root, path.scope_rows) / path.scope_rows;
    if (met <= kPassMatches)
        return 0; // the order's first stages
    double table_random;
    get_tablespace_page_costs(info->rel->reltablespace, &table_random, nullptr);
    // A stage that is a pass returns kPassMatches matches at first, and each further one
    // kPassGrowth times as many (NearestScan::next_radius()).
    double passes = 1 + std::log(met / kPassMatches) / std::log(kPassGrowth);
    double table_pages = index_pages_fetched(met, info->rel->pages, info->pages, path.root);
    return passes * cost_of_pass(path) + table_pages * table_random +
           met * (kLookupCost + cpu_tuple_cost);
}

// Where all rows within a radius are read, one search and a sort beat the stages of growing radius,
// unless the sort is of many rows.
bool is_better_sorted(const PathEstimate& path, const SearchWork& work) {
    double rows = path.scope_rows;
    // The first stage finds everything within the layout's radius.
    if (radius_of_lane(path, 0) <= path.layout.radius ||
        rows_read_in_order(path.root, rows) < rows || !enable_sort)
        return false;
    // All stages together take about 1.6 times as long as the last one alone.
    constexpr double kOtherStages = 0.6;
    return kOtherStages * cost_of_searches(path, work, work.pages) >
           2 * cpu_operator_cost * rows * std::log2(rows + 1);
}

void add_order(const PathEstimate& path, Cost* startup, Cost* total) {
    // The first neighbours cost a few stages.
    int trees = path.layout.table_count * path.layout.lane_count;
    *startup += trees * (kVisitCost + path.random_page) * kStages;
    // The server expects no startup cost above the total.
    *startup = std::min(*startup, *total);
    // All neighbours cost a pass over the posting table for each distance, unless a ball leaves
    // few.
    if (path.fingerprints > path.entries * kFewMatches)
        *total += std::min(double(path.quals.radius.bits + 1), kLevels) * cost_of_pass(path);
    // Of several lanes, where the radius is large, the distances of all lanes of all rows are added
    // up (index/search/wide.hpp). Without a radius most orders end before.
    if (path.layout.lane_count > 1 && sums_are_cheaper(path.plan) && !path.quals.finds_all())
        *total += path.layout.lane_count *
                  (path.entries * kSumCost + path.leaf_pages * path.sequential_page);
    if (scope_columns(path.index) > 0) {
        Cost others = cost_of_other_scopes(path);
        *startup += others;
        *total += others;
    }
}

// Rows of one fingerprint, and null rows, come in the order of their places in the table: the heap
// is read forward, with gaps. The planner's scale of correlation does not know that. This value
// makes it charge about as much as for every second to tenth page of a large table.
constexpr double kForwardCorrelation = 0.92;

} // namespace

void index_cost_estimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup_cost,
                         Cost* total_cost, Selectivity* selectivity, double* correlation,
                         double* pages) {
    PathQuals quals = quals_of_path(root, path);
    give_up_other_order(path, quals);
    PathEstimate estimate = estimate_path(root, path, quals);
    SearchWork work = work_of_searches(estimate);

    *pages = pages_fetched(estimate, work, loop_count);
    *startup_cost = kVisitCost + cost_of_lanes(estimate);
    *total_cost = cost_of_lanes(estimate) + cost_of_recheck(estimate) +
                  cost_of_searches(estimate, work, *pages) +
                  estimate.rows * (cpu_index_tuple_cost + work.lookup_cost) +
                  give_up_index_only_scan(path, estimate);
    if (path->indexorderbys != NIL && is_better_sorted(estimate, work))
        give_up_order(path);
    if (path->indexorderbys != NIL)
        add_order(estimate, startup_cost, total_cost);
    // The share of all rows that are read from the table, not of those that pass the recheck.
    *selectivity = estimate.found;
    // If each fingerprint has one row, the rows come in no order of the table: 0.
    *correlation = kForwardCorrelation * (1 - estimate.fingerprints / estimate.rows);
}

} // namespace simhash
