// What an index path costs: the probe plan of the query's radius, priced.
#include "core/bits/ball_size.hpp"
#include "index/access_method.hpp"
#include "index/store/page.hpp"
#include "planner/planner.hpp"
#include "planner/selectivity.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace simhash {

namespace {

// In units of the planner, of which a row's cpu_tuple_cost of 0.01 takes about 0.1 µs: finding a
// range takes about 1 µs, checking a candidate a few ns.
constexpr double kVisitCost = 0.1;
constexpr double kCandidateCost = 0.0003;
// A matching row is looked up in the posting table, rows of one fingerprint together.
constexpr double kLookupCost = 0.03;
// Of a scan ordered by distance: stages before the first row, and distances that occur.
constexpr double kStages = 3;
constexpr double kLevels = 40;

Layout layout_of(const IndexOptInfo* info) {
    if (info->hypothetical)
        return default_layout();
    Relation index = index_open(info->indexoid, NoLock);
    Layout layout = index_cache(index)->layout;
    index_close(index, NoLock);
    return layout;
}

// The radius that an operator of the index searches, with this argument.
int radius_of_operator(PlannerInfo* root, const IndexOptInfo* index, Oid op, Node* argument) {
    int strategy = get_op_opfamily_strategy(op, index->opfamily[0]);
    return strategy == kWithinBall ? examine_ball(root, argument).radius
                                   : radius_of_strategy(strategy);
}

// Leaf pages that the plan's probes read. The slices of a range lie the closer together the later
// the bit that they differ in: on the range's leaves if these are few, else on their logarithm.
double pages_of_probes(const ProbePlan& plan, double entries) {
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

struct PathQuals {
    List* clauses = NIL;             // RestrictInfos of the index qualifications
    List* fingerprint_clauses = NIL; // those of them that are not of the scope
    int radius = kFingerprintBits;
    bool nulls_only = false;
    double searches = 1;              // of the index, one for each element of an array
    Bitmapset* scope_known = nullptr; // columns of the scope for which there is a value

    bool leaves_scope_open(const IndexOptInfo* index) const {
        return bms_num_members(scope_known) < index->nkeycolumns - 1;
    }
};

// Whether `column operator value` tells a column of the scope, as ScopeReader does.
bool tells_scope(Oid opfamily, Oid op) {
    int strategy;
    Oid left, right;
    get_op_opfamily_properties(op, opfamily, false, &strategy, &left, &right);
    return strategy == kEqual && OidIsValid(get_opfamily_proc(opfamily, right, right, kHashScope));
}

// What a clause, `column operator argument` or `column operator ANY (array)`, adds.
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
        quals->searches *=
            std::max(1.0, array_length(root, static_cast<Node*>(lsecond(arguments))));
    } else {
        return;
    }
    auto* argument = static_cast<Node*>(lsecond(arguments));
    if (column == 0)
        quals->radius = std::min(quals->radius, radius_of_operator(root, index, op, argument));
    else if (tells_scope(index->opfamily[column], op))
        quals->scope_known = bms_add_member(quals->scope_known, column);
}

void add_clause(PlannerInfo* root, const IndexOptInfo* index, int column, Expr* clause,
                PathQuals* quals) {
    if (!IsA(clause, NullTest)) {
        add_operator(root, index, column, clause, quals);
    } else if (reinterpret_cast<NullTest*>(clause)->nulltesttype == IS_NULL) {
        if (column == 0)
            quals->nulls_only = true;
        else
            quals->scope_known = bms_add_member(quals->scope_known, column);
    }
}

