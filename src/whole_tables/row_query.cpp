// Runs a query for its rows. See the header.
#include "whole_tables/row_query.hpp"

#include "server/call_memory.hpp"

namespace simhash {
namespace {

// While this lasts, errors say in which statement they came up, as SPI's do. An error goes past
// this object: the server restores the callbacks then.
class InErrors {
  public:
    explicit InErrors(const char* statement)
        : callback_{error_context_stack, add, const_cast<char*>(statement)} {
        begin();
    }
    InErrors(const InErrors&) = delete;
    ~InErrors() { end(); }
    void begin() { error_context_stack = &callback_; }
    void end() { error_context_stack = callback_.previous; }

  private:
    static void add(void* statement) {
        int position = geterrposition();
        const char* text = static_cast<const char*>(statement);
        if (position > 0) {
            errposition(0);
            internalerrposition(position);
            internalerrquery(text);
        } else {
            errcontext("SQL statement \"%s\"", text);
        }
    }

    ErrorContextCallback callback_;
};

[[noreturn]] void report_changes(const char* detail, const char* example) {
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("query must be a SELECT that changes and locks no rows"),
            errdetail("%s", detail), errhint("Write a query such as %s.", example));
}

// The statement, parsed and rewritten. Raises an error where it is not one SELECT that only reads.
Query* parsed_query(const char* statement, const char* example) {
    // A single word may be a table's name, but is no query.
    bool is_name = strpbrk(statement, " \t\r\n(/") == nullptr &&
                   (isalpha(uint8(*statement)) || *statement == '_' || *statement == '"');
    if (is_name)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR),
                errmsg("query must be a statement, not a name"),
                errhint("Write a query such as %s.", example));
    InErrors in_errors(statement);
    List* statements = pg_parse_query(statement);
    in_errors.end();
    if (list_length(statements) != 1)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR), errmsg("query must be one statement"),
                statements == NIL ? errhint("Write a query such as %s.", example)
                                  : errhint("Combine the statements with UNION ALL."));
    auto* parsed = linitial_node(RawStmt, statements);
    const char* command = CreateCommandName(parsed->stmt);
    bool changes_in_with = false;
    if (IsA(parsed->stmt, SelectStmt)) {
        in_errors.begin();
        List* queries = pg_analyze_and_rewrite_fixedparams(parsed, statement, nullptr, 0, nullptr);
        in_errors.end();
        // SELECT INTO is a utility statement now.
        auto* query = linitial_node(Query, queries);
        changes_in_with = query->hasModifyingCTE;
        if (query->commandType == CMD_SELECT && !changes_in_with && query->rowMarks == NIL)
            return query;
        command = CreateCommandName(reinterpret_cast<Node*>(query));
    }
    report_changes(changes_in_with ? "Its WITH clause changes rows."
                                   : psprintf("It is a statement %s.", command),
                   example);
}

// The server's macro needs typeof.
Query* copied(const Query* query) { return static_cast<Query*>(copyObjectImpl(query)); }

Oid type_of(const TargetEntry* entry) {
    return exprType(reinterpret_cast<const Node*>(entry->expr));
}

const char* name_of(const TargetEntry* entry) {
    return entry->resname == nullptr ? "?column?" : entry->resname;
}

TargetEntry* entry(const Query* query, int number) {
    return static_cast<TargetEntry*>(list_nth(query->targetList, number));
}

// What to write in place of a second column %1$s of this type: a document, where there is one in
// it, and a fingerprint or a code.
constexpr struct {
    Oid type;
    const char *document, *value;
} kInstead[] = {
    {INT8OID, nullptr, "%1$s"},
    {BITOID, nullptr, "%1$s"},
    {VARBITOID, nullptr, "%1$s"},
    {TEXTOID, "%1$s", "minhash(%1$s)"},
    {VARCHAROID, "%1$s", "minhash(%1$s)"},
    {BPCHAROID, "%1$s::text", "minhash(%1$s::text)"},
    {NAMEOID, "%1$s::text", "minhash(%1$s::text)"},
    {XMLOID, "%1$s::text", "minhash(%1$s::text)"},
    {JSONOID, "%1$s->>'body'", "minhash(%1$s->>'body')"},
    {JSONBOID, "%1$s->>'body'", "minhash(%1$s->>'body')"},
    {TEXTARRAYOID, nullptr, "minhash_of(%1$s)"},
    {INT8ARRAYOID, nullptr, "minhash_of(%1$s)"},
    {TSVECTOROID, nullptr, "minhash(%1$s)"},
    {NUMERICOID, nullptr, "simhash_from_unsigned(%1$s)"},
    {BYTEAOID, nullptr, "code_from_hex(encode(%1$s, 'hex'))"},
};

