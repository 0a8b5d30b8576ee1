// The rows of a query that is given as a text, as it returns them: an id, and a value to search.
#pragma once

#include <optional>

#include "tables/equal_rows.hpp"
#include "tables/row_ids.hpp"

namespace simhash {

// Receives the values of the rows.
struct ValueReceiver {
    // Called once, before the first row. Raises an error where the column is of another type.
    void (*begin)(void* context, Form_pg_attribute column);
    // Called for each row, in a memory context of that row.
    void (*value)(void* context, RowNumber row, Datum value, bool is_null);
    void* context;
    const char* columns; // in the message about other columns: "an id and a text"
    const char* example; // of a query
};

// Runs the query, with the functions that it calls, as in a READ ONLY transaction. Adds its rows to
// the ids and, as models for now, to the copies.
void read_rows(const text* query, RowIds* ids, Copies* copies, const ValueReceiver& values);

// Raises an error that says which columns a query must return.
[[noreturn]] void report_value_type(Form_pg_attribute column, const ValueReceiver& values);

// Raises an error where the argument of a function of queries is null.
void require_not_null(FunctionCallInfo fcinfo, int argument, const char* what);

// The type in which a function of queries is to give ids: after InitMaterializedSRF().
inline Oid type_of_ids(FunctionCallInfo fcinfo) {
    return TupleDescAttr(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo)->setDesc, 0)
        ->atttypid;
}

// The rows of its result: two ids and a measure.
class ResultRows {
  public:
    ResultRows(FunctionCallInfo fcinfo, RowIds* ids)
        : result_(reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo)), ids_(*ids),
          row_context_(
              AllocSetContextCreate(CurrentMemoryContext, "simhash ids", ALLOCSET_DEFAULT_SIZES)) {}

    void put(RowNumber id, RowNumber other, std::optional<Datum> measure);

  private:
    ReturnSetInfo* result_;
    RowIds& ids_;
    MemoryContext row_context_;
};

} // namespace simhash
