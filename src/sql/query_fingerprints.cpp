// Collects the fingerprints that a query returns. See the header.
#include "sql/query_fingerprints.hpp"

namespace simhash {
namespace {

// The receiver to which the server sends the rows of the query.
struct Receiver {
    DestReceiver server;
    Collector* collector;
    bool begun; // whether a statement has begun to send rows
};

Receiver* of_server(DestReceiver* receiver) {
    return reinterpret_cast<Receiver*>(receiver);
}

void begin_rows(DestReceiver* receiver, int, TupleDesc description) {
    if (of_server(receiver)->begun)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("query must be one statement"),
                        errhint("Combine the statements with UNION ALL.")));
    of_server(receiver)->begun = true;
    if (description->natts != 1 || getBaseType(TupleDescAttr(description, 0)->atttypid) != INT8OID)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("query must return one column of type bigint"),
                        errhint("Write a query such as SELECT fp FROM docs.")));
}

bool add_row(TupleTableSlot* slot, DestReceiver* receiver) {
    bool is_null;
    Datum fingerprint = slot_getattr(slot, 1, &is_null);
    if (!is_null)
        of_server(receiver)->collector->add(to_ordered(DatumGetInt64(fingerprint)));
    return true;
}

void do_nothing(DestReceiver*) {}

} // namespace

void collect_query(const text* query, Collector* collector) {
    Receiver receiver = {
        {add_row, begin_rows, do_nothing, do_nothing, DestTuplestore}, collector, false};
    SPIExecuteOptions options = {};
    options.read_only = true;
    options.must_return_tuples = true;
    options.dest = &receiver.server;
    SPI_connect();
    // SPI refuses a statement that writes. A volatile function that the statement calls may run
    // statements of its own, and to these the transaction is READ ONLY meanwhile. After an error,
    // the end of the transaction or subtransaction restores the setting.
    bool was_read_only = XactReadOnly;
    XactReadOnly = true;
    SPI_execute_extended(text_to_cstring(query), &options);
    XactReadOnly = was_read_only;
    SPI_finish();
}

} // namespace simhash
