// See first_column.hpp.
#include "index/first_column.hpp"

#include "core/bits/distance.hpp"
#include "index/scope.hpp"
#include "index/lanes.hpp"

#include <algorithm>

namespace simhash {

namespace {

Oid column_type(Relation index, int column) {
    return getBaseType(TupleDescAttr(RelationGetDescr(index), column)->atttypid);
}

bool is_string(Oid type) {
    // The category has text, varchar, char(n), name, and types such as citext.
    char category;
    bool is_preferred;
    get_type_category_preferred(type, &category, &is_preferred);
    return category == TYPCATEGORY_STRING;
}

// Returns a column of the index as CREATE INDEX would write it: a name, quoted if it has to be, a
// function call, or an expression in parentheses.
char* column_in_sql(Relation index, int column) {
    Datum written =
        DirectFunctionCall3(pg_get_indexdef_ext, ObjectIdGetDatum(RelationGetRelid(index)),
                            Int32GetDatum(column + 1), BoolGetDatum(false));
    return text_to_cstring(DatumGetTextPP(written));
}

// True when a column after the first is a bigint: then the columns may be in the wrong order.
bool fingerprint_may_follow(Relation index) {
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++)
        if (index->rd_opcintype[i] == INT8OID)
            return true;
    return false;
}

// Returns the first column after the fingerprint that is a text, or 0.
int text_in_scope(Relation index) {
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++)
        if (is_string(column_type(index, i)))
            return i;
    return 0;
}

// The operator class of text computes lanes. For other strings a function makes the fingerprint.
int hint_of_document(Relation index, int column) {
    const char* written = column_in_sql(index, column);
    if (OidIsValid(index_getprocid(index, AttrNumber(column + 1), kValueLanes)))
        return errhint("To index documents, write USING simhash (%s).", written);
    return errhint("To index documents, write USING simhash (minhash(%s)).", written);
}

int hint_of_length(const char* bits) {
    return errhint("For codes of 256 bits, write USING simhash ((%s::bit(256))), and the same in "
                   "queries.",
                   bits);
}

// Raises an error unless the index can keep the lanes of the first column's values.
void check_lane_count(Relation index) {
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(index), 0);
    const char* type = format_type_with_typemod(column->atttypid, column->atttypmod);
    // The count is 0 where the type modifier does not tell it, as of bit varying.
    int count = lane_layout(index).count;
    if (count < 1)
        ereport(ERROR,
                (errcode(ERRCODE_DATATYPE_MISMATCH),
                 errmsg("the first column of a simhash index must have values of one length"),
                 errdetail("Column \"%s\" is of type %s.", NameStr(column->attname), type),
                 hint_of_length(column_in_sql(index, 0))));
    if (count > kMaxLanes)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("a simhash index cannot keep values of more than %d bits",
                               kMaxLanes * kFingerprintBits),
                        errdetail("Column \"%s\" is of type %s.", NameStr(column->attname), type),
                        errhint("Index a part of the values, such as their first 1024 bits.")));
}

// Reports what to write instead of a first column that is no bigint.
int hint_of_type(Relation index) {
    if (fingerprint_may_follow(index))
        return errhint("The fingerprint comes first, as bigint; the columns of its scope follow.");
    Oid type = column_type(index, 0);
    const char* column = column_in_sql(index, 0);
    switch (type) {
    case INT2OID:
    case INT4OID:
        return errhint("Write USING simhash ((%s::bigint)). Conditions such as %s <~> 42 <= 3 use "
                       "that index as they are.",
                       column, column);
    case NUMERICOID:
        return errhint("For numbers from 0 to 2^64 - 1, write USING simhash "
                       "(simhash_from_unsigned(%s)).",
                       column);
    case BITOID:
    case VARBITOID:
        return hint_of_length(column);
    case BYTEAOID:
        return errhint("For 8 bytes in network byte order, write USING simhash "
                       "(simhash_from_hex(encode(%s, 'hex'))).",
                       column);
    case TEXTARRAYOID:
    case INT8ARRAYOID:
        return errhint("To index lists of features, write USING simhash (minhash_of(%s)).", column);
    default:
        return is_string(type) ? hint_of_document(index, 0)
                               : errhint("The fingerprint comes first, as bigint; the columns of "
                                         "its scope follow.");
    }
}

// True when a column's values come from a sequence.
bool is_numbered(Relation heap, AttrNumber column) {
    // This is GENERATED ... AS IDENTITY; the test below finds serial and DEFAULT nextval().
    if (TupleDescAttr(RelationGetDescr(heap), column - 1)->attidentity != '\0')
        return true;
    Node* value = build_column_default(heap, column);
    return value != nullptr && IsA(value, FuncExpr) &&
           reinterpret_cast<FuncExpr*>(value)->funcid == F_NEXTVAL;
}

