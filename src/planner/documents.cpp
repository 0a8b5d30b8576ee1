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
#include "core/text/document_lanes.hpp"
#include "core/text/passages.hpp"
#include "index/access_method.hpp"
#include "planner/requests.hpp"
#include "values/objects.hpp"

using namespace simhash;

namespace {

const Const* similarity_constant(const Node* node) { return constant_of_type(node, FLOAT8OID); }

// ---- index conditions ----

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

// bit_ball(minhash_code(query), minhash_radius(similarity)), by the functions beside that of the
// condition; null where one of them is missing.
Node* ball_around(PlannerInfo* root, Oid beside, Node* query, Node* similarity) {
    constexpr Oid kOfCode[] = {TEXTOID, INT4OID, TEXTOID, INT4OID};
    constexpr Oid kOfRadius[] = {FLOAT8OID, FLOAT8OID};
    constexpr Oid kOfBall[] = {BITOID, INT8OID};
    Oid code = sibling_function(beside, "minhash_code", kOfCode, 4, kMinhashCodeText);
    Oid radius = sibling_function(beside, "minhash_radius", kOfRadius, 2, kMinhashRadius);
    Oid constructor = sibling_function(beside, kCodes.ball_sql, kOfBall, 2, kCodes.ball_make);
    if (!OidIsValid(code) || !OidIsValid(radius) || !OidIsValid(constructor))
        return nullptr;
    // The lanes of the shingles that near_duplicate() compares: the defaults of minhash_code().
    Const* words =
        makeConst(TEXTOID, -1, InvalidOid, -1, CStringGetTextDatum("words"), false, false);
    Expr* center =
        call(code, BITOID,
             list_make4(query, make_integer_constant(kLanesOfDocument * kFingerprintBits), words,
                        make_integer_constant(3)));
    Expr* bits = call(radius, INT4OID, list_make2(similarity, make_float_constant(kLaneRecall)));
    Expr* ball = call(constructor, get_func_rettype(constructor),
                      list_make2(center, call(F_INT8_INT4, INT8OID, list_make1(bits))));
    // With a constant document the ball is computed now, and not for each scan.
    return eval_const_expressions(root, reinterpret_cast<Node*>(ball));
}

List* near_duplicate_condition(SupportRequestIndexCondition* request) {
    IndexedCondition condition;
    // near_duplicate() has a similarity, and =~~ has not.
    bool has_similarity = is_our_function(request->funcid, kNearDuplicate);
    if ((!has_similarity && !is_our_function(request->funcid, kDocumentsAlike)) ||
        !take_apart(request, &condition) || has_similarity != (condition.third != nullptr) ||
        (has_similarity && !is_possible_similarity(condition.third)))
        return NIL;
    const Const* known = has_similarity ? similarity_constant(condition.third) : nullptr;
    // This similarity is that of =~~, so the operator of the index says all: nothing is lossy.
    if (!has_similarity ||
        (known != nullptr && DatumGetFloat8(known->constvalue) == kAlikeSimilarity)) {
        Oid alike = operator_of_index(*request, TEXTOID, kAlike, kDocumentsAlike);
        if (OidIsValid(alike))
            return make_condition(request, alike, condition.column, condition.query, false);
    }
    if (!has_similarity)
        condition.third = reinterpret_cast<Node*>(make_float_constant(kAlikeSimilarity));
    Node* ball = ball_around(request->root, request->funcid, condition.query, condition.third);
    if (ball == nullptr)
        return NIL;
    Oid in_ball = operator_of_index(*request, exprType(ball), kWithinBall, kDocumentInBall);
    return make_condition(request, in_ball, condition.column, ball, true);
}

// ---- passages ----

bool is_about_passages(Oid function) {
    return is_our_function(function, kPassageShared) || is_our_function(function, kSharesPassage);
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
    if (words < kPassageWords)
        return NIL;
    Oid shared = operator_of_index(*request, TEXTOID, kAlike, kPassageShared);
    return make_condition(request, shared, condition.column, condition.query,
                          words > kPassageWords);
}

List* index_condition(SupportRequestIndexCondition* request) {
    return is_about_passages(request->funcid) ? passage_condition(request)
                                              : near_duplicate_condition(request);
}

// ---- selectivity ----

Node* estimate_near_duplicate(SupportRequestSelectivity* request) {
    int count = list_length(request->args);
    if (count != 2 && count != 3)
        return nullptr;
    bool has_similarity = count == 3 && is_our_function(request->funcid, kNearDuplicate);
    // This radius is taken, too, where the similarity is not known; NULL finds no row.
    int radius = kAlikeRadius;
    if (has_similarity) {
        Node* known = estimate_expression_value(request->root, node_at(request->args, 2));
        const Const* similarity = similarity_constant(known);
        if (is_null_constant(known))
            radius = kNoRadius;
        else if (similarity != nullptr && is_possible_similarity(known))
            radius = near_radius(DatumGetFloat8(similarity->constvalue));
    }
    request->selectivity = document_selectivity(context_of(*request), node_at(request->args, 0),
                                                node_at(request->args, 1), radius);
    return reinterpret_cast<Node*>(request);
}

} // namespace

SIMHASH_FUNCTION(simhash_near_duplicate_support) {
    return answer_planner(fcinfo, without_collation, index_condition, estimate_near_duplicate);
}
