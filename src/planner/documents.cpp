// The planner's questions to near_duplicate() and shares_passage(), and to the functions of =~~ and
// &~~ of texts. An index on texts is searched for
//
//   near_duplicate(body, $1)         by  body =~~ $1
//   near_duplicate(body, $1, .9)     by  body <@~~ bit_ball(minhash_code($1), minhash_radius(.9))
//
// The ball finds more than the near-duplicates, so the server calls the function on the rows found.
//
// An index on their passages is searched for
//
//   shares_passage(body, $1, 20)     by  body &~~ $1
//
// where 16 words or more are asked for: &~~ says 16, and so do the hashes of the index.
#include "index/cost.hpp"

#include "core/text/document_lanes.hpp"
#include "core/text/passages.hpp"
#include "index/access_method.hpp"
#include "server/expressions.hpp"
#include "values/objects.hpp"
#include "values/selectivity.hpp"

namespace simhash {

namespace {

const Const* similarity_constant(const Node* node) {
    auto* constant = reinterpret_cast<const Const*>(node);
    bool is_known = IsA(node, Const) && constant->consttype == FLOAT8OID && !constant->constisnull;
    return is_known ? constant : nullptr;
}

// ---- index conditions ----

// A condition that is asked about, taken apart.
struct Condition {
    Oid function;
    Node *column, *query, *similarity;
};

bool take_apart(const SupportRequestIndexCondition* request, Condition* condition) {
    List* arguments = NIL;
    if (is_funcclause(request->node))
        arguments = reinterpret_cast<FuncExpr*>(request->node)->args;
    else if (IsA(request->node, OpExpr))
        arguments = reinterpret_cast<OpExpr*>(request->node)->args;
    // near_duplicate() has a similarity, and =~~ has not.
    bool has_similarity = is_our_function(request->funcid, kNearDuplicate);
    if (!has_similarity && !is_our_function(request->funcid, kDocumentsAlike))
        return false;
    if (request->indexarg > 1 || list_length(arguments) != (has_similarity ? 3 : 2))
        return false;
    condition->function = request->funcid;
    condition->column = static_cast<Node*>(list_nth(arguments, request->indexarg));
    condition->query = static_cast<Node*>(list_nth(arguments, 1 - request->indexarg));
    condition->similarity =
        has_similarity ? static_cast<Node*>(lthird(arguments))
                       : reinterpret_cast<Node*>(
                             makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
                                       Float8GetDatum(kAlikeSimilarity), false, FLOAT8PASSBYVAL));
    return true;
}

// A similarity that is known to be out of range is left to the function, which raises an error for
// the first row: planning it would raise one even where there is no row.
bool is_possible_similarity(const Node* node) {
    const Const* similarity = similarity_constant(node);
    if (similarity == nullptr)
        return true;
    double value = DatumGetFloat8(similarity->constvalue);
    return value >= 0 && value <= 1;
}

Expr* call(Oid function, Oid result, List* arguments) {
    return reinterpret_cast<Expr*>(
        makeFuncExpr(function, result, arguments, InvalidOid, InvalidOid, COERCE_EXPLICIT_CALL));
}

// bit_ball(minhash_code(query), minhash_radius(similarity)); null where one of these functions is
// missing. *constructor is bit_ball().
Node* ball_around(PlannerInfo* root, const Condition& condition, Oid* constructor) {
    constexpr Oid kOfCode[] = {TEXTOID, INT4OID, TEXTOID, INT4OID};
    constexpr Oid kOfRadius[] = {FLOAT8OID, FLOAT8OID};
    constexpr Oid kOfBall[] = {BITOID, INT8OID};
    Oid beside = condition.function;
    Oid code = sibling_function(beside, "minhash_code", kOfCode, 4, kMinhashCodeText);
    Oid radius = sibling_function(beside, "minhash_radius", kOfRadius, 2, kMinhashRadius);
    *constructor = sibling_function(beside, kCodes.ball_sql, kOfBall, 2, kCodes.ball_make);
    if (!OidIsValid(code) || !OidIsValid(radius) || !OidIsValid(*constructor))
        return nullptr;
    // The lanes of the shingles that near_duplicate() compares: the defaults of minhash_code().
    Const* bits = makeConst(INT4OID, -1, InvalidOid, sizeof(int32),
                            Int32GetDatum(kLanesOfDocument * kFingerprintBits), false, true);
    Const* words =
        makeConst(TEXTOID, -1, InvalidOid, -1, CStringGetTextDatum("words"), false, false);
    Const* width = makeConst(INT4OID, -1, InvalidOid, sizeof(int32), Int32GetDatum(3), false, true);
    Expr* center = call(code, BITOID, list_make4(condition.query, bits, words, width));
    Const* recall = makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8),
                              Float8GetDatum(kLaneRecall), false, FLOAT8PASSBYVAL);
    Expr* within =
        call(F_INT8_INT4, INT8OID,
             list_make1(call(radius, INT4OID, list_make2(condition.similarity, recall))));
    Expr* ball = call(*constructor, get_func_rettype(*constructor), list_make2(center, within));
    // With a constant document the ball is computed now, and not for each scan.
    return eval_const_expressions(root, reinterpret_cast<Node*>(ball));
}

