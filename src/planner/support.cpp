// The planner's questions to our functions: the support functions of hamming(), hamming_within(),
// near_duplicate(), shares_passage(), and of =~~ and &~~ of texts. README.md beside this file says
// how a query comes to use the index. It is searched for
//
//   hamming_within(fp, $1, 3)        by  fp <@ hamming_ball($1, 3)
//   hamming_within(code, $1, 31)     by  code <@ bit_ball($1, 31)
//   near_duplicate(body, $1)         by  body =~~ $1
//   near_duplicate(body, $1, .9)     by  body <@~~ bit_ball(minhash_code($1), 7)
//   shares_passage(body, $1)         by  body &~~ $1
//   shares_passage(body, $1, 20)     by  body &~~ passage_query($1, 20)
//
// The ball around a text finds more than the near-duplicates, so the server calls the function on
// the rows found. An index on passages is made for some number of words, and serves as many or
// more. Of several that serve, the one for the most words has the fewest hashes, and costs least.
#include "planner/planner.hpp"

#include "core/text/document_lanes.hpp"
#include "index/lanes.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"
#include "values/hamming_space.hpp"
#include "values/objects.hpp"
#include "values/text/passages.hpp"

#include <algorithm>
#include <utility>

using namespace simhash;

namespace {

const Const* similarity_constant(const Node* node) { return constant_of_type(node, FLOAT8OID); }

// ---- distances ----

// The number of a column of one table in the query itself; 0 for any other expression.
AttrNumber column_number(const Node* side, int* table) {
    // A cast from bit varying to bit does not change the bytes.
    while (IsA(side, RelabelType))
        side = reinterpret_cast<const Node*>(reinterpret_cast<const RelabelType*>(side)->arg);
    auto* column = reinterpret_cast<const Var*>(side);
    if (!IsA(side, Var) || column->varlevelsup > 0)
        return 0;
    *table = column->varno;
    return column->varattno;
}

// Whether the sides of a distance change places. The server compares expressions as they stand, so
// an index or statistics on (fp <~> 5) and (a <~> b) serve 5 <~> fp and b <~> a, too.
bool is_turned_round(Node* left, Node* right) {
    if (!contain_var_clause(left))
        return contain_var_clause(right);
    int left_table = 0, right_table = 0;
    AttrNumber a = column_number(left, &left_table), b = column_number(right, &right_table);
    return a != 0 && b != 0 && left_table == right_table && a > b;
}

// The distance a <~> b of two arguments, where the family has the operator whose function is
// hamming; else null.
Node* make_distance(const DistanceFamily& family, Oid hamming, Node* left, Node* right) {
    Oid op = distance_operator(family, hamming);
    if (!OidIsValid(op))
        return nullptr;
    if (is_turned_round(left, right))
        std::swap(left, right);
    auto* distance = reinterpret_cast<OpExpr*>(
        make_opclause(op, INT4OID, false, reinterpret_cast<Expr*>(left),
                      reinterpret_cast<Expr*>(right), InvalidOid, InvalidOid));
    // make_opclause() leaves the function open.
    distance->opfuncid = hamming;
    return reinterpret_cast<Node*>(distance);
}

// ---- index conditions ----

// A call, or an operator, of which the planner asks how an index serves it.
struct IndexedCondition {
    Node* column; // of the index
    Node* query;
    Node* third; // argument: a radius, a similarity or a number of words; null where there is none
};

// Takes the condition of a request apart. Returns false where the index does not serve it, whatever
// the predicate is: where its column is of the scope, where the arguments depend on the table that
// is scanned, and where the user may not call the function.
bool take_apart(SupportRequestIndexCondition* request, IndexedCondition* condition) {
    List* arguments = NIL;
    if (is_funcclause(request->node))
        arguments = reinterpret_cast<FuncExpr*>(request->node)->args;
    else if (IsA(request->node, OpExpr))
        arguments = reinterpret_cast<OpExpr*>(request->node)->args;
    int count = list_length(arguments);
    // An index column after the first is of the scope. The third argument is none to index.
    if ((count != 2 && count != 3) || request->indexarg > 1 || request->indexcol > 0)
        return false;
    condition->column = node_at(arguments, request->indexarg);
    condition->query = node_at(arguments, 1 - request->indexarg);
    condition->third = count == 3 ? node_at(arguments, 2) : nullptr;
    // They must not depend on the table that is scanned, and not be volatile: the index needs them
    // before the scan begins.
    for (Node* argument : {condition->query, condition->third})
        if (argument != nullptr &&
            !is_pseudo_constant_for_index(request->root, argument, request->index))
            return false;
    // Another user may not be allowed to call these functions, and must not get this plan.
    request->root->glob->dependsOnRole = true;
    // Nor may this user see by the index what the function would refuse.
    return may_call(request->funcid);
}

// The answer `column op argument`, with the operator of the index for a strategy; none where its
// function is not this one of ours, or the user may not call it. If it is lossy, the server also
// checks the rows with the condition as it was.
List* make_condition(SupportRequestIndexCondition* request, int strategy, const OurFunction& ours,
                     Node* column, Node* argument, bool is_lossy) {
    Oid op = get_opfamily_member(request->opfamily, request->index->opcintype[request->indexcol],
                                 exprType(argument), int16(strategy));
    Oid function = OidIsValid(op) ? get_opcode(op) : InvalidOid;
    if (!is_our_function(function, ours) || !may_call(function))
        return NIL;
    Expr* condition = make_opclause(op, BOOLOID, false, reinterpret_cast<Expr*>(column),
                                    reinterpret_cast<Expr*>(argument), InvalidOid,
                                    request->index->indexcollations[request->indexcol]);
    set_opfuncid(reinterpret_cast<OpExpr*>(condition));
    request->lossy = is_lossy;
    return list_make1(condition);
}

List* within_condition(SupportRequestIndexCondition* request) {
    const DistanceFamily* family = family_of(request->funcid, &DistanceFamily::within);
    IndexedCondition condition;
    if (family == nullptr || !take_apart(request, &condition) || condition.third == nullptr)
        return NIL;
    Node* ball = call_sibling(request->root, request->funcid, family->ball_make,
                              list_make2(condition.query, condition.third));
    if (ball == nullptr)
        return NIL;
    return make_condition(request, kWithinBall, family->ball_contained, condition.column, ball,
                          false);
}

// A similarity that is known to be out of range is left to the function, which raises an error for
// the first row: planning it would raise one even where there is no row.
bool is_possible_similarity(const Node* node) {
    const Const* similarity = similarity_constant(node);
    double value = similarity != nullptr ? DatumGetFloat8(similarity->constvalue) : 0;
    return value >= 0 && value <= 1;
}

// bit_ball(minhash_code(query), minhash_radius(similarity)), by the functions beside that of the
// condition; null where one of them is missing.
Node* ball_around(PlannerInfo* root, Oid beside, Node* query, Node* similarity) {
    // The lanes of the shingles that near_duplicate() compares: the defaults of minhash_code().
    Const* words =
        makeConst(TEXTOID, -1, InvalidOid, -1, CStringGetTextDatum("words"), false, false);
    Node* center =
        call_sibling(root, beside, kMinhashCodeText,
                     list_make4(query, make_integer_constant(kLanesOfDocument * kFingerprintBits),
                                words, make_integer_constant(3)));
    Node* radius = call_sibling(root, beside, kMinhashRadius,
                                list_make2(similarity, make_float_constant(kLaneRecall)));
    if (radius == nullptr)
        return nullptr;
    auto* bits = makeFuncExpr(F_INT8_INT4, INT8OID, list_make1(radius), InvalidOid, InvalidOid,
                              COERCE_EXPLICIT_CALL);
    return call_sibling(root, beside, kCodes.ball_make, list_make2(center, bits));
}

// The words for which an index on passages is made; of an index by other hashes, more than a query
// has.
int words_of_index(const SupportRequestIndexCondition* request) {
    Oid type = request->index->opcintype[0];
    Oid options = get_opfamily_proc(request->opfamily, type, type, kOptions);
    // A database that has not updated the extension has no function for options.
    if (!OidIsValid(options))
        return kPassageWords;
    return is_our_function(options, kPassageOptions)
               ? words_of_options(class_options(request->index))
               : INT_MAX;
}

List* passage_condition(SupportRequestIndexCondition* request) {
    IndexedCondition condition;
    if (!take_apart(request, &condition))
        return NIL;
    // &~~ has no number of words. One that is not known may be any.
    int words = kPassageWords;
    if (condition.third != nullptr) {
        const Const* known = constant_of_type(condition.third, INT4OID);
        words = known != nullptr ? DatumGetInt32(known->constvalue) : 0;
    }
    // Fewer words may be in common without a hash.
    if (words < words_of_index(request))
        return NIL;
    if (words == kPassageWords)
        return make_condition(request, kAlike, kPassageShared, condition.column, condition.query,
                              false);
    Node* query = call_sibling(request->root, request->funcid, kPassageQuery,
                               list_make2(condition.query, condition.third));
    if (query != nullptr)
        return make_condition(request, kAlike, kPassageQueryShared, condition.column, query, false);
    // A database that has not updated the extension has no such query. Texts that share more words
    // than &~~ asks for meet &~~, too.
    if (words < kPassageWords)
        return NIL;
    return make_condition(request, kAlike, kPassageShared, condition.column, condition.query, true);
}

List* document_condition(SupportRequestIndexCondition* request) {
    if (is_our_function(request->funcid, kPassageShared) ||
        is_our_function(request->funcid, kSharesPassage))
        return passage_condition(request);
    IndexedCondition condition;
    if (!take_apart(request, &condition))
        return NIL;
    Node *column = condition.column, *query = condition.query, *third = condition.third;
    // =~~ has no similarity. Where this one is that of =~~, the operator of the index says all.
    const Const* known = third != nullptr ? similarity_constant(third) : nullptr;
    if (third == nullptr ||
        (known != nullptr && DatumGetFloat8(known->constvalue) == kAlikeSimilarity))
        return make_condition(request, kAlike, kDocumentsAlike, column, query, false);
    if (!is_possible_similarity(third))
        return NIL;
    Node* ball = ball_around(request->root, request->funcid, query, third);
    if (ball == nullptr)
        return NIL;
    return make_condition(request, kWithinBall, kDocumentInBall, column, ball, true);
}

// ---- estimates ----

// The radius of the narrowest predicate of the query that is about the same distance and wider than
// `radius`, or is the same and comes before; kNoRadius where there is none.
int wider_radius(const SupportRequestSelectivity& request, int radius) {
    Node *left = node_at(request.args, 0), *right = node_at(request.args, 1);
    int wider = kNoRadius, table = -1;
    Relids tables = pull_varnos(request.root, reinterpret_cast<Node*>(request.args));
    while ((table = bms_next_member(tables, table)) >= 0) {
        // Only a table that is part of the query has conditions.
        const RelOptInfo* relation = request.root->simple_rel_array[table];
        if (relation == nullptr)
            continue;
        bool is_repeated = false;
        ListCell* cell;
        foreach (cell, list_concat_copy(relation->baserestrictinfo, relation->joininfo)) {
            auto* clause = reinterpret_cast<FuncExpr*>(lfirst_node(RestrictInfo, cell)->clause);
            if (!IsA(clause, FuncExpr) || clause->funcid != request.funcid ||
                !equal(linitial(clause->args), left) || !equal(lsecond(clause->args), right))
                continue;
            // Of predicates that are the same the first counts, and the others find all its rows.
            if (clause->args == request.args && is_repeated)
                wider = radius;
            const Const* limit = bigint_constant(node_at(clause->args, 2));
            if (limit == nullptr)
                continue;
            is_repeated |= equal(limit, lthird(request.args));
            int other = space_of(left, right).saturate(DatumGetInt64(limit->constvalue));
            // Beyond the greatest distance a wider one holds the same rows.
            if (DatumGetInt64(limit->constvalue) > radius && (wider == kNoRadius || other < wider))
                wider = other;
        }
    }
    return wider;
}

// The distance of a predicate about two columns of one row, if there are statistics of it: by
// CREATE STATISTICS or an index on the expression. Else null.
Node* distance_with_statistics(const SupportRequestSelectivity& request) {
    const DistanceFamily* family = family_of(request.funcid, &DistanceFamily::within);
    Node *left = node_at(request.args, 0), *right = node_at(request.args, 1);
    if (family == nullptr || request.is_join || !contain_var_clause(left) ||
        !contain_var_clause(right))
        return nullptr;
    Oid types[] = {family->type, family->type};
    Oid hamming = sibling_function(request.funcid, family->hamming, types, 2);
    Node* distance = OidIsValid(hamming) ? make_distance(*family, hamming, left, right) : nullptr;
    if (distance == nullptr)
        return nullptr;
    VariableStatData statistics;
    examine_variable(request.root, distance, request.varRelid, &statistics);
    bool are_there = HeapTupleIsValid(statistics.statsTuple);
    ReleaseVariableStats(statistics);
    return are_there ? distance : nullptr;
}

Node* estimate_within(SupportRequestSelectivity* request) {
    if (list_length(request->args) != 3)
        return nullptr;
    Node *left = node_at(request->args, 0), *right = node_at(request->args, 1);
    Node* limit = estimate_expression_value(request->root, node_at(request->args, 2));
    request->selectivity = 0; // a limit of NULL finds no row
    if (!is_null_constant(limit)) {
        HammingSpace space = space_of(left, right);
        const Const* known = bigint_constant(limit);
        int radius = known != nullptr ? space.saturate(DatumGetInt64(known->constvalue))
                                      : space.likely_radius();
        Node* distance = distance_with_statistics(*request);
        auto share = [&](int within) {
            if (distance == nullptr || within < 0)
                return share_within(*request, left, right, within);
            // As the server estimates distance < within + 1.
            List* arguments = list_make2(distance, make_integer_constant(within + 1));
            return restriction_selectivity(request->root, Int4LessOperator, arguments, InvalidOid,
                                           request->varRelid);
        };
        request->selectivity = share(radius);
        // The server multiplies the shares of all conditions, as if one did not depend on the
        // other. But d = k stands as two predicates, within k and NOT within k - 1. So the share of
        // the narrower one is that of the rows within the wider one.
        double wider = share(wider_radius(*request, radius));
        if (wider > 0)
            request->selectivity /= wider;
        CLAMP_PROBABILITY(request->selectivity);
    }
    return reinterpret_cast<Node*>(request);
}

Node* estimate_document(SupportRequestSelectivity* request) {
    int count = list_length(request->args);
    if (count != 2 && count != 3)
        return nullptr;
    // This radius is taken, too, where the similarity is not known, and for passages, whose third
    // argument is a number of words. NULL finds no row.
    int radius = kAlikeRadius;
    if (count == 3) {
        Node* third = estimate_expression_value(request->root, node_at(request->args, 2));
        const Const* similarity = similarity_constant(third);
        if (is_null_constant(third))
            radius = kNoRadius;
        else if (similarity != nullptr && is_possible_similarity(third))
            radius = near_radius(DatumGetFloat8(similarity->constvalue));
    }
    request->selectivity =
        share_within(*request, node_at(request->args, 0), node_at(request->args, 1), radius);
    return reinterpret_cast<Node*>(request);
}

// ---- queries that find nothing ----

// Says so where the query is known to have fewer words than the passage that it is to share.
void notice_of_short_query(const FuncExpr* call) {
    int least = kPassageWords;
    if (is_our_function(call->funcid, kSharesPassage)) {
        const Const* known = constant_of_type(node_at(call->args, 2), INT4OID);
        least = known != nullptr ? DatumGetInt32(known->constvalue) : 0;
    } else if (!is_our_function(call->funcid, kPassageShared)) {
        return;
    }
    for (int i = 0; i < 2; i++) {
        const Const* query = constant_of_type(node_at(call->args, i), TEXTOID);
        if (query == nullptr)
            continue;
        text* given = DatumGetTextPP(query->constvalue);
        // To count the words of a long text would take time. Words are cut at 255 letters.
        constexpr int kMostBytesOfWord = 1024;
        if (int(VARSIZE_ANY_EXHDR(given)) > kMostBytesOfWord * std::min(least, kMostWinnowedRun))
            continue;
        GrowingArray<uint64_t> words(server_memory());
        add_words(given, &words);
        size_t count = words.size();
        words.release();
        if (double(count) < least)
            ereport(NOTICE,
                    errmsg_plural("a query of %zu word shares no passage of %d words",
                                  "a query of %zu words shares no passage of %d words", count,
                                  count, least),
                    errhint("shares_passage(a, b, words) takes fewer words. For a phrase, use "
                            "to_tsvector(body) @@ phraseto_tsquery(query)."));
    }
}

// The planner asks this once for each condition as it was written: a part of a plan for which it
// asks again has no collation any more.
Node* simplify_document(const FuncExpr* call) {
    Node* simplified = without_collation(call);
    if (simplified != nullptr)
        notice_of_short_query(call);
    return simplified;
}

// ---- which function answers which question ----

// hamming(a, b) becomes a <~> b: ORDER BY hamming(fp, $1) then matches the ordering operator.
Node* simplify_distance(const FuncExpr* call) {
    // The planner asks this before it opens the query's tables, so the hook is there in time.
    install_rewriting();
    const DistanceFamily* family = family_of(call->funcid, &DistanceFamily::hamming);
    if (family == nullptr || list_length(call->args) != 2)
        return nullptr;
    return make_distance(*family, call->funcid, node_at(call->args, 0), node_at(call->args, 1));
}

Datum answer_planner(FunctionCallInfo fcinfo, Node* (*simplify)(const FuncExpr*),
                     List* (*serve)(SupportRequestIndexCondition*),
                     Node* (*estimate)(SupportRequestSelectivity*)) {
    auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    void* answer = nullptr;
    if (IsA(request, SupportRequestSimplify) && simplify != nullptr)
        answer = simplify(reinterpret_cast<SupportRequestSimplify*>(request)->fcall);
    else if (IsA(request, SupportRequestIndexCondition) && serve != nullptr)
        answer = serve(reinterpret_cast<SupportRequestIndexCondition*>(request));
    else if (IsA(request, SupportRequestSelectivity) && estimate != nullptr)
        answer = estimate(reinterpret_cast<SupportRequestSelectivity*>(request));
    PG_RETURN_POINTER(answer);
}

} // namespace

SIMHASH_FUNCTION(simhash_hamming_support) {
    return answer_planner(fcinfo, simplify_distance, nullptr, nullptr);
}

SIMHASH_FUNCTION(simhash_hamming_within_support) {
    return answer_planner(fcinfo, nullptr, within_condition, estimate_within);
}

SIMHASH_FUNCTION(simhash_near_duplicate_support) {
    return answer_planner(fcinfo, simplify_document, document_condition, estimate_document);
}

SIMHASH_FUNCTION(simhash_text_support) {
    return answer_planner(fcinfo, without_collation, nullptr, nullptr);
}
