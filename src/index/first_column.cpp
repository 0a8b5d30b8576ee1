// Checks that the first column of an index holds fingerprints, or values that have lanes, and that
// there are rows to search among. If not, raises an error or a warning that says what to write
// instead.
#include "index/access_method.hpp"

#include "core/bits/fingerprint.hpp"
#include "index/lanes.hpp"
#include "index/scope.hpp"

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
const char* column_in_sql(Relation index, int column) {
    Datum written =
        DirectFunctionCall3(pg_get_indexdef_ext, ObjectIdGetDatum(RelationGetRelid(index)),
                            Int32GetDatum(column + 1), BoolGetDatum(false));
    return text_to_cstring(DatumGetTextPP(written));
}

// The operator class of text computes lanes. Other strings are cast, as =~~ casts them.
int hint_of_document(Relation index, int column) {
    // The HINT is to be copied, so it has the column as CREATE INDEX takes it.
    const char* written = column_in_sql(index, column);
    if (OidIsValid(index_getprocid(index, AttrNumber(column + 1), kValueLanes)))
        return errhint("To index documents, write USING simhash (%s).", written);
    return errhint("To index documents, write USING simhash ((%1$s::text)). Conditions such as "
                   "%1$s =~~ 'a document' use that index as they are.",
                   written);
}

// Reports what to write where the first column is none to search by: the document that follows it.
int hint_of_order(Relation index) {
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++)
        if (is_string(column_type(index, i)))
            return hint_of_document(index, i);
    return errhint("Write the column of documents, fingerprints or codes first; the columns of its "
                   "scope follow it.");
}

// An index on an expression serves that expression only, so the HINT says it twice. We cannot tell
// the codes' length n: a cast to another one would cut or pad them.
int hint_of_length(const char* bits) {
    return errhint("For codes of n bits, write USING simhash ((%1$s::bit(n))), and %1$s::bit(n) in "
                   "queries.",
                   bits);
}

// Reports what to write instead of a first column that is searched by no operator class.
int hint_of_type(Relation index) {
    // A domain is refused or taken as its base type is.
    Oid type = column_type(index, 0);
    const char* column = column_in_sql(index, 0);
    switch (type) {
    case INT2OID:
    case INT4OID:
        return errhint("Write USING simhash ((%1$s::bigint)). Conditions such as %1$s <~> 42 <= 3 "
                       "use that index as they are.",
                       column);
    case NUMERICOID:
        return errhint("For numbers from 0 to 2^64 - 1, write USING simhash "
                       "(simhash_from_unsigned(%1$s)), and simhash_from_unsigned(%1$s) in queries.",
                       column);
    case VARBITOID:
        return hint_of_length(column);
    case BYTEAOID:
        return errhint("For codes of n bits, write USING simhash ((code_from_hex(encode(%1$s, "
                       "'hex'))::bit(n))), and code_from_hex(encode(%1$s, 'hex'))::bit(n) in "
                       "queries.",
                       column);
    case TEXTARRAYOID:
    case INT8ARRAYOID:
        return errhint("To index lists of features, write USING simhash (minhash_of(%1$s)), and "
                       "minhash_of(%1$s) in queries.",
                       column);
    case TSVECTOROID:
        return errhint("To index its words, write USING simhash (minhash(%1$s)), and minhash(%1$s) "
                       "in queries.",
                       column);
    case JSONOID:
    case JSONBOID:
        return errhint("To index a text in it, such as that of the key body, write USING simhash "
                       "((%1$s->>'body')), and (%1$s->>'body') in queries.",
                       column);
    case XMLOID:
        return errhint("To index it as a document, write USING simhash ((%1$s::text)), and "
                       "%1$s::text in queries.",
                       column);
    default:
        return is_string(type) ? hint_of_document(index, 0) : hint_of_order(index);
    }
}

// Raises an error unless the index can keep the lanes of the first column's values.
void check_lane_count(Relation index) {
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(index), 0);
    // The modifier is what the message is about.
    const char* type = format_type_with_typemod(column->atttypid, column->atttypmod);
    // The count is 0 where the type modifier does not tell it, as of minhash_code().
    int count = lane_layout(index).count;
    if (count < 1)
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("the first column of a simhash index must have values of one length"),
                errdetail("Column \"%s\" is of type %s.", NameStr(column->attname), type),
                hint_of_length(column_in_sql(index, 0)));
    // Trees are numbered by a byte, and each lane has some.
    if (count > kMaxLanes)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a simhash index cannot keep values of more than %d bits",
                       kMaxLanes * kFingerprintBits),
                errdetail("Column \"%s\" is of type %s.", NameStr(column->attname), type),
                errhint("Index a part of the values, such as their first 1024 bits."));
}