// The operator of the index for this strategy, if its function is this one of ours and the user may
// call it; otherwise InvalidOid.
Oid operator_of_index(Oid opfamily, Oid right_type, int strategy, const OurFunction& ours) {
    Oid op = get_opfamily_member(opfamily, TEXTOID, right_type, int16(strategy));
    if (!OidIsValid(op))
        return InvalidOid;
    Oid function = get_opcode(op);
    return is_our_function(function, ours) && may_call(function) ? op : InvalidOid;
}

List* make_condition(const SupportRequestIndexCondition* request, Oid op, Node* column,
                     Node* argument) {
    auto* condition = reinterpret_cast<OpExpr*>(make_opclause(
        op, BOOLOID, false, reinterpret_cast<Expr*>(column), reinterpret_cast<Expr*>(argument),
        InvalidOid, request->index->indexcollations[request->indexcol]));
    set_opfuncid(condition);
    return list_make1(condition);
}

List* index_condition(SupportRequestIndexCondition* request) {
    Condition condition;
    // In a column after the first a text is part of the scope.
    if (request->indexcol > 0 || !take_apart(request, &condition) ||
        !is_pseudo_constant_for_index(request->root, condition.query, request->index) ||
        !is_pseudo_constant_for_index(request->root, condition.similarity, request->index) ||
        !is_possible_similarity(condition.similarity))
        return NIL;
    // Another user may not be allowed to call these functions, and must not get this plan.
    request->root->glob->dependsOnRole = true;
    if (!may_call(request->funcid))
        return NIL;
    const Const* similarity = similarity_constant(condition.similarity);
    // This similarity is that of =~~, so the operator of the index says all: nothing is lossy.
    if (similarity != nullptr && DatumGetFloat8(similarity->constvalue) == kAlikeSimilarity) {
        Oid alike = operator_of_index(request->opfamily, TEXTOID, kAlike, kDocumentsAlike);
        if (OidIsValid(alike)) {
            request->lossy = false;
            return make_condition(request, alike, condition.column, condition.query);
        }
    }
    Oid constructor;
    Node* ball = ball_around(request->root, condition, &constructor);
    if (ball == nullptr)
        return NIL;
    Oid in_ball = operator_of_index(request->opfamily, get_func_rettype(constructor), kWithinBall,
                                    kDocumentInBall);
    if (!OidIsValid(in_ball))
        return NIL;
    request->lossy = true;
    return make_condition(request, in_ball, condition.column, ball);
}

// ---- passages ----

bool is_about_passages(Oid function) {
    return is_our_function(function, kPassageShared) || is_our_function(function, kSharesPassage);
}

