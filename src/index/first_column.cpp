// Checks that the first column of an index holds fingerprints, or values that have lanes, and that
// there are rows to search among. If not, raises an error or a warning with what to write instead.
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

// The number of the first column after the first that has documents; 0 where there is none.
int column_of_documents(Relation index) {
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++)
        if (is_string(column_type(index, i)))
            return i;
    return 0;
}

// Reports what to write where the first column is none to search by: the document that follows it.
int hint_of_order(Relation index) {
    if (int column = column_of_documents(index))
        return hint_of_document(index, column);
    return errhint("Write the column of documents, fingerprints or codes first; the columns of its "
                   "scope follow it.");
}

// What to write instead of a first column of another type, %1$s in CREATE INDEX. An index on an
// expression serves that expression only, so most say it twice. We cannot tell the codes' length n:
// a cast to another one would cut or pad them.
constexpr char kHintOfInteger[] = "Write USING simhash ((%1$s::bigint)). Conditions such as "
                                  "%1$s <~> 42 <= 3 use that index as they are.";
constexpr char kHintOfLength[] =
    "For codes of n bits, write USING simhash ((%1$s::bit(n))), and %1$s::bit(n) in queries.";
constexpr char kHintOfFeatures[] = "To index lists of features, write USING simhash "
                                   "(minhash_of(%1$s)), and minhash_of(%1$s) in queries.";
constexpr char kHintOfJson[] =
    "To index a text in it, such as that of the key body, write USING simhash "
    "((%1$s->>'body')), and (%1$s->>'body') in queries.";
constexpr struct {
    Oid type;
    const char* hint;
} kHints[] = {
    {INT2OID, kHintOfInteger},
    {INT4OID, kHintOfInteger},
    {VARBITOID, kHintOfLength},
    {TEXTARRAYOID, kHintOfFeatures},
    {INT8ARRAYOID, kHintOfFeatures},
    {JSONOID, kHintOfJson},
    {JSONBOID, kHintOfJson},
    {NUMERICOID, "For numbers from 0 to 2^64 - 1, write USING simhash "
                 "(simhash_from_unsigned(%1$s)), and simhash_from_unsigned(%1$s) in queries."},
    {BYTEAOID,
     "For codes of n bits, write USING simhash ((code_from_hex(encode(%1$s, 'hex'), n)::bit(n))), "
     "and code_from_hex(encode(%1$s, 'hex'), n)::bit(n) in queries."},
    {TSVECTOROID, "To index its words, write USING simhash (minhash(%1$s)), and minhash(%1$s) "
                  "in queries."},
    {XMLOID, "To index it as a document, write USING simhash ((%1$s::text)), and "
             "%1$s::text in queries."},
};

// Reports what to write instead of a first column that is searched by no operator class. If
// documents follow it, it is more likely to number them.
int hint_of_type(Relation index) {
    // A domain is refused or taken as its base type is.
    Oid type = column_type(index, 0);
    if (is_string(type))
        return hint_of_document(index, 0);
    for (const auto& known : kHints)
        if (known.type == type && column_of_documents(index) == 0)
            return errhint(known.hint, column_in_sql(index, 0));
    return hint_of_order(index);
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
                errhint(kHintOfLength, column_in_sql(index, 0)));
    // Trees are numbered by a byte, and each lane has some.
    if (count > kMaxLanes)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a simhash index cannot keep values of more than %d bits",
                       kMaxLanes * kFingerprintBits),
                errdetail("Column \"%s\" is of type %s.", NameStr(column->attname), type),
                errhint("Index a part of the values, such as their first 1024 bits."));
}

// True for a call of a function of this extension that makes a fingerprint.
bool is_fingerprint(Relation index, const Node* expression) {
    if (!IsA(expression, FuncExpr) || !values_are_lanes(exprType(expression)))
        return false;
    Oid function = reinterpret_cast<const FuncExpr*>(expression)->funcid;
    Oid extension = getExtensionOfObject(AccessMethodRelationId, index->rd_rel->relam);
    return getExtensionOfObject(ProcedureRelationId, function) == extension;
}