// True when the columns identify a row: a unique index of the table has no others.
bool identify_row(Relation heap, const Bitmapset* columns) {
    bool found = false;
    List* indexes = RelationGetIndexList(heap);
    ListCell* cell;
    foreach (cell, indexes) {
        HeapTuple tuple = SearchSysCache1(INDEXRELID, ObjectIdGetDatum(lfirst_oid(cell)));
        if (!HeapTupleIsValid(tuple))
            continue;
        auto* form = reinterpret_cast<Form_pg_index>(GETSTRUCT(tuple));
        // A partial unique index identifies only the rows that it has.
        bool is_of_them =
            form->indisunique && heap_attisnull(tuple, Anum_pg_index_indpred, nullptr);
        // An expression stands for 0, which is no column's number.
        // INCLUDE columns, which come after these, identify nothing.
        for (int i = 0; i < form->indnkeyatts; i++)
            is_of_them &= bms_is_member(form->indkey.values[i], columns);
        // All are looked at: each entry of the cache must be released.
        found |= is_of_them;
        ReleaseSysCache(tuple);
    }
    return found;
}

// True when the first column numbers the rows: its values come from a sequence, or it alone is
// unique. Without a scope, that may also be a table of distinct fingerprints.
bool numbers_rows(Relation heap, Relation index, const IndexInfo* info) {
    AttrNumber number = info->ii_IndexAttrNumbers[0];
    if (number <= 0)
        return false; // an expression is computed on purpose
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(heap), number - 1);
    if (column->attgenerated != '\0')
        return false; // computed, as a fingerprint is
    // This is GENERATED ... AS IDENTITY; the next test finds serial and DEFAULT nextval().
    if (column->attidentity != '\0')
        return true;
    Node* value = build_column_default(heap, number);
    // nextval() is volatile, and so are the generators of random ids.
    if (value != nullptr && contain_volatile_functions(value))
        return true;
    return scope_columns(index) > 0 && identify_row(heap, bms_make_singleton(number));
}

} // namespace

bool is_new_index(Relation index) {
    if (ReindexIsProcessingIndex(RelationGetRelid(index)))
        return false;
    // The index was made in this transaction, so by CREATE INDEX or CREATE TABLE. If it has pages,
    // the server has emptied the table since, and builds its indexes anew.
    if (index->rd_createSubid != InvalidSubTransactionId)
        return index->rd_rel->relpages == 0;
    // CONCURRENTLY builds in a transaction of its own.
    return !index->rd_index->indisvalid;
}

void check_first_column(Relation heap, Relation index, const IndexInfo* info) {
    bool computes = OidIsValid(index_getprocid(index, 1, kValueLanes));
    bool are_lanes = !computes_lanes(index);
    if (are_lanes && computes)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("a simhash index does not compute the lanes of a bigint"),
                errdetail("Its operator class has support function %d, but a bigint is its own "
                          "lane.",
                          kValueLanes),
                errhint("Index an expression by the default operator class."));
    if (are_lanes)
        return;
    if (computes) {
        check_lane_count(index);
        return;
    }
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(index), 0);
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("the first column of a simhash index must be a fingerprint, of type "
                   "bigint or bit, or a document, of type text"),
            errdetail("Column \"%s\" is of type %s.", NameStr(column->attname),
                      format_type_with_typemod(column->atttypid, column->atttypmod)),
            numbers_rows(heap, index, info) ? hint_of_order(index) : hint_of_type(index));
}

void warn_of_keys(Relation heap, Relation index, const IndexInfo* info) {
    if (!computes_lanes(index) && numbers_rows(heap, index, info))
        ereport(WARNING,
                errmsg("index \"%s\" takes column \"%s\" as the fingerprint",
                       RelationGetRelationName(index), column_in_sql(index, 0)),
                errdetail("Its values identify the rows of the table."), hint_of_order(index));
    Bitmapset* scope = nullptr;
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++)
        if (info->ii_IndexAttrNumbers[i] > 0)
            scope = bms_add_member(scope, info->ii_IndexAttrNumbers[i]);
    // Expressions are left out of `scope`: of these we cannot tell.
    if (identify_row(heap, scope))
        ereport(WARNING,
                errmsg("each scope of index \"%s\" has one row", RelationGetRelationName(index)),
                errdetail("The columns after the first identify the rows of the table."),
                errhint("To search all rows, write USING simhash (%s).", column_in_sql(index, 0)));
}

} // namespace simhash