// The number of words that a condition asks for; 0 where it is not known.
int words_of_passage(Oid function, const List* arguments) {
    // &~~ has no number.
    if (list_length(arguments) == 2 && is_our_function(function, kPassageShared))
        return kPassageWords;
    if (list_length(arguments) != 3 || !is_our_function(function, kSharesPassage))
        return 0;
    auto* words = static_cast<const Const*>(lthird(arguments));
    bool is_known = IsA(words, Const) && words->consttype == INT4OID && !words->constisnull;
    return is_known ? DatumGetInt32(words->constvalue) : 0;
}

List* passage_condition(SupportRequestIndexCondition* request) {
    List* arguments = NIL;
    if (is_funcclause(request->node))
        arguments = reinterpret_cast<FuncExpr*>(request->node)->args;
    else if (IsA(request->node, OpExpr))
        arguments = reinterpret_cast<OpExpr*>(request->node)->args;
    int words = words_of_passage(request->funcid, arguments);
    // Fewer words may be in common without a hash.
    if (words < kPassageWords || request->indexcol > 0 || request->indexarg > 1)
        return NIL;
    auto* column = static_cast<Node*>(list_nth(arguments, request->indexarg));
    auto* query = static_cast<Node*>(list_nth(arguments, 1 - request->indexarg));
    if (!is_pseudo_constant_for_index(request->root, query, request->index))
        return NIL;
    // Another user may not be allowed to call these functions, and must not get this plan.
    request->root->glob->dependsOnRole = true;
    Oid shared = may_call(request->funcid)
                     ? operator_of_index(request->opfamily, TEXTOID, kAlike, kPassageShared)
                     : InvalidOid;
    if (!OidIsValid(shared))
        return NIL;
    request->lossy = words > kPassageWords;
    return make_condition(request, shared, column, query);
}

// ---- selectivity ----

Node* estimate_near_duplicate(SupportRequestSelectivity* request) {
    int count = list_length(request->args);
    if (count != 2 && count != 3)
        return nullptr;
    bool has_similarity = count == 3 && is_our_function(request->funcid, kNearDuplicate);
    // This radius is taken, too, where the similarity is not known.
    int radius = kAlikeRadius;
    if (has_similarity) {
        Node* known =
            estimate_expression_value(request->root, static_cast<Node*>(lthird(request->args)));
        const Const* similarity = similarity_constant(known);
        if (similarity != nullptr && is_possible_similarity(known))
            radius = near_radius(DatumGetFloat8(similarity->constvalue));
    }
    SelectivityContext context = {request->root, request->varRelid, request->is_join,
                                  request->jointype, request->sjinfo};
    request->selectivity =
        document_selectivity(context, static_cast<Node*>(linitial(request->args)),
                             static_cast<Node*>(lsecond(request->args)), radius);
    return reinterpret_cast<Node*>(request);
}

} // namespace

} // namespace simhash

using namespace simhash;

extern "C" {
PG_FUNCTION_INFO_V1(simhash_near_duplicate_support);

Datum simhash_near_duplicate_support(PG_FUNCTION_ARGS) {
    auto* request = reinterpret_cast<Node*>(PG_GETARG_POINTER(0));
    Node* answer = nullptr;
    if (IsA(request, SupportRequestSimplify)) {
        answer = without_collation(reinterpret_cast<SupportRequestSimplify*>(request)->fcall);
    } else if (IsA(request, SupportRequestIndexCondition)) {
        auto* condition = reinterpret_cast<SupportRequestIndexCondition*>(request);
        List* found = is_about_passages(condition->funcid) ? passage_condition(condition)
                                                           : index_condition(condition);
        answer = reinterpret_cast<Node*>(found);
    } else if (IsA(request, SupportRequestSelectivity)) {
        answer = estimate_near_duplicate(reinterpret_cast<SupportRequestSelectivity*>(request));
    }
    PG_RETURN_POINTER(answer);
}
}