// Whether the value decides about rows or their order: then it stays, and a subquery gives it.
bool decides(const Query* query) {
    return query->setOperations != nullptr || query->distinctClause != NIL ||
           query->groupingSets != NIL || entry(query, 1)->ressortgroupref != 0;
}

// Whether its rows are the same in each order.
bool are_all_rows(const Query* query) {
    return !decides(query) && query->limitCount == nullptr && query->limitOffset == nullptr;
}

// Whether it orders its rows by the id, an integer, and by nothing else.
bool is_by_id(const Query* query, bool* descending) {
    if (list_length(query->sortClause) != 1)
        return false;
    auto* order = linitial_node(SortGroupClause, query->sortClause);
    if (order->tleSortGroupRef != entry(query, 0)->ressortgroupref)
        return false;
    int strategy = get_op_opfamily_strategy(order->sortop, INTEGER_BTREE_FAM_OID);
    *descending = strategy == BTGreaterStrategyNumber;
    if (!*descending && strategy != BTLessStrategyNumber)
        return false;
    // Somebody may have added other types to the family.
    Oid type, right;
    op_input_types(order->sortop, &type, &right);
    return type == INT2OID || type == INT4OID || type == INT8OID;
}

// SELECT id, value FROM (the query).
Query* with_subquery(Query* query) {
    auto* outer = makeNode(Query);
    auto* table = makeNode(RangeTblEntry);
    auto* reference = makeNode(RangeTblRef);
    table->rtekind = RTE_SUBQUERY;
    table->subquery = query;
    table->eref = makeAlias("query", NIL);
    table->inFromCl = true;
    for (AttrNumber i = 1; i <= 2; i++) {
        const TargetEntry* inner = entry(query, i - 1);
        Node* expression = reinterpret_cast<Node*>(inner->expr);
        char* name = pstrdup(name_of(inner));
        Var* variable = makeVar(1, i, exprType(expression), exprTypmod(expression),
                                exprCollation(expression), 0);
        table->eref->colnames = lappend(table->eref->colnames, makeString(name));
        outer->targetList = lappend(
            outer->targetList, makeTargetEntry(reinterpret_cast<Expr*>(variable), i, name, false));
    }
    reference->rtindex = 1;
    outer->commandType = CMD_SELECT;
    outer->canSetTag = true;
    outer->rtable = list_make1(table);
    outer->jointree = makeFromExpr(list_make1(reference), nullptr);
    return outer;
}

} // namespace

void RowValues::report_type(Oid type, const char* name) const {
    // An expression has no name of its own.
    name = strcmp(name, "?column?") == 0 ? "expression" : quote_identifier(name);
    const char* hint = psprintf("Write a query such as %s.", example);
    for (const auto& known : kInstead) {
        if (known.type != getBaseType(type))
            continue;
        if (contents == nullptr)
            hint = psprintf("Write %s in place of %s%s.", psprintf(known.value, name), name,
                            known.document == nullptr
                                ? ""
                                : ", or compare documents by near_duplicate_pairs, "
                                  "near_duplicate_groups or near_duplicate_join");
        else if (known.document != nullptr)
            hint = psprintf("Write %s in place of %s.", psprintf(known.document, name), name);
        else
            hint = psprintf("Compare %s by simhash_pairs, simhash_groups or simhash_join.",
                            psprintf(known.value, name));
    }
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("query must return %s", columns),
            errdetail("The second column is of type %s.", format_type_be(type)),
            errhint("%s", hint));
}

