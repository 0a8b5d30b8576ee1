// The planner's questions to support functions. See the header.
#include "planner/requests.hpp"

#include <initializer_list>

namespace simhash {

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
    condition->column = static_cast<Node*>(list_nth(arguments, request->indexarg));
    condition->query = static_cast<Node*>(list_nth(arguments, 1 - request->indexarg));
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

Oid operator_of_index(const SupportRequestIndexCondition& request, Oid right_type, int strategy,
                      const OurFunction& ours) {
    Oid op = get_opfamily_member(request.opfamily, request.index->opcintype[request.indexcol],
                                 right_type, int16(strategy));
    if (!OidIsValid(op))
        return InvalidOid;
    Oid function = get_opcode(op);
    return is_our_function(function, ours) && may_call(function) ? op : InvalidOid;
}

List* make_condition(SupportRequestIndexCondition* request, Oid op, Node* column, Node* argument,
                     bool is_lossy) {
    if (!OidIsValid(op))
        return NIL;
    auto* condition = reinterpret_cast<OpExpr*>(make_opclause(
        op, BOOLOID, false, reinterpret_cast<Expr*>(column), reinterpret_cast<Expr*>(argument),
        InvalidOid, request->index->indexcollations[request->indexcol]));
    set_opfuncid(condition);
    request->lossy = is_lossy;
    return list_make1(condition);
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

} // namespace simhash
