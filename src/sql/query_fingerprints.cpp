// Collects the fingerprints that a query returns. See the header.
#include "sql/query_fingerprints.hpp"

#include "sql/query_rows.hpp"

namespace simhash {
namespace {

void check_columns(void*, TupleDesc columns) {
    if (columns->natts != 1 || getBaseType(TupleDescAttr(columns, 0)->atttypid) != INT8OID)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("query must return one column of type bigint"),
                        errhint("Write a query such as SELECT fp FROM docs.")));
}

void add_row(void* collector, TupleTableSlot* row) {
    bool is_null;
    Datum fingerprint = slot_getattr(row, 1, &is_null);
    if (!is_null)
        static_cast<Collector*>(collector)->add(to_ordered(DatumGetInt64(fingerprint)));
}

} // namespace

void collect_query(const text* query, Collector* collector) {
    run_query(query, {check_columns, add_row, collector});
}

} // namespace simhash