// To which the server sends rows. It knows a DestReceiver only; callbacks cast back from that.
struct RowQuery::Receiver : DestReceiver {
    RowQuery* query;
};

double RowQuery::expected_rows(const RowValues& values) const {
    Query* query = parsed_query(statement_, values.example);
    InErrors in_errors(statement_);
    return plan_query(query, statement_, nullptr)->planTree->plan_rows;
}

void RowQuery::read(RowIds* ids, RowValues* values) {
    ids_ = ids;
    values_ = values;
    if (values->contents != nullptr)
        arguments_ = values->contents->pass_arguments();
    row_context_ = AllocSetContextCreate(context_, "simhash row", ALLOCSET_DEFAULT_SIZES);
    query_ = parsed_query(statement_, values->example);
    InErrors in_errors(statement_);
    begin();
    if (passes_ == nullptr)
        return run(query_);
    keep_ = keep_ || contain_volatile_functions(reinterpret_cast<Node*>(query_));
    if (!keep_) {
        auto first = RowNumber(ids->count());
        bool descending = false;
        orders_rows_ =
            values->order_memory > 0 && are_all_rows(query_) && is_by_id(query_, &descending);
        run(with(passes_->digest));
        if (orders_rows_)
            ids->sort(first, descending, values->order_memory);
        return;
    }
    fmgr_info_cxt(find(passes_->digest), &function_, context_);
    kept_columns_ = CreateTemplateTupleDesc(1);
    TupleDescInitEntry(kept_columns_, 1, "value", value_type_, -1, 0);
    finish_columns(kept_columns_);
    kept_ = tuplestore_begin_heap(
        false, false, int(std::min<size_t>(get_hash_memory_limit() / 16 / 1024, INT_MAX)));
    run(query_);
}

void RowQuery::read_contents() {
    arguments_ = values_->contents->pass_arguments();
    is_second_pass_ = true;
    InErrors in_errors(statement_);
    if (!keep_)
        return run(with(passes_->content));
    TupleTableSlot* slot = MakeSingleTupleTableSlot(kept_columns_, &TTSOpsMinimalTuple);
    fmgr_info_cxt(find(passes_->content), &function_, context_);
    tuplestore_rescan(kept_);
    Progress::begin("read again", " rows", double(ids_->count()));
    while (tuplestore_gettupleslot(kept_, true, false, slot)) {
        bool is_null;
        CHECK_FOR_INTERRUPTS();
        Datum value = slot_getattr(slot, 1, &is_null);
        take(Datum(0), true, value, is_null);
    }
    ExecDropSingleTupleTableSlot(slot);
}

// Looks at the columns.
void RowQuery::begin() {
    int columns = ExecCleanTargetListLength(query_->targetList);
    if (columns != 2)
        ereport(
            ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("query must return two columns, %s", values_->columns),
            errdetail_plural("It returns %d column.", "It returns %d columns.", columns, columns),
            errhint("Write a query such as %s.", values_->example));
    const TargetEntry *id = entry(query_, 0), *value = entry(query_, 1);
    values_->begin(type_of(value), name_of(value));
    passes_ = values_->passes;
    ids_->begin_query(type_of(id));
    Oid type = type_of(value);
    value_type_ = IsBinaryCoercible(type, TEXTOID) ? TEXTOID : getBaseType(type);
}

// ---- rows ----

// True: go on. The slot is valid in this call only, so what is kept is copied.
bool RowQuery::take_slot(TupleTableSlot* slot, DestReceiver* receiver) {
    bool id_is_null, is_null;
    Datum value = slot_getattr(slot, 2, &is_null), id = slot_getattr(slot, 1, &id_is_null);
    RowQuery* query = static_cast<Receiver*>(receiver)->query;
    if (query->kept_ != nullptr)
        tuplestore_putvalues(query->kept_, query->kept_columns_, &value, &is_null);
    query->take(id, id_is_null, value, is_null);
    return true;
}

