// Runs a query for its rows. See the header.
#include "whole_tables/row_query.hpp"

#include "server/progress.hpp"

namespace simhash {
namespace {

// A single word may be a table's name, but is no query.
void check_statement(const char* statement, const char* example) {
    bool is_name = strpbrk(statement, " \t\r\n(") == nullptr &&
                   (isalpha(uint8(*statement)) || *statement == '_' || *statement == '"');
    if (is_name)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR),
                errmsg("query must be a statement, not a name"),
                errhint("Write a query such as %s.", example));
}

// The statement, parsed and rewritten, if it may run twice: one SELECT without a side effect. Null
// else, and where it is wrong: whoever runs it raises the error.
Query* repeatable_query(const char* statement) {
    List* statements = pg_parse_query(statement);
    if (list_length(statements) != 1)
        return nullptr;
    auto* parsed = linitial_node(RawStmt, statements);
    if (!IsA(parsed->stmt, SelectStmt))
        return nullptr;
    List* queries = pg_analyze_and_rewrite_fixedparams(parsed, statement, nullptr, 0, nullptr);
    auto* query = linitial_node(Query, queries);
    // SELECT INTO has become a utility statement.
    bool is_repeatable = query->commandType == CMD_SELECT && !query->hasModifyingCTE &&
                         query->rowMarks == NIL &&
                         !contain_volatile_functions(reinterpret_cast<Node*>(query));
    return is_repeatable ? query : nullptr;
}

// The server's macro needs typeof.
Query* copied(const Query* query) { return static_cast<Query*>(copyObjectImpl(query)); }

// The entries of the target list that become columns.
int column_count(const Query* query) {
    int count = 0;
    ListCell* cell;
    foreach (cell, query->targetList)
        count += !lfirst_node(TargetEntry, cell)->resjunk;
    return count;
}

TargetEntry* column(const Query* query, int number) {
    return static_cast<TargetEntry*>(list_nth(query->targetList, number));
}

// Whether the value decides about rows or their order: then it stays, and a subquery gives it.
bool decides(const Query* query) {
    return query->setOperations != nullptr || query->distinctClause != NIL ||
           query->groupingSets != NIL || column(query, 1)->ressortgroupref != 0;
}

// SELECT id, value FROM (the query).
Query* with_subquery(Query* query) {
    auto* outer = makeNode(Query);
    auto* entry = makeNode(RangeTblEntry);
    auto* reference = makeNode(RangeTblRef);
    entry->rtekind = RTE_SUBQUERY;
    entry->subquery = query;
    entry->eref = makeAlias("query", NIL);
    entry->inFromCl = true;
    for (AttrNumber i = 1; i <= 2; i++) {
        const TargetEntry* inner = column(query, i - 1);
        Node* expression = reinterpret_cast<Node*>(inner->expr);
        char* name = inner->resname == nullptr ? pstrdup("?column?") : inner->resname;
        Var* variable = makeVar(1, i, exprType(expression), exprTypmod(expression),
                                exprCollation(expression), 0);
        entry->eref->colnames = lappend(entry->eref->colnames, makeString(name));
        outer->targetList = lappend(
            outer->targetList, makeTargetEntry(reinterpret_cast<Expr*>(variable), i, name, false));
    }
    reference->rtindex = 1;
    outer->commandType = CMD_SELECT;
    outer->canSetTag = true;
    outer->rtable = list_make1(entry);
    outer->jointree = makeFromExpr(list_make1(reference), nullptr);
    return outer;
}

Oid type_of(const TargetEntry* entry) {
    return exprType(reinterpret_cast<const Node*>(entry->expr));
}

// While this lasts, errors say in which statement they came up, as SPI's do. An error goes past
// this object: the server restores the callbacks then.
class InErrors {
  public:
    explicit InErrors(const char* statement)
        : callback_{error_context_stack, add, const_cast<char*>(statement)} {
        error_context_stack = &callback_;
    }
    InErrors(const InErrors&) = delete;
    ~InErrors() { end(); }
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

} // namespace

void RowValues::report_type(Oid type) const {
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH), errmsg("query must return %s", columns),
            errdetail("The second column is of type %s.", format_type_be(type)),
            errhint("Write a query such as %s.", example));
}

// The receiver to which the server sends rows. The server knows a DestReceiver only, so that is the
// first member: callbacks cast back from it.
struct RowQuery::Receiver {
    DestReceiver server;
    RowQuery* query;
    bool begun; // whether a statement has begun to send rows

    explicit Receiver(RowQuery* query)
        : server{take_slot, begin_statement, [](DestReceiver*) {}, [](DestReceiver*) {},
                 DestTuplestore},
          query(query), begun(false) {}
};

void RowQuery::read(RowIds* ids, RowValues* values) {
    ids_ = ids;
    values_ = values;
    arguments_ = values->pass_arguments();
    row_context_ = AllocSetContextCreate(context_, "simhash row", ALLOCSET_DEFAULT_SIZES);
    check_statement(statement_, values->example);
    if (keep_)
        return run_once();
    InErrors in_errors(statement_);
    query_ = repeatable_query(statement_);
    if (query_ == nullptr) {
        in_errors.end();
        return run_once();
    }
    int columns = column_count(query_);
    begin(columns, columns > 0 ? type_of(column(query_, 0)) : InvalidOid,
          columns > 1 ? type_of(column(query_, 1)) : InvalidOid);
    run(values->passes() == nullptr ? query_ : with(values->passes()->digest));
}

