// Runs a query for its rows. See the header.
#include "tables/query_rows.hpp"

namespace simhash {
namespace {

// The receiver to which the server sends the rows. The server knows a DestReceiver only, so that is
// the first member: callbacks cast back from it.
struct Destination {
    DestReceiver server;
    RowIds* ids;
    RowValues* values;
    MemoryContext row_context;
};

Destination* of_server(DestReceiver* destination) {
    return reinterpret_cast<Destination*>(destination);
}

// The server calls this before the first row.
void begin_rows(DestReceiver* destination, int, TupleDesc columns) {
    Destination* self = of_server(destination);
    if (columns->natts != 2)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("query must return two columns, %s", self->values->columns),
                errdetail_plural("It returns %d column.", "It returns %d columns.", columns->natts,
                                 columns->natts),
                errhint("Write a query such as %s.", self->values->example));
    self->values->begin(TupleDescAttr(columns, 1));
    self->ids->begin_query(TupleDescAttr(columns, 0));
}

// True: go on. The slot is valid in this call only, so what is kept is copied.
bool receive_row(TupleTableSlot* row, DestReceiver* destination) {
    Destination* self = of_server(destination);
    bool id_is_null, value_is_null;
    Datum value = slot_getattr(row, 2, &value_is_null);
    Datum id = slot_getattr(row, 1, &id_is_null);
    auto number = RowNumber(self->ids->count());
    // What is unpacked goes with the row. What is kept has contexts of its own.
    MemoryContext caller = MemoryContextSwitchTo(self->row_context);
    self->ids->add(id, id_is_null);
    self->values->add(number, value, value_is_null);
    MemoryContextSwitchTo(caller);
    MemoryContextReset(self->row_context);
    return true;
}

void do_nothing(DestReceiver*) {}

// Raises an error unless the plan has one statement, which only reads. The server would say of
// another that it "is not allowed in a non-volatile function", which ours are not.
void check_statement(SPIPlanPtr plan, const char* example) {
    List* statements = SPI_plan_get_plan_sources(plan);
    if (list_length(statements) != 1)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR), errmsg("query must be one statement"),
                statements == NIL ? errhint("Write a query such as %s.", example)
                                  : errhint("Combine the statements with UNION ALL."));
    auto* statement = static_cast<CachedPlanSource*>(linitial(statements));
    // Rules make none or several of a statement that writes.
    bool is_one = list_length(statement->query_list) == 1;
    auto* query = is_one ? linitial_node(Query, statement->query_list) : nullptr;
    if (is_one && query->commandType == CMD_SELECT && !query->hasModifyingCTE &&
        query->rowMarks == NIL)
        return;
    const char* name = is_one ? CreateCommandName(reinterpret_cast<Node*>(query))
                              : GetCommandTagName(statement->commandTag);
    ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
            errmsg("query must be a SELECT that changes and locks no rows"),
            is_one && query->hasModifyingCTE ? errdetail("Its WITH clause changes rows.")
                                             : errdetail("It is a statement %s.", name),
            errhint("Write a query such as %s.", example));
}

// A single word may be a table's name, but is no query.
const char* statement_of(const text* query, const char* example) {
    const char* statement = text_to_cstring(query);
    bool is_name = strpbrk(statement, " \t\r\n(") == nullptr &&
                   (isalpha(uint8(*statement)) || *statement == '_' || *statement == '"');
    if (is_name)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR),
                errmsg("query must be a statement, not a name"),
                errhint("Write a query such as %s.", example));
    return statement;
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

} // namespace

void read_rows(const text* query, RowIds* ids, RowValues* values) {
    MemoryContext row_context =
        AllocSetContextCreate(CurrentMemoryContext, "simhash row", ALLOCSET_DEFAULT_SIZES);
    Destination destination = {{receive_row, begin_rows, do_nothing, do_nothing, DestTuplestore},
                               ids,
                               values,
                               row_context};
    SPIExecuteOptions options = {};
    // Without a new snapshot for the query: it sees what the calling statement sees. Functions that
    // it calls may write: were the transaction READ ONLY meanwhile, postgres_fdw would carry that
    // to other servers, where it lasts.
    options.read_only = true;
    // The rows come one by one. Without a receiver SPI would collect all of them in memory.
    options.dest = &destination.server;
    SPI_connect();
    SPIPlanPtr plan = SPI_prepare_cursor(statement_of(query, values->example), 0, nullptr,
                                         CURSOR_OPT_PARALLEL_OK);
    check_statement(plan, values->example);
    SPI_execute_plan_extended(plan, &options);
    SPI_finish();
    MemoryContextDelete(row_context);
}