// What is unpacked goes with the row. What stays has memory contexts of its own.
void RowQuery::take(Datum id, bool id_is_null, Datum value, bool is_null) {
    MemoryContext caller = MemoryContextSwitchTo(row_context_);
    Progress::step();
    if (kept_ != nullptr && !is_null)
        value = call(value, &is_null);
    if (is_second_pass_ && !is_null) {
        values_->contents->add(value);
    } else if (!is_second_pass_) {
        auto row = RowNumber(ids_->count());
        ids_->add(id, id_is_null);
        values_->add(row, value, is_null);
    }
    MemoryContextSwitchTo(caller);
    MemoryContextReset(row_context_);
}

Datum RowQuery::call(Datum value, bool* is_null) {
    LOCAL_FCINFO(fcinfo, 2);
    InitFunctionCallInfoData(*fcinfo, &function_, 2, InvalidOid, nullptr, nullptr);
    fcinfo->args[0] = {value, false};
    fcinfo->args[1] = {arguments_, false};
    Datum result = FunctionCallInvoke(fcinfo);
    *is_null = fcinfo->isnull;
    return result;
}

// ---- the query ----

// Under the active snapshot, which is that of the calling statement. So it sees the same rows each
// time.
void RowQuery::run(Query* query) {
    CallMemory memory;
    auto ignore = [](DestReceiver*) {};
    Receiver receiver = {
        {take_slot, [](DestReceiver*, int, TupleDesc) {}, ignore, ignore, DestTuplestore}, this};
    ParamListInfo parameters = makeParamList(1);
    // Parallel workers, and planners of other servers' tables, are given a copy of it, also by a
    // query without passes, which has none.
    parameters->params[0] = {arguments_, arguments_ == 0, 0, BYTEAOID};
    // The planner changes the query that it is given.
    PlannedStmt* plan = plan_query(copied(query), statement_, parameters);
    if (plan->rowMarks != NIL)
        report_changes("A query within it locks rows.", values_->example);
    Progress::begin(is_second_pass_ ? "read again" : "read", " rows", plan->planTree->plan_rows,
                    true);
    QueryDesc* execution = CreateQueryDesc(plan, statement_, GetActiveSnapshot(), InvalidSnapshot,
                                           &receiver, parameters, nullptr, 0);
    ExecutorStart(execution, EXEC_FLAG_SKIP_TRIGGERS);
    run_plan(execution);
    ExecutorFinish(execution);
    ExecutorEnd(execution);
    FreeQueryDesc(execution);
}

// The query with function(value, $1) in the place of the value.
Query* RowQuery::with(const OurFunction& function) const {
    auto* query = copied(query_);
    // The second pass takes documents in any order.
    if (orders_rows_ || (is_second_pass_ && are_all_rows(query)))
        query->sortClause = NIL;
    if (decides(query))
        query = with_subquery(query);
    TargetEntry* value = entry(query, 1);
    Node* argument = reinterpret_cast<Node*>(value->expr);
    argument = coerce_type(nullptr, argument, exprType(argument), value_type_, -1,
                           COERCION_IMPLICIT, COERCE_IMPLICIT_CAST, -1);
    auto* arguments = makeNode(Param);
    arguments->paramkind = PARAM_EXTERN;
    arguments->paramid = 1;
    arguments->paramtype = BYTEAOID;
    arguments->paramtypmod = -1;
    arguments->location = -1;
    value->expr = reinterpret_cast<Expr*>(makeFuncExpr(find(function), BYTEAOID,
                                                       list_make2(argument, arguments), InvalidOid,
                                                       InvalidOid, COERCE_EXPLICIT_CALL));
    return query;
}

// The function of a pass. It must be ours: anybody may have made another one of that name.
Oid RowQuery::find(const OurFunction& function) const {
    Oid types[] = {value_type_, BYTEAOID};
    Oid found = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(function.name),
                                PointerGetDatum(buildoidvector(types, 2)),
                                ObjectIdGetDatum(get_func_namespace(caller_)));
    if (!OidIsValid(found) || !is_our_function(found, function))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
                errmsg("function %s(%s, bytea) of extension simhash does not exist", function.name,
                       format_type_be(value_type_)),
                errdetail("The extension's objects are of an earlier version than its library."),
                errhint("Run ALTER EXTENSION simhash UPDATE."));
    return found;
}

} // namespace simhash