void RowQuery::read_contents() {
    arguments_ = values_->pass_arguments();
    is_second_pass_ = true;
    if (query_ != nullptr) {
        InErrors in_errors(statement_);
        return run(with(values_->passes()->content));
    }
    if (kept_ == nullptr)
        return; // there were no rows
    TupleTableSlot* slot = MakeSingleTupleTableSlot(kept_columns_, &TTSOpsMinimalTuple);
    fmgr_info_cxt(find(values_->passes()->content), &function_, context_);
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

void RowQuery::begin(int columns, Oid id_type, Oid value_type) {
    if (columns != 2)
        ereport(
            ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("query must return two columns, %s", values_->columns),
            errdetail_plural("It returns %d column.", "It returns %d columns.", columns, columns),
            errhint("Write a query such as %s.", values_->example));
    values_->begin(value_type);
    ids_->begin_query(id_type);
    value_type_ = IsBinaryCoercible(value_type, TEXTOID) ? TEXTOID : getBaseType(value_type);
}

// ---- a query that runs once ----

void RowQuery::run_once() {
    Receiver receiver(this);
    SPIExecuteOptions options = {};
    // Without a new snapshot for the query: it sees what the calling statement sees. It may not
    // write. Functions that it calls may: were the transaction READ ONLY meanwhile, postgres_fdw
    // would carry that to other servers, where it lasts.
    options.read_only = true;
    // A statement that returns no rows, such as SET, is an error.
    options.must_return_tuples = true;
    // The rows come one by one. Without a receiver SPI would collect all of them in memory.
    options.dest = &receiver.server;
    Progress::begin("read", " rows", 0);
    SPI_connect();
    SPI_execute_extended(statement_, &options);
    SPI_finish();
}

// The server calls this before the first row of each statement that returns rows.
void RowQuery::begin_statement(DestReceiver* receiver, int, TupleDesc columns) {
    auto* self = reinterpret_cast<Receiver*>(receiver);
    RowQuery* query = self->query;
    if (query->query_ != nullptr)
        return;
    if (self->begun)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR), errmsg("query must be one statement"),
                errhint("Combine the statements with UNION ALL."));
    self->begun = true;
    MemoryContext caller = MemoryContextSwitchTo(query->context_);
    auto type = [&](int i) {
        return i < columns->natts ? TupleDescAttr(columns, i)->atttypid : InvalidOid;
    };
    query->begin(columns->natts, type(0), type(1));
    if (const PassFunctions* passes = query->values_->passes()) {
        fmgr_info_cxt(query->find(passes->digest), &query->function_, query->context_);
        query->kept_columns_ = CreateTemplateTupleDesc(1);
        TupleDescInitEntry(query->kept_columns_, 1, "value", query->value_type_, -1, 0);
        query->kept_ = tuplestore_begin_heap(false, false, query->kilobytes_);
    }
    MemoryContextSwitchTo(caller);
}

// ---- rows ----

// True: go on. The slot is valid in this call only, so what is kept is copied.
bool RowQuery::take_slot(TupleTableSlot* slot, DestReceiver* receiver) {
    bool id_is_null, is_null;
    Datum value = slot_getattr(slot, 2, &is_null), id = slot_getattr(slot, 1, &id_is_null);
    RowQuery* query = reinterpret_cast<Receiver*>(receiver)->query;
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
        values_->add_content(value);
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
    fcinfo->args[1] = {PointerGetDatum(arguments_), false};
    Datum result = FunctionCallInvoke(fcinfo);
    *is_null = fcinfo->isnull;
    return result;
}

// ---- a query that may run twice ----

// Under the active snapshot, which is that of the calling statement. So it sees the same rows each
// time.
void RowQuery::run(Query* query) {
    MemoryContext run_context =
        AllocSetContextCreate(context_, "simhash query", ALLOCSET_DEFAULT_SIZES);
    MemoryContext caller = MemoryContextSwitchTo(run_context);
    Receiver receiver(this);
    ParamListInfo parameters = makeParamList(1);
    parameters->params[0] = {PointerGetDatum(arguments_), false, 0, BYTEAOID};
    // The planner changes the query that it is given.
    PlannedStmt* plan = plan_query(copied(query), statement_, parameters);
    Progress::begin(is_second_pass_ ? "read again" : "read", " rows", plan->planTree->plan_rows,
                    true);
    QueryDesc* execution = CreateQueryDesc(plan, statement_, GetActiveSnapshot(), InvalidSnapshot,
                                           &receiver.server, parameters, nullptr, 0);
    ExecutorStart(execution, EXEC_FLAG_SKIP_TRIGGERS);
    run_plan(execution);
    ExecutorFinish(execution);
    ExecutorEnd(execution);
    FreeQueryDesc(execution);
    MemoryContextSwitchTo(caller);
    MemoryContextDelete(run_context);
}

// The query with function(value, $1) in the place of the value.
Query* RowQuery::with(const PassFunction& function) const {
    auto* query = copied(query_);
    // The second pass takes documents in any order, unless the order decides which rows there are.
    if (is_second_pass_ && !decides(query) && query->limitCount == nullptr &&
        query->limitOffset == nullptr)
        query->sortClause = NIL;
    if (decides(query))
        query = with_subquery(query);
    TargetEntry* value = column(query, 1);
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
Oid RowQuery::find(const PassFunction& function) const {
    Oid types[] = {value_type_, BYTEAOID};
    Oid found = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(function.name),
                                PointerGetDatum(buildoidvector(types, 2)),
                                ObjectIdGetDatum(get_func_namespace(caller_)));
    if (!OidIsValid(found) || !is_our_function(found, function.ours))
        ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
                errmsg("function %s(%s, bytea) of extension simhash does not exist", function.name,
                       format_type_be(value_type_)),
                errdetail("The extension's objects are of an earlier version than its library."),
                errhint("Run ALTER EXTENSION simhash UPDATE."));
    return found;
}

} // namespace simhash