// True when test(pg_index row) is true for some index of the table.
template <typename Test>
bool any_index(Relation heap, const Test& test) {
    bool found = false;
    List* indexes = RelationGetIndexList(heap);
    ListCell* cell;
    foreach (cell, indexes) {
        HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
        if (!HeapTupleIsValid(tuple))
            continue;
        found |= test(tuple);
        ReleaseSysCache(tuple);
    }
    list_free(indexes);
    return found;
}

Form_pg_index index_form(HeapTuple tuple) {
    return reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
}

// True when an index of the table makes this column alone unique.
bool is_key(Relation heap, AttrNumber column) {
    return any_index(heap, [column](HeapTuple tuple) {
        Form_pg_index form = index_form(tuple);
        return form->indisunique && form->indnkeyatts == 1 && form->indkey.values[0] == column &&
               heap_attisnull(tuple, Anum_pg_index_indpred, nullptr);
    });
}

// We read the catalog, because to open the index would need a lock.
Oid access_method_of(Oid index) {
    HeapTuple tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(index));
    if (!HeapTupleIsValid(tuple))
        return InvalidOid;
    Oid access_method = reinterpret_cast<Form_pg_class>(GETSTRUCT(tuple))->relam;
    ReleaseSysCache(tuple);
    return access_method;
}

// True when the table has another simhash index of these columns.
bool has_twin(Relation heap, Relation index) {
    const int2vector& columns = index->rd_index->indkey;
    return any_index(heap, [&](HeapTuple tuple) {
        Form_pg_index form = index_form(tuple);
        return form->indexrelid != RelationGetRelid(index) &&
               std::equal(columns.values, columns.values + columns.dim1, form->indkey.values,
                          form->indkey.values + form->indkey.dim1) &&
               access_method_of(form->indexrelid) == index->rd_rel->relam;
    });
}

// Returns why we take a column for the row's number, or nullptr if we do not. A key alone may be a
// fingerprint, in a table of distinct ones. A scope beside it says that the rows are documents.
const char* reason_for_row_number(Relation heap, AttrNumber column, bool has_scope) {
    // A generated column is computed, as a fingerprint is.
    if (TupleDescAttr(RelationGetDescr(heap), column - 1)->attgenerated != '\0')
        return nullptr;
    if (is_numbered(heap, column))
        return "Its values come from a sequence.";
    if (has_scope && is_key(heap, column))
        return "It alone identifies a row of the table.";
    return nullptr;
}

int hint_of_row_number(Relation index) {
    if (int column = text_in_scope(index))
        return hint_of_document(index, column);
    return errhint("Write the column of fingerprints first; the columns of its scope follow it.");
}

} // namespace

bool is_new_index(Relation heap, Relation index) {
    if (ReindexIsProcessingIndex(RelationGetRelid(index)))
        return false;
    // The index was made in this transaction, so by CREATE INDEX or CREATE TABLE. If it has pages,
    // the server has emptied the table since, and builds its indexes anew.
    if (index->rd_createSubid != InvalidSubTransactionId)
        return index->rd_rel->relpages == 0;
    // CONCURRENTLY builds in a transaction of its own. REINDEX builds a copy, beside the old index.
    return !index->rd_index->indisvalid && !has_twin(heap, index);
}

void check_first_column(Relation index) {
    bool computes = OidIsValid(index_getprocid(index, 1, kValueLanes));
    if (index->rd_opcintype[0] == INT8OID && computes)
        ereport(ERROR,
                (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                 errmsg("a simhash index does not compute the lanes of a bigint"),
                 errdetail("Its operator class has support function %d, but a bigint is its own "
                           "lane.",
                           kValueLanes),
                 errhint("Index an expression by the default operator class.")));
    if (index->rd_opcintype[0] == INT8OID)
        return;
    if (computes) {
        check_lane_count(index);
        return;
    }
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(index), 0);
    ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                    errmsg("the first column of a simhash index must be a fingerprint, of type "
                           "bigint or bit, or a document, of type text"),
                    errdetail("Column \"%s\" is of type %s.", NameStr(column->attname),
                              format_type_with_typemod(column->atttypid, column->atttypmod)),
                    hint_of_type(index)));
}

void warn_of_row_number(Relation heap, Relation index, const IndexInfo* info) {
    AttrNumber column = info->ii_IndexAttrNumbers[0];
    if (column <= 0 || !is_new_index(heap, index))
        return; // an expression is computed on purpose; a rebuild need not warn again
    const char* reason = reason_for_row_number(heap, column, scope_columns(index) > 0);
    if (reason != nullptr)
        ereport(WARNING,
                (errmsg("index \"%s\" takes column \"%s\" as the fingerprint",
                        RelationGetRelationName(index),
                        NameStr(TupleDescAttr(RelationGetDescr(heap), column - 1)->attname)),
                 errdetail_internal("%s", reason), hint_of_row_number(index)));
}

} // namespace simhash
