// The rows of a query that is given as a text, one by one as the query returns them.
#pragma once

#include "server/pg.hpp"

namespace simhash {

struct RowReceiver {
    // Called once, before the first row. Raises an error where the columns are of other types.
    void (*begin)(void* context, TupleDesc columns);
    // This is called for each row. The slot is valid during the call.
    void (*row)(void* context, TupleTableSlot* row);
    void* context;
};

// Runs the query, with the functions that it calls, as in a READ ONLY transaction.
void run_query(const text* query, const RowReceiver& receiver);

} // namespace simhash
