// Runs a query for its rows. See the header.
#include "tables/query_rows.hpp"

namespace simhash {
namespace {

// The receiver to which the server sends the rows. The server knows a DestReceiver only, so that is
// the first member: callbacks cast back from it.
struct Destination {
    DestReceiver server;
    RowIds* ids;
    Copies* copies;
    const ValueReceiver* values;
    MemoryContext row_context;
    bool begun; // whether a statement has begun to send rows
};

Destination* of_server(DestReceiver* destination) {
    return reinterpret_cast<Destination*>(destination);
}

// The server calls this before the first row of each statement that returns rows.
void begin_rows(DestReceiver* destination, int, TupleDesc columns) {
    Destination* self = of_server(destination);
    if (self->begun)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR), errmsg("query must be one statement"),
                errhint("Combine the statements with UNION ALL."));
    self->begun = true;
    if (columns->natts != 2)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("query must return two columns, %s", self->values->columns),
                errdetail_plural("It returns %d column.", "It returns %d columns.", columns->natts,
                                 columns->natts),
                errhint("Write a query such as %s.", self->values->example));
    self->values->begin(self->values->context, TupleDescAttr(columns, 1));
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
    self->copies->add_row();
    self->values->value(self->values->context, number, value, value_is_null);
    MemoryContextSwitchTo(caller);
    MemoryContextReset(self->row_context);
    return true;
}

void do_nothing(DestReceiver*) {}

// A single word may be a table's name, but is no query.
const char* statement_of(const text* query, const ValueReceiver& values) {
    const char* statement = text_to_cstring(query);
    bool is_name = strpbrk(statement, " \t\r\n(") == nullptr &&
                   (isalpha(uint8(*statement)) || *statement == '_' || *statement == '"');
    if (is_name)
        ereport(ERROR, errcode(ERRCODE_SYNTAX_ERROR),
                errmsg("query must be a statement, not a name"),
                errhint("Write a query such as %s.", values.example));
    return statement;
}

} // namespace

void read_rows(const text* query, RowIds* ids, Copies* copies, const ValueReceiver& values) {
    MemoryContext row_context =
        AllocSetContextCreate(CurrentMemoryContext, "simhash row", ALLOCSET_DEFAULT_SIZES);
    Destination destination = {{receive_row, begin_rows, do_nothing, do_nothing, DestTuplestore},
                               ids,
                               copies,
                               &values,
                               row_context,
                               false};
    SPIExecuteOptions options = {};
    // Without a new snapshot for the query: it sees what the calling statement sees.
    options.read_only = true;
    // A statement that returns no rows, such as SET, is an error.
    options.must_return_tuples = true;
    // The rows come one by one. Without a receiver SPI would collect all of them in memory.
    options.dest = &destination.server;
    SPI_connect();
    // SPI refuses a statement that writes. A volatile function that the statement calls may run
    // statements of its own, and to these the transaction is READ ONLY meanwhile. After an error,
    // the end of the transaction or subtransaction restores the setting.
    bool was_read_only = XactReadOnly;
    XactReadOnly = true;
    SPI_execute_extended(statement_of(query, values), &options);
    XactReadOnly = was_read_only;
    SPI_finish();
    MemoryContextDelete(row_context);
}

void report_value_type(Form_pg_attribute column, const ValueReceiver& values) {
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("query must return %s", values.columns),
            errdetail("The second column is of type %s.", format_type_be(column->atttypid)),
            errhint("Write a query such as %s.", values.example));
}

void require_not_null(FunctionCallInfo fcinfo, int argument, const char* what) {
    if (PG_ARGISNULL(argument))
        ereport(ERROR, errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("%s must not be null", what),
                errhint("The type of the ids is the last argument, after all others."));
}

void ResultRows::put(RowNumber id, RowNumber other, std::optional<Datum> measure) {
    bool nulls[] = {false, false, !measure};
    CHECK_FOR_INTERRUPTS();
    // The ids of a row are copies, which go with the row.
    MemoryContext caller = MemoryContextSwitchTo(row_context_);
    Datum values[] = {ids_[id], ids_[other], measure.value_or(Datum(0))};
    // The tuplestore spills to disk by itself where work_mem does not hold the rows.
    tuplestore_putvalues(result_->setResult, result_->setDesc, values, nulls);
    MemoryContextSwitchTo(caller);
    MemoryContextReset(row_context_);
}

} // namespace simhash