void RowValues::report_type(Form_pg_attribute column, Wanted wanted) const {
    // An expression has no name of its own.
    const char* name = strcmp(NameStr(column->attname), "?column?") == 0
                           ? "expression"
                           : quote_identifier(NameStr(column->attname));
    const char* hint = psprintf("Write a query such as %s.", example);
    for (const auto& known : kInstead) {
        if (known.type != getBaseType(column->atttypid))
            continue;
        if (wanted == Wanted::kValues)
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
            errdetail("The second column is of type %s.", format_type_be(column->atttypid)),
            errhint("%s", hint));
}

// ---- ids ----

RowIds::RowIds(PagePool* pool, Oid type) : type_(type), ids_(pool), bytes_(pool) {
    get_typlenbyval(type, &length_, &by_value_);
}

void RowIds::begin_query(Form_pg_attribute column) {
    Oid type = column->atttypid, base_type = getBaseType(type);
    bool is_integer = base_type == INT2OID || base_type == INT4OID || base_type == INT8OID;
    conversion_ = Conversion::kNone;
    if (IsBinaryCoercible(type, type_))
        return;
    // A function without an id_type returns ids as bigint, and takes all integers.
    if (type_ == INT8OID && base_type == INT2OID)
        conversion_ = Conversion::kFromSmallint;
    else if (type_ == INT8OID && base_type == INT4OID)
        conversion_ = Conversion::kFromInteger;
    else
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("ids of the query are of type %s, not %s", format_type_be(type),
                       format_type_be(type_)),
                is_integer
                    ? errhint("Leave out the last argument, id_type: ids are integers without it.")
                    : errhint("Give all arguments, and name the type of the ids by the last one: "
                              "id_type => NULL::%s.",
                              format_type_be(type)));
}

void RowIds::add(Datum id, bool is_null) {
    if (is_null)
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
                errmsg("query must not return an id that is null"),
                errhint("Leave out such rows in the query."));
    if (ids_.size() == kNoRow)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("query returns too many rows"), errdetail("The limit is %u.", kNoRow));
    ids_.add(keep(id));
}

uint64_t RowIds::keep(Datum id) {
    // The sign is extended to 64 bits.
    if (conversion_ == Conversion::kFromSmallint)
        return uint64_t(DatumGetInt16(id));
    if (conversion_ == Conversion::kFromInteger)
        return uint64_t(DatumGetInt32(id));
    if (by_value_)
        return id;
    if (length_ == -1) // from a toasted or an expanded form
        id = PointerGetDatum(PG_DETOAST_DATUM_PACKED(id));
    // Each id stands behind its size in bytes, so ids of any type can be read back.
    uint64_t position = bytes_.size();
    auto bytes = uint32(datumGetSize(id, false, length_));
    bytes_.append(&bytes, sizeof(bytes));
    bytes_.append(DatumGetPointer(id), bytes);
    return position;
}

Datum RowIds::operator[](RowNumber row) {
    uint64_t id = ids_[row];
    if (by_value_)
        return id;
    uint32 bytes;
    bytes_.read(id, &bytes, sizeof(bytes));
    void* copy = MemoryContextAllocHuge(CurrentMemoryContext, bytes);
    bytes_.read(id + sizeof(bytes), copy, bytes);
    return PointerGetDatum(copy);
}

// ---- the result ----

void require_not_null(FunctionCallInfo fcinfo, int argument, const char* what) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be null", what),
                errhint("The type of the ids is the last argument, after all others."));
}

ResultRows::ResultRows(FunctionCallInfo fcinfo)
    : result_(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo)) {
    context_ = AllocSetContextCreate(CurrentMemoryContext, "simhash rows", ALLOCSET_DEFAULT_SIZES);
    row_context_ = AllocSetContextCreate(context_, "simhash ids", ALLOCSET_DEFAULT_SIZES);
    caller_ = MemoryContextSwitchTo(context_);
}

void ResultRows::put(RowIds* ids, RowNumber id, RowNumber other, std::optional<Datum> measure) {
    bool nulls[] = {false, false, !measure};
    CHECK_FOR_INTERRUPTS();
    // The ids of a row are copies, which go with the row.
    MemoryContext caller = MemoryContextSwitchTo(row_context_);
    Datum values[] = {(*ids)[id], (*ids)[other], measure.value_or(Datum(0))};
    // The tuplestore spills to disk by itself where work_mem does not hold the rows.
    tuplestore_putvalues(result_->setResult, result_->setDesc, values, nulls);
    MemoryContextSwitchTo(caller);
    MemoryContextReset(row_context_);
}

void ResultRows::finish() {
    MemoryContextSwitchTo(caller_);
    MemoryContextDelete(context_);
}

} // namespace simhash
