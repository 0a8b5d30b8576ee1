// Collects what a query returns. See the header.
#include "tables/query_fingerprints.hpp"

#include "tables/query_rows.hpp"

namespace simhash {
namespace {

Oid type_of_only_column(TupleDesc columns) {
    // A column of a domain over bigint will do.
    return columns->natts == 1 ? getBaseType(TupleDescAttr(columns, 0)->atttypid) : InvalidOid;
}

[[noreturn]] void report_columns(const char* type, const char* example) {
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("query must return one column of type %s", type),
                    errhint("Write a query such as SELECT %s FROM docs.", example)));
}

void check_fingerprint_column(void*, TupleDesc columns) {
    if (type_of_only_column(columns) != INT8OID)
        report_columns("bigint", "fp");
}

void check_code_column(void*, TupleDesc columns) {
    Oid type = type_of_only_column(columns);
    if (type != BITOID && type != VARBITOID)
        report_columns("bit", "code");
}

void add_fingerprint(void* collector, TupleTableSlot* row) {
    bool is_null;
    Datum fingerprint = slot_getattr(row, 1, &is_null);
    if (!is_null)
        static_cast<Collector*>(collector)->add(to_ordered(DatumGetInt64(fingerprint)));
}

void add_code(void* codes, TupleTableSlot* row) {
    bool is_null;
    Datum code = slot_getattr(row, 1, &is_null);
    if (!is_null)
        static_cast<CodeSet*>(codes)->add(code);
}

} // namespace

void collect_query(const text* query, Collector* collector) {
    run_query(query, {check_fingerprint_column, add_fingerprint, collector});
}

void collect_query(const text* query, CodeSet* codes) {
    run_query(query, {check_code_column, add_code, codes});
}

} // namespace simhash
