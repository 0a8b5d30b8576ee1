// What the support functions of our predicates share: questions taken apart, answers put together.
#pragma once

#include "server/expressions.hpp"
#include "server/our_function.hpp"
#include "values/selectivity.hpp"

namespace simhash {

// A call, or an operator, of which the planner asks how an index serves it.
struct IndexedCondition {
    Node* column; // of the index
    Node* query;
    Node* third; // argument: a radius, a similarity or a number of words; null where there is none
};

// Takes the condition of a request apart. Returns false where the index does not serve it, whatever
// the predicate is: where its column is of the scope, where the arguments depend on the table that
// is scanned, and where the user may not call the function.
bool take_apart(SupportRequestIndexCondition* request, IndexedCondition* condition);

// The operator of the request's index for a strategy, if its function is this one of ours and the
// user may call it; otherwise InvalidOid.
Oid operator_of_index(const SupportRequestIndexCondition& request, Oid right_type, int strategy,
                      const OurFunction& ours);

// The answer `column op argument`; none where there is no operator. If it is lossy, the server also
// checks the rows with the condition as it was.
List* make_condition(SupportRequestIndexCondition* request, Oid op, Node* column, Node* argument,
                     bool is_lossy);

inline SelectivityContext context_of(const SupportRequestSelectivity& request) {
    return {request.root, request.varRelid, request.is_join, request.jointype, request.sjinfo};
}

// estimators.cpp: the share of rows whose text is like another one, by a radius of lanes. Rows that
// share a passage are taken to be as many as near-duplicates.
double document_selectivity(const SelectivityContext& context, Node* left, Node* right, int radius);

// Answers the question that is asked, by one of these functions. A null function answers nothing.
Datum answer_planner(FunctionCallInfo fcinfo, Node* (*simplify)(const FuncExpr*),
                     List* (*serve)(SupportRequestIndexCondition*),
                     Node* (*estimate)(SupportRequestSelectivity*));

} // namespace simhash
