// Estimates how many rows simhash_pairs, simhash_join, near_duplicate_pairs, near_duplicate_groups
// and their relatives return. The planner asks when one of these functions stands in FROM, and
// assumes 1000 rows if it gets no answer.
//
// The number of pairs depends on the number of fingerprints, or of documents. This file finds that
// number where they come from:
//
//   simhash_pairs_of('SELECT fp FROM docs')               the query is planned; its rows
//   simhash_pairs((SELECT array_agg(fp) FROM docs))       an InitPlan; the rows below its aggregate
//   simhash_pairs(ARRAY(SELECT fp FROM docs))             an InitPlan; its rows
//   simhash_pairs('{1,2,3}')                              a constant; its length
//   near_duplicate_pairs('SELECT id, body FROM docs')     the query is planned; its rows
//
// It cannot help unnest((SELECT simhash_pairs_agg(fp) FROM docs)): the server asks unnest's own
// support function, which assumes ten elements if it does not know the array.
#include "server/pg.hpp"

#include <optional>

#include "core/bits/ball.hpp"
#include "server/expressions.hpp"
#include "values/selectivity.hpp"

using namespace simhash;

namespace {

// ---- rows of a plan ----

// Returns the rows that the aggregate reads if the plan ends in one, else the rows that the plan
// returns. The aggregation may be split between workers, below a Gather.
double rows_collected(const Plan* plan) {
    double processes = 1;
    while (plan->lefttree != nullptr &&
           (IsA(plan, Agg) || (IsA(plan, Gather) && IsA(plan->lefttree, Agg)))) {
        // The rows below a Gather are those of one process.
        if (IsA(plan, Gather))
            processes = reinterpret_cast<const Gather*>(plan)->num_workers + 1;
        plan = plan->lefttree;
    }
    return plan->plan_rows * processes;
}

// Returns the plan of the subquery that runs once and sets the parameter, or nullptr.
const Plan* plan_of_parameter(PlannerInfo* root, const Param* parameter) {
    // A parameter that the user gives is no subquery.
    if (parameter->paramkind != PARAM_EXEC)
        return nullptr;
    ListCell* cell;
    foreach (cell, root->init_plans) {
        auto* subquery = static_cast<SubPlan*>(lfirst(cell));
        if (list_member_int(subquery->setParam, parameter->paramid))
            return static_cast<Plan*>(list_nth(root->glob->subplans, subquery->plan_id - 1));
    }
    return nullptr;
}

std::optional<double> array_fingerprints(PlannerInfo* root, Node* array) {
    Node* value = estimate_expression_value(root, array);
    if (is_null_constant(value))
        return 0;
    if (!IsA(value, Param))
        return array_length(root, value);
    const Plan* plan = plan_of_parameter(root, reinterpret_cast<Param*>(value));
    if (plan == nullptr)
        return std::nullopt;
    return rows_collected(plan);
}

// ---- rows of a query that is given as a text ----

// Plans the query. Raises an error if it cannot be planned. Gives no answer to a user who may not
// run it: EXPLAIN would show what the statistics know of tables that others may read.
std::optional<double> planned_rows(const char* query) {
    std::optional<double> rows;
    SPI_connect();
    SPIPlanPtr prepared = SPI_prepare(query, 0, nullptr);
    if (prepared != nullptr) {
        // Null unless the text is one statement.
        if (CachedPlan* plan = SPI_plan_get_cached_plan(prepared)) {
            if (list_length(plan->stmt_list) == 1) {
                auto* statement = static_cast<PlannedStmt*>(linitial(plan->stmt_list));
                if (statement->commandType == CMD_SELECT && may_run(statement))
                    rows = statement->planTree->plan_rows;
            }
            ReleaseCachedPlan(plan, nullptr);
        }
    }
    SPI_finish();
    return rows;
}

// True while a query is planned for its rows. Queries inside it as texts are not planned: a
// function may return the query that calls it, and their number would grow without end.
bool is_planning = false;

// True for an error that tells of the query, which the function itself will raise. Any other one
// ends the statement now: to plan on would wait for the same lock again.
bool is_about_query(int sqlstate) {
    switch (sqlstate) {
    case ERRCODE_QUERY_CANCELED:
    case ERRCODE_LOCK_NOT_AVAILABLE:
    case ERRCODE_T_R_DEADLOCK_DETECTED:
    case ERRCODE_T_R_SERIALIZATION_FAILURE:
        return false;
    default:
        return ERRCODE_TO_CATEGORY(sqlstate) != ERRCODE_INSUFFICIENT_RESOURCES;
    }
}

// Does the same for a query that may be wrong. Its table may be created before the function is
// called, so an error while planning counts as no answer.
//
// A subtransaction catches the errors. Beside parallel workers nobody can begin one. It is READ
// ONLY, as the query is when it runs, and always rolled back: the planner calls functions that are
// declared to change nothing, and their locks, settings and messages end here, whatever they do.
std::optional<double> rows_if_valid(const char* query) {
    if (is_planning || IsInParallelMode())
        return std::nullopt;
    // They are volatile, because PG_CATCH comes back by longjmp.
    double volatile rows = -1; // no answer
    ErrorData* volatile error = nullptr;
    MemoryContext context = CurrentMemoryContext;
    ResourceOwner owner = CurrentResourceOwner;
    BeginInternalSubTransaction(nullptr);
    XactReadOnly = true; // until the subtransaction ends
    is_planning = true;
    PG_TRY();
    {
        if (std::optional<double> planned = planned_rows(query))
            rows = *planned;
    }
    PG_CATCH();
    {
        is_planning = false; // at once: to copy the error may fail
        MemoryContextSwitchTo(context);
        error = CopyErrorData();
        FlushErrorState();
    }
    PG_END_TRY();
    is_planning = false;
    // Locks, snapshots and plans of the attempt go with it.
    RollbackAndReleaseCurrentSubTransaction();
    MemoryContextSwitchTo(context);
    CurrentResourceOwner = owner;
    if (error != nullptr) {
        if (!is_about_query(error->sqlerrcode))
            ReThrowError(error);
        FreeErrorData(error);
    }
    return rows < 0 ? std::nullopt : std::optional<double>(rows);
}

std::optional<double> rows_of_query(PlannerInfo* root, Node* query) {
    Node* value = estimate_expression_value(root, query);
    if (is_null_constant(value))
        return 0;
    if (!IsA(value, Const))
        return std::nullopt;
    char* words = TextDatumGetCString(reinterpret_cast<Const*>(value)->constvalue);
    std::optional<double> rows = rows_if_valid(words);
    pfree(words);
    return rows;
}

// ---- the estimate ----

std::optional<double> fingerprints_of(PlannerInfo* root, Node* argument) {
    if (exprType(argument) == TEXTOID)
        return rows_of_query(root, argument);
    if (exprType(argument) == get_array_type(INT8OID) ||
        exprType(argument) == get_array_type(BITOID))
        return array_fingerprints(root, argument);
    return std::nullopt;
}

// The radius is unknown if it is a parameter. NULL gives no rows.
std::optional<int> known_radius(PlannerInfo* root, Node* argument) {
    Node* value = estimate_expression_value(root, argument);
    if (is_null_constant(value))
        return std::nullopt;
    if (!IsA(value, Const) || reinterpret_cast<Const*>(value)->consttype != INT4OID)
        return kCloseRadius;
    return saturate_radius(DatumGetInt32(reinterpret_cast<Const*>(value)->constvalue));
}

// Those of the function call that the question is about, or none.
List* arguments_of(SupportRequestRows* request) {
    if (request->root == nullptr || request->node == nullptr || !IsA(request->node, FuncExpr))
        return NIL;
    return reinterpret_cast<FuncExpr*>(request->node)->args;
}

// The pairs of one set of fingerprints or of two, which are the first arguments.
Node* answer_pairs(SupportRequestRows* request, List* arguments, int sets,
                   std::optional<int> radius) {
    double fingerprints[2] = {};
    for (int i = 0; i < sets; i++) {
        std::optional<double> found =
            fingerprints_of(request->root, static_cast<Node*>(list_nth(arguments, i)));
        if (!found)
            return nullptr;
        fingerprints[i] = *found;
    }
    request->rows = !radius || *radius < 0 ? 0
                    : sets == 1            ? expected_pairs(fingerprints[0], *radius)
                                : expected_join_pairs(fingerprints[0], fingerprints[1], *radius);
    return reinterpret_cast<Node*>(request);
}

// The arguments: one set of fingerprints or two, and the radius.
Node* estimate_pairs(SupportRequestRows* request) {
    List* arguments = arguments_of(request);
    int sets = list_length(arguments) - 1;
    if (sets != 1 && sets != 2)
        return nullptr;
    auto* radius = static_cast<Node*>(llast(arguments));
    return answer_pairs(request, arguments, sets, known_radius(request->root, radius));
}

// The same of codes, where the radius may be left out. As many pairs as of fingerprints that are
// searched within the usual radius: wide codes within theirs have as few strangers.
Node* estimate_code_pairs(SupportRequestRows* request) {
    List* arguments = arguments_of(request);
    int count = list_length(arguments);
    if (count == 0)
        return nullptr;
    auto* last = static_cast<Node*>(llast(arguments));
    bool has_radius = exprType(last) == INT4OID;
    int sets = count - int(has_radius);
    if (sets != 1 && sets != 2)
        return nullptr;
    std::optional<int> radius = kCloseRadius;
    if (has_radius && is_null_constant(estimate_expression_value(request->root, last)))
        radius = std::nullopt;
    return answer_pairs(request, arguments, sets, radius);
}

// The number of documents of near_duplicate_pairs(query, similarity [, id_type]) or of its
// relative. NULL as a query or a similarity gives no rows.
std::optional<double> documents_of(SupportRequestRows* request) {
    List* arguments = arguments_of(request);
    if (arguments == NIL)
        return std::nullopt;
    auto* similarity = static_cast<Node*>(lsecond(arguments));
    if (is_null_constant(estimate_expression_value(request->root, similarity)))
        return 0;
    return rows_of_query(request->root, static_cast<Node*>(linitial(arguments)));
}

Node* answer_rows(SupportRequestRows* request, std::optional<double> rows) {
    if (!rows)
        return nullptr;
    request->rows = *rows;
    return reinterpret_cast<Node*>(request);
}

// As many pairs as of fingerprints that are searched within the usual radius. A greater radius,
// which a lower similarity has, would add strangers to these, and the documents are compared.
Node* estimate_near_duplicate_pairs(SupportRequestRows* request) {
    std::optional<double> documents = documents_of(request);
    if (documents)
        documents = expected_pairs(*documents, kCloseRadius);
    return answer_rows(request, documents);
}

// One row for each document.
Node* estimate_near_duplicate_groups(SupportRequestRows* request) {
    return answer_rows(request, documents_of(request));
}

// The support function's answer to a question of the planner, if it is about rows.
template <Node* (*estimate)(SupportRequestRows*)>
Datum answer(FunctionCallInfo fcinfo) {
    auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    Node* answer = nullptr;
    if (IsA(request, SupportRequestRows))
        answer = estimate(reinterpret_cast<SupportRequestRows*>(request));
    PG_RETURN_POINTER(answer);
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_pairs_support);
PG_FUNCTION_INFO_V1(simhash_bit_pairs_support);
PG_FUNCTION_INFO_V1(simhash_near_duplicate_pairs_support);
PG_FUNCTION_INFO_V1(simhash_near_duplicate_groups_support);

Datum simhash_pairs_support(PG_FUNCTION_ARGS) {
    return answer<estimate_pairs>(fcinfo);
}

Datum simhash_bit_pairs_support(PG_FUNCTION_ARGS) {
    return answer<estimate_code_pairs>(fcinfo);
}

Datum simhash_near_duplicate_pairs_support(PG_FUNCTION_ARGS) {
    return answer<estimate_near_duplicate_pairs>(fcinfo);
}

Datum simhash_near_duplicate_groups_support(PG_FUNCTION_ARGS) {
    return answer<estimate_near_duplicate_groups>(fcinfo);
}
}