// Raises an error if an exclusion constraint would read the whole index at each insertion, because
// lanes do not tell which values are near.
void check_exclusion(Relation index, const IndexInfo* info) {
    if (info->ii_ExclusionOps == nullptr || info->ii_ExclusionStrats[0] != kAlike)
        return;
    LaneLayout lanes = lane_layout(index);
    if (lanes.rule == LaneRule::kCommon && lanes.near_radius > 0)
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("index \"%s\" does not find all rows that its exclusion constraint refuses",
                       RelationGetRelationName(index)),
                errdetail("With these options its operator class finds fewer rows than operator %s "
                          "accepts.",
                          format_operator(info->ii_ExclusionOps[0])),
                errhint("For operator &~~ write at most passage_ops (words = 16)."));
}

// True when the columns identify a row: the primary key has no others. Their numbers are as the
// server writes them in such a set.
bool identify_row(Relation heap, const Bitmapset* columns) {
    const Bitmapset* key = RelationGetIndexAttrBitmap(heap, INDEX_ATTR_BITMAP_PRIMARY_KEY);
    return !bms_is_empty(key) && bms_is_subset(key, columns);
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

void check_first_column(Relation index, const IndexInfo* info) {
    bool computes = OidIsValid(index_getprocid(index, 1, kValueLanes));
    if (!computes_lanes(index)) {
        if (computes)
            ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                    errmsg("a simhash index does not compute the lanes of a bigint"),
                    errdetail("Its operator class has support function %d, but a bigint is its own "
                              "lane.",
                              kValueLanes),
                    errhint("Index an expression by the default operator class."));
        return;
    }
    if (computes) {
        check_lane_count(index);
        check_exclusion(index, info);
        return;
    }
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(index), 0);
    ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
            errmsg("the first column of a simhash index must be a fingerprint, of type "
                   "bigint or bit, or a document, of type text"),
            errdetail("Column \"%s\" is of type %s.", NameStr(column->attname),
                      format_type_with_typemod(column->atttypid, column->atttypmod)),
            hint_of_type(index));
}

void warn_of_keys(Relation heap, Relation index, const IndexInfo* info) {
    Bitmapset *first = nullptr, *scope = nullptr;
    ListCell* expression = list_head(info->ii_Expressions);
    for (int i = 0; i <= scope_columns(index); i++) {
        AttrNumber number = info->ii_IndexAttrNumbers[i];
        if (number == 0) {
            if (i > 0 && is_fingerprint(index, static_cast<Node*>(lfirst(expression))))
                ereport(
                    WARNING,
                    errmsg("index \"%s\" searches within rows of equal %s",
                           RelationGetRelationName(index), column_in_sql(index, i)),
                    errdetail("The columns after the first are a scope."),
                    errhint("Write an index for each fingerprint: USING simhash (%s), and USING "
                            "simhash (%s).",
                            column_in_sql(index, 0), column_in_sql(index, i)));
            expression = lnext(info->ii_Expressions, expression);
        }
        // Of an expression, and of a system column, we cannot tell more.
        if (number <= 0)
            continue;
        Bitmapset** columns = i == 0 ? &first : &scope;
        *columns = bms_add_member(*columns, number - FirstLowInvalidHeapAttributeNumber);
    }
    // Without a scope that may also be a table of distinct fingerprints.
    if (!computes_lanes(index) && scope_columns(index) > 0 && identify_row(heap, first))
        ereport(WARNING,
                errmsg("index \"%s\" takes column \"%s\" as the fingerprint",
                       RelationGetRelationName(index), column_in_sql(index, 0)),
                errdetail("Its values identify the rows of the table."), hint_of_order(index));
    if (identify_row(heap, scope))
        ereport(WARNING,
                errmsg("each scope of index \"%s\" has one row", RelationGetRelationName(index)),
                errdetail("The columns after the first identify the rows of the table."),
                errhint("To search all rows, write USING simhash (%s).", column_in_sql(index, 0)));
}

} // namespace simhash
