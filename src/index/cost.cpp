// Estimates what an index path costs: the work of the probe plan for the query's radius, in units
// of the planner.
//
// index_cost_estimate(), at the end, goes by these steps: what the path looks for, how many rows it
// finds, how much the searches do for that, and what an order by distance adds.
#include "index/access_method.hpp"

#include "core/bits/ball_size.hpp"
#include "core/layout/lane_radii.hpp"
#include "core/layout/probe_plan.hpp"
#include "index/lanes.hpp"
#include "index/scope.hpp"
#include "index/store/page.hpp"
#include "server/expressions.hpp"
#include "values/hamming_space.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace simhash {
namespace {

constexpr double kCandidateCost = kTypicalProbeCosts.candidate * kPlannerCostOfMicrosecond;

struct Estimate {
    PlannerInfo* root;
    IndexOptInfo* index;
    LaneLayout lanes; // of the first column
    Layout layout;
    double entries;     // distinct fingerprints in the index
    double leaf_pages;  // of one block table
    double random_page; // the cost of reading one in no order

    // What the path looks for.
    List* conditions;        // RestrictInfos of the query that gave them
    ValueRadius radius;      // the smallest of all conditions
    RestrictInfo* null_test; // fp IS NULL
    double searches;         // of a lane: for each element of an array, for each of many hashes
    uint32_t scope_known;    // bit i: column i is compared in rows, or there is a value for it

    // What it finds.
    Selectivity found;   // the share of all rows that the index finds
    double rows;         // the number of these
    double scope_rows;   // those of them that are of the scope
    double fingerprints; // distinct ones among the rows: by chance, and some close ones

    // What the searches do.
    double candidates; // fingerprints that are checked
    double pages;      // leaf pages that are read