PathQuals quals_of_path(PlannerInfo* root, IndexPath* path) {
    PathQuals quals;
    ListCell* cell;
    foreach (cell, path->indexclauses) {
        auto* clause = lfirst_node(IndexClause, cell);
        ListCell* inner;
        foreach (inner, clause->indexquals) {
            auto* info = lfirst_node(RestrictInfo, inner);
            quals.clauses = lappend(quals.clauses, info);
            if (clause->indexcol == 0)
                quals.fingerprint_clauses = lappend(quals.fingerprint_clauses, info);
            add_clause(root, path->indexinfo, clause->indexcol, info->clause, &quals);
        }
    }
    if (quals.leaves_scope_open(path->indexinfo))
        quals.radius = kFingerprintBits;
    return quals;
}

// Of all rows, those that meet the clauses.
Selectivity share_of_clauses(PlannerInfo* root, IndexOptInfo* info, List* clauses) {
    return clauselist_selectivity(root, add_predicate_to_index_quals(info, clauses),
                                  int(info->rel->relid), JOIN_INNER, nullptr);
}

// Of all rows, those that the index finds. Rows of other scopes are among them, and are dropped when
// the table's row has been looked at: such as lie in the ball by chance, of those that are in the
// index at all, and all that have no fingerprint.
Selectivity share_found(PlannerInfo* root, IndexOptInfo* info, const PathQuals& quals,
                        Selectivity matching) {
    if (info->nkeycolumns == 1)
        return matching;
    if (quals.nulls_only)
        return share_of_clauses(root, info, quals.fingerprint_clauses);
    double indexed = std::min(1.0, info->tuples / std::max(1.0, info->rel->tuples));
    double others = quals.searches * ball_share(quals.radius) * indexed;
    return std::max(matching, std::min(indexed, matching + others));
}

// The index orders rows within one scope, by the fingerprint's distances alone. A path that is meant
// for another order, as of a bigint of the scope, becomes one without.
void give_up_other_order(IndexPath* path, const PathQuals& quals) {
    bool is_other = quals.leaves_scope_open(path->indexinfo);
    ListCell* cell;
    foreach (cell, path->indexorderbycols)
        is_other |= lfirst_int(cell) > 0;
    if (is_other)
        path->path.pathkeys = path->indexorderbys = path->indexorderbycols = NIL;
}

// The server plans an index-only scan for a query that needs no column, as count(*), whether or not
// the index can return any. Where it cannot, the path becomes a plain scan. What that costs beside
// what the server charges: rows on pages whose rows all are visible to everybody.
Cost give_up_index_only_scan(PlannerInfo* root, IndexPath* path, double rows) {
    const IndexOptInfo* info = path->indexinfo;
    if (path->path.pathtype != T_IndexOnlyScan || info->canreturn[0])
        return 0;
    path->path.pathtype = T_IndexScan;
    double table_random;
    get_tablespace_page_costs(info->rel->reltablespace, &table_random, nullptr);
    return info->rel->allvisfrac * table_random *
           index_pages_fetched(rows, info->rel->pages, info->pages, root);
}

// Rows of one fingerprint, and null rows, come in the order of their places in the table: the heap
// is read forward, if not page after page. The planner's scale of correlation has no word for that;
// this value makes it charge about what reading every second to tenth page of a large table takes.
constexpr double kForwardCorrelation = 0.92;
constexpr double kFewFingerprints = 10; // near-duplicates to be expected in any ball

// Distinct fingerprints among the rows that are found: by chance, and near-duplicates.
double expected_fingerprints(double entries, int radius, double rows) {
    return std::min(rows, kFewFingerprints + entries * ball_share(radius));
}

// How many rows of an order are read, as far as it is known.
double rows_read_in_order(PlannerInfo* root, double rows) {
    bool is_alone = bms_membership(root->all_baserels) == BMS_SINGLETON;
    return std::min(rows, is_alone && root->limit_tuples > 0 ? root->limit_tuples : 1.0);
}

