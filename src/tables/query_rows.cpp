// Runs a query for its rows. See the header.
#include "tables/query_rows.hpp"

namespace simhash {
namespace {

// The receiver to which the server sends the rows.
// The server knows a DestReceiver only, so that must be the first member: the callbacks cast back
// from it.
struct Destination {
    DestReceiver server;
    const RowReceiver* receiver;
    bool begun; // whether a statement has begun to send rows
};

Destination* of_server(DestReceiver* destination) {
    return reinterpret_cast<Destination*>(destination);
}

// The server calls this before the first row of each statement that returns rows.
void begin_rows(DestReceiver* destination, int, TupleDesc columns) {
    if (of_server(destination)->begun)
        ereport(ERROR, (errcode(ERRCODE_SYNTAX_ERROR), errmsg("query must be one statement"),
                        errhint("Combine the statements with UNION ALL.")));
    of_server(destination)->begun = true;
    const RowReceiver* receiver = of_server(destination)->receiver;
    receiver->begin(receiver->context, columns);
}

// True: go on. The slot is valid in this call only, so the receiver copies what it keeps.
bool receive_row(TupleTableSlot* row, DestReceiver* destination) {
    const RowReceiver* receiver = of_server(destination)->receiver;
    receiver->row(receiver->context, row);
    return true;
}

void do_nothing(DestReceiver*) {}

} // namespace

void run_query(const text* query, const RowReceiver& receiver) {
    Destination destination = {
        {receive_row, begin_rows, do_nothing, do_nothing, DestTuplestore}, &receiver, false};
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
    SPI_execute_extended(text_to_cstring(query), &options);
    XactReadOnly = was_read_only;
    SPI_finish();
}

} // namespace simhash