    bool finds_all() const { return radius.bits >= lanes.bits; }
    bool leaves_scope_open() const { return std::popcount(scope_known) < index->nkeycolumns - 1; }
    bool computes_lanes() const { return !values_are_lanes(index->opcintype[0]); }
};

// ---- what the path looks for ----

// What the index's operator class says of the lanes of its first column.
LaneLayout lanes_of(const IndexOptInfo* index) {
    auto* column = reinterpret_cast<Node*>(linitial_node(TargetEntry, index->indextlist)->expr);
    int32 typmod = exprTypmod(column);
    Oid type = index->opcintype[0], base = getBaseTypeAndTypmod(exprType(column), &typmod);
    LaneLayout lanes =
        lane_layout(index->opfamily[0], type, class_options(index), base == type ? typmod : -1);
    // An index that only an advisor imagines may be on values of no known length.
    return lanes.count > 0 ? lanes : LaneLayout{1, kAlikeRadius, LaneRule::kSum, kFingerprintBits};
}

Layout layout_of(const IndexOptInfo* info, const LaneLayout& lanes) {
    // An index that only an advisor imagines has no metapage.
    if (info->hypothetical)
        return layout_of_lanes(lanes, nullptr);
    // The planner holds a lock on the index since it opened the table.
    Relation index = index_open(info->indexoid, NoLock);
    Layout layout = cached_layout(index);
    index_close(index, NoLock);
    return layout;
}

// The radius that an operator of the index searches, with this argument of a type.
ValueRadius radius_of_operator(const Estimate& path, int strategy, Oid type, Node* argument) {
    const LaneLayout& lanes = path.lanes;
    if (strategy == kWithinBall)
        return {lanes.rule,
                examine_ball(path.root, argument, lanes.bits, lanes.near_radius).radius};
    if (strategy == kAlike) {
        // A query of another type is taken to be one that the lanes serve.
        bool is_common = lanes.rule == LaneRule::kCommon && type != path.index->opcintype[0];
        return {lanes.rule, is_common ? 0 : lanes.near_radius};
    }
    // Of values that are equal by such a collation the scan looks at every row.
    Oid collation = path.index->indexcollations[0];
    if (strategy == kEqual && OidIsValid(collation) && !get_collation_isdeterministic(collation))
        return {LaneRule::kSum, lanes.bits};
    return {LaneRule::kSum, radius_of_strategy(strategy)};
}

// Adds an index condition: `column operator argument`, `column operator ANY (array)`, or IS NULL.
// Returns false where it narrows no search, and the server compares rows.
bool add_clause(Estimate* path, int column, RestrictInfo* info) {
    Node *clause = reinterpret_cast<Node*>(info->clause), *argument;
    Oid op;
    double searches = 1;
    if (IsA(clause, NullTest)) {
        if (reinterpret_cast<NullTest*>(clause)->nulltesttype != IS_NULL)
            return true;
        if (column == 0)
            path->null_test = info;
        else
            path->scope_known |= uint32_t{1} << column;
        return true;
    }
    if (IsA(clause, OpExpr)) {
        op = reinterpret_cast<OpExpr*>(clause)->opno;
        argument = node_at(reinterpret_cast<OpExpr*>(clause)->args, 1);
    } else if (IsA(clause, ScalarArrayOpExpr)) {
        op = reinterpret_cast<ScalarArrayOpExpr*>(clause)->opno;
        argument = node_at(reinterpret_cast<ScalarArrayOpExpr*>(clause)->args, 1);
        // The executor runs a scan for each element.
        searches = std::max(1.0, array_length(path->root, argument));
    } else {
        return true;
    }
    Oid family = path->index->opfamily[column], left, right;
    int strategy;
    get_op_opfamily_properties(op, family, false, &strategy, &left, &right);
    if (compares_rows(strategy))
        return false;
    path->searches *= searches;
    if (column == 0) {
        ValueRadius radius = radius_of_operator(*path, strategy, right, argument);
        if (radius.bits >= path->radius.bits)
            return true;
        path->radius = radius;
        // Where values have any number of lanes, each one is looked up: as many as a row has.
        if (radius.rule == LaneRule::kCommon)
            path->searches *= std::max(1.0, path->entries / std::max(1.0, path->index->tuples));
    } else if (strategy == kEqual &&
               OidIsValid(get_opfamily_proc(family, right, right, kHashScope))) {
        // read_scope() decides likewise when the scan begins.
        path->scope_known |= uint32_t{1} << column;
    }
    return true;
}

// Takes conditions by <> and && out of the path. They are index conditions only because exclusion
// constraints use these operators. They narrow no search, so they stay the server's filter.
void read_conditions(Estimate* path, IndexPath* of) {
    // No condition: every value is within the greatest distance.
    path->radius = {LaneRule::kSum, path->lanes.bits};
    path->searches = 1;
    path->scope_known = path->layout.compared_columns;
    List* kept = NIL;
    ListCell *cell, *inner;
    foreach (cell, of->indexclauses) {
        auto* clause = lfirst_node(IndexClause, cell);
        bool narrows = true;
        // A condition of the query may have been turned into another one by a support function:
        // indexquals has what the index is asked.
        foreach (inner, clause->indexquals)
            narrows &= add_clause(path, clause->indexcol, lfirst_node(RestrictInfo, inner));
        if (!narrows)
            continue;
        path->conditions = lappend(path->conditions, clause->rinfo);
        kept = lappend(kept, clause);
    }
    of->indexclauses = kept;
    // Without the whole scope no fingerprint can be searched for: the scan reads everything.
    if (path->leaves_scope_open())
        path->radius = {LaneRule::kSum, path->lanes.bits};
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
void give_up_other_order(IndexPath* path, const Estimate& estimate) {
    bool is_other = estimate.leaves_scope_open() ||
                    ((estimate.computes_lanes() || list_length(path->indexorderbys) > 1) &&
                     asks_for_place(path->path.parent));
    ListCell* cell;
    foreach (cell, path->indexorderbycols)
        is_other |= lfirst_int(cell) > 0;
    if (is_other)
        give_up_order(path);
}

// ---- how many rows it finds ----

// The share of all rows that meet the clauses.
Selectivity share_of_clauses(const Estimate& path, List* clauses) {
    return clauselist_selectivity(path.root, add_predicate_to_index_quals(path.index, clauses),
                                  int(path.index->rel->relid), JOIN_INNER, nullptr);
}

// The radius within which a lane is searched, -1 .. 64.
int radius_of_lane(const Estimate& path, int lane) {
    if (path.finds_all())
        return kFingerprintBits;
    return saturate_radius(lane_radius(path.radius, path.layout.lane_count, lane));
}

void estimate_rows(Estimate* path) {
    IndexOptInfo* info = path->index;
    Selectivity matching = share_of_clauses(*path, path->conditions);
    path->scope_rows = clamp_row_est(matching * info->rel->tuples);
    // The expected number of an average row's lanes that are near those of the query by chance.
    double by_chance = 0;
    for (int i = 0; i < path->layout.lane_count && path->null_test == nullptr; i++)
        by_chance += ball_share(path->lanes.bits_of_lane(i), radius_of_lane(*path, i));
    // The index also finds rows of other scopes, and those of which any lane is near. The server
    // drops them. A partial index has only some of the table's rows.
    double indexed = std::min(1.0, info->tuples / std::max(1.0, info->rel->tuples));
    path->found = std::max(matching, indexed * std::min(1.0, path->searches * by_chance));
    // Those without a fingerprint are found together, of all scopes.
    if (path->null_test != nullptr && info->nkeycolumns > 1)
        path->found = share_of_clauses(*path, list_make1(path->null_test));
    path->rows = clamp_row_est(path->found * info->rel->tuples);
    constexpr double kClose = 10;
    path->fingerprints = std::min(path->rows, kClose + path->entries * by_chance);
}

// ---- how much the searches do ----

// A search for every row reads one lane. The lanes after the first have its radius or the next
// smaller one.
void estimate_work(Estimate* path) {
    ProbePlan plan =
        make_probe_plan(path->layout, radius_of_lane(*path, 0), path->entries, kTypicalProbeCosts);
    double count = path->searches * (path->finds_all() ? 1 : path->layout.lane_count);
    path->candidates = count * plan.candidates;
    // Most ranges that a plan looks up are on one leaf each.
    path->pages = count * (plan.read_all ? path->leaf_pages : plan.visits);
    if (path->null_test != nullptr) {
        path->candidates = 0;
        path->pages = 1;
    }
}

// Pages of the index that a search reads: those of its probes, and those of the posting table in
// which its rows are looked up. A search that is repeated in a join finds some of them in memory.
double pages_fetched(const Estimate& path, double loop_count) {
    double pages = path.pages + std::min(path.rows, path.leaf_pages);
    // This is the formula of Mackert and Lohman, which the server uses for repeated scans.
    return index_pages_fetched(pages * loop_count, path.index->pages, path.index->pages,
                               path.root) /
           loop_count;
}

Cost cost_of_searches(const Estimate& path, double pages) {
    return pages * path.random_page + path.candidates * kCandidateCost;
}

// The server charges nothing for comparing a row again that the index has found by its own
// operators. To compare documents costs more than to find them, so it is charged here.
Cost cost_of_recheck(const Estimate& path, List* clauses) {
    if (path.index->nkeycolumns == 1 && !path.computes_lanes())
        return 0;
    QualCost recheck;
    cost_qual_eval(&recheck, get_quals_from_indexclauses(clauses), path.root);
    return recheck.startup + recheck.per_tuple * path.rows;
}

// Pages of the table that hold so many rows, in no order.
Cost cost_of_table_rows(const Estimate& path, double rows) {
    const IndexOptInfo* info = path.index;
    double random_page;
    get_tablespace_page_costs(info->rel->reltablespace, &random_page, nullptr);
    return random_page * index_pages_fetched(rows, info->rel->pages, info->pages, path.root);
}

// The server plans an index-only scan for a query that needs no column, such as count(*), whether
// or not the index can return any. If it cannot, or if the server must compute distances from the
// rows, the path becomes a plain scan here. Returns the cost that the server has left out: an
// index-only scan need not visit rows on pages that are visible to everybody.
Cost give_up_index_only_scan(IndexPath* path, const Estimate& estimate) {
    if (path->path.pathtype != T_IndexOnlyScan ||
        (estimate.index->canreturn[0] && list_length(path->indexorderbys) < 2))
        return 0;
    path->path.pathtype = T_IndexScan;
    return estimate.index->rel->allvisfrac * cost_of_table_rows(estimate, estimate.rows);
}

// ---- what an order by distance adds ----

// Returns how many rows of an order will be read, as far as the planner knows: one where a LIMIT or
// a cursor may end it anywhere, and in a join, of which nobody knows how many rows of each table
// that takes.
double rows_read_in_order(const Estimate& path) {
    if (bms_membership(path.root->all_baserels) != BMS_SINGLETON)
        return 1;
    if (path.root->limit_tuples > 0)
        return std::min(path.scope_rows, path.root->limit_tuples);
    return path.root->tuple_fraction > 0 ? 1 : path.scope_rows;
}

// Where all rows within a radius are read, one search and a sort beat the stages of growing radius,
// unless the sort is of many rows.
bool is_better_sorted(const Estimate& path) {
    double rows = path.scope_rows;
    // The first stage finds everything within the layout's radius.
    if (radius_of_lane(path, 0) <= path.layout.radius || rows_read_in_order(path) < rows ||
        !enable_sort)
        return false;
    // All stages together take about 1.6 times as long as the last one alone.
    constexpr double kOtherStages = 0.6;
    return kOtherStages * cost_of_searches(path, path.pages) >
           2 * cpu_operator_cost * rows * std::log2(rows + 1);
}

void add_order(const Estimate& path, Cost* startup, Cost* total) {
    int trees = path.layout.table_count * path.layout.lane_count;
    *startup += trees * path.random_page * kFirstStages;
    // The server expects no startup cost above the total.
    *total = std::max(*total, *startup);
    // Rows of other scopes come between those of the scope. They cost a pass and the look-ups of
    // their rows until the rows that will be read are found. This is startup cost, as the server
    // spreads the rest evenly over all rows of the order.
    double met = path.rows * rows_read_in_order(path) / path.scope_rows;
    if (path.index->nkeycolumns > 1 && met > kPassMatches) {
        Cost others = path.entries * kCandidateCost + path.leaf_pages * path.random_page +
                      cost_of_table_rows(path, met) + met * cpu_tuple_cost;
        *startup += others;
        *total += others;
    }
}

} // namespace

void index_cost_estimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup_cost,
                         Cost* total_cost, Selectivity* selectivity, double* correlation,
                         double* pages) {
    IndexOptInfo* info = path->indexinfo;
    Estimate estimate = {};
    estimate.root = root;
    estimate.index = info;
    estimate.lanes = lanes_of(info);
    estimate.layout = layout_of(info, estimate.lanes);
    estimate.entries = estimated_entries(estimate.layout, info->pages);
    // All trees of an index are about the same size; the pages above the leaves are few.
    estimate.leaf_pages = std::max(
        1.0, double(info->pages) / (estimate.layout.table_count * estimate.layout.lane_count));
    get_tablespace_page_costs(info->reltablespace, &estimate.random_page, nullptr);
    read_conditions(&estimate, path);
    give_up_other_order(path, estimate);
    estimate_rows(&estimate);
    estimate_work(&estimate);

    *pages = pages_fetched(estimate, loop_count);
    *startup_cost = 0;
    *total_cost = cost_of_recheck(estimate, path->indexclauses) +
                  cost_of_searches(estimate, *pages) + estimate.rows * cpu_index_tuple_cost +
                  give_up_index_only_scan(path, estimate);
    if (path->indexorderbys != NIL && is_better_sorted(estimate))
        give_up_order(path);
    if (path->indexorderbys != NIL)
        add_order(estimate, startup_cost, total_cost);
    // The share of all rows that are read from the table, not of those that pass the recheck.
    *selectivity = estimate.found;
    // Rows of one fingerprint, and null rows, come in the order of their places in the table: the
    // heap is read forward, with gaps. The planner's scale of correlation does not know that. This
    // value makes it charge about as much as for every second to tenth page of a large table. If
    // each fingerprint has one row, the rows come in no order of the table: 0.
    constexpr double kForwardCorrelation = 0.92;
    *correlation = kForwardCorrelation * (1 - estimate.fingerprints / estimate.rows);
}

} // namespace simhash