// In order of distance from a fingerprint, rows of other scopes come among those of the scope. What
// it costs until the rows are there that are read: passes over the posting table, and the rows of
// the table that turn out to be of another scope. The server would spread that evenly over all rows
// of the order, as if the first had nothing to wait for.
double cost_of_other_scopes(PlannerInfo* root, const IndexOptInfo* info, double rows,
                            double scope_rows, double entries, double leaf_pages) {
    double met = rows * rows_read_in_order(root, scope_rows) / scope_rows;
    if (met <= kPassMatches)
        return 0; // the order's first stages
    double table_random, index_sequential;
    get_tablespace_page_costs(info->rel->reltablespace, &table_random, nullptr);
    get_tablespace_page_costs(info->reltablespace, nullptr, &index_sequential);
    double passes = 1 + std::log(met / kPassMatches) / std::log(kPassGrowth);
    double table_pages = index_pages_fetched(met, info->rel->pages, info->pages, root);
    return passes * (entries * kCandidateCost + leaf_pages * index_sequential) +
           table_pages * table_random + met * (kLookupCost + cpu_tuple_cost);
}

} // namespace

void index_cost_estimate(PlannerInfo* root, IndexPath* path, double loop_count, Cost* startup_cost,
                         Cost* total_cost, Selectivity* selectivity, double* correlation,
                         double* pages) {
    IndexOptInfo* info = path->indexinfo;
    Layout layout = layout_of(info);

    PathQuals quals = quals_of_path(root, path);
    give_up_other_order(path, quals);
    Selectivity matching = share_of_clauses(root, info, quals.clauses);
    double scope_rows = clamp_row_est(matching * info->rel->tuples);
    *selectivity = share_found(root, info, quals, matching);
    double rows = clamp_row_est(*selectivity * info->rel->tuples);
    double entries = estimated_entries(layout, info->pages);
    double fingerprints = expected_fingerprints(quals.nulls_only ? 0 : entries, quals.radius, rows);
    double leaf_pages = std::max(1.0, info->pages / double(layout.table_count));
    ProbePlan plan = make_probe_plan(layout, quals.radius, entries, kTypicalProbeCosts);

    double visits = plan.visits, probed_pages = leaf_pages;
    double candidates = plan.candidates + plan.slices * kCandidatesOfSlice;
    if (!plan.read_all)
        probed_pages = pages_of_probes(plan, entries);
    visits *= quals.searches;
    candidates *= quals.searches;
    probed_pages *= quals.searches;
    if (quals.nulls_only) {
        visits = 1;
        candidates = 0;
        probed_pages = 1;
    }
    double matched_pages = std::min(rows, leaf_pages);
    double fetched = index_pages_fetched((probed_pages + matched_pages) * loop_count, info->pages,
                                         info->pages, root) /
                     loop_count;
    double spc_random, spc_sequential;
    get_tablespace_page_costs(info->reltablespace, &spc_random, &spc_sequential);
    double page_cost =
        plan.read_all && !quals.nulls_only ? (spc_random + spc_sequential) / 2 : spc_random;

    *startup_cost = kVisitCost;
    *total_cost = fetched * page_cost + visits * kVisitCost + candidates * kCandidateCost +
                  rows * (cpu_index_tuple_cost + (plan.read_all ? 0 : kLookupCost)) +
                  give_up_index_only_scan(root, path, rows);
    if (path->indexorderbys != NIL) {
        // The first neighbours cost a few stages; all of them, a pass over the posting table per
        // distance, unless a ball leaves few.
        *startup_cost += layout.table_count * (kVisitCost + spc_random) * kStages;
        *startup_cost = std::min(*startup_cost, *total_cost);
        double levels = std::min(double(quals.radius + 1), kLevels);
        if (fingerprints > entries * kFewMatches)
            *total_cost += levels * (entries * kCandidateCost + leaf_pages * spc_sequential);
        if (info->nkeycolumns > 1) {
            double others = cost_of_other_scopes(root, info, rows, scope_rows, entries, leaf_pages);
            *startup_cost += others;
            *total_cost += others;
        }
    }
    *correlation = kForwardCorrelation * (1 - fingerprints / rows);
    *pages = fetched;
}

} // namespace simhash
