// simhash_features(), the features that simhash() takes out of a document, and simhash_hash(), the
// hash of one feature.
#include "server/pg.hpp"

#include <algorithm>
#include <bit>

#include "core/text/feature_list.hpp"
#include "server/arguments.hpp"
#include "server/server_text.hpp"

extern "C" {
PG_FUNCTION_INFO_V1(simhash_features);
PG_FUNCTION_INFO_V1(simhash_hash_text);
PG_FUNCTION_INFO_V1(simhash_hash_anyenum);
}

namespace {

using namespace simhash;

// The labels of one enum type. They are read once for a query.
struct EnumLabels {
    Oid type;
    int count;
    Oid labels[FLEXIBLE_ARRAY_MEMBER]; // in the type's order
};

EnumLabels* read_enum_labels(Oid type, MemoryContext context) {
    int room = 64, count = 0;
    EnumLabels* read = static_cast<EnumLabels*>(
        MemoryContextAlloc(context, offsetof(EnumLabels, labels) + room * sizeof(Oid)));
    // The index gives the labels in their sort order, which ALTER TYPE ... ADD VALUE may change:
    // the OIDs need not ascend in it.
    ScanKeyData key;
    ScanKeyInit(&key, Anum_pg_enum_enumtypid, BTEqualStrategyNumber, F_OIDEQ,
                ObjectIdGetDatum(type));
    Relation relation = table_open(EnumRelationId, AccessShareLock);
    Relation index = index_open(EnumTypIdSortOrderIndexId, AccessShareLock);
    SysScanDesc scan = systable_beginscan_ordered(relation, index, nullptr, 1, &key);
    HeapTuple tuple;
    while ((tuple = systable_getnext_ordered(scan, ForwardScanDirection)) != nullptr) {
        if (count == room) {
            room *= 2;
            read = static_cast<EnumLabels*>(
                repalloc(read, offsetof(EnumLabels, labels) + room * sizeof(Oid)));
        }
        read->labels[count++] = reinterpret_cast<Form_pg_enum>(GETSTRUCT(tuple))->oid;
    }
    systable_endscan_ordered(scan);
    index_close(index, AccessShareLock);
    table_close(relation, AccessShareLock);
    read->type = type;
    read->count = count;
    return read;
}

// A value's hash: its ordinal is written in as few bits as any of `count` ordinals needs, and
// repeated until the 64 bits are full. Of the last repetition only the low bits may fit.
//
//     three values, 2 bits:    0 -> 0000...    1 -> 0101...    2 -> 1010...
//     two values, 1 bit:       0 -> 0000...    1 -> 1111...
//
// Two different values differ in one bit at least of every repetition. If the type has two values,
// they differ in all 64 bits.
uint64_t repeat_ordinal(uint64_t ordinal, int count) {
    int bits = std::max(1, int(std::bit_width(unsigned(count) - 1)));
    uint64_t repeated = 0;
    for (int at = 0; at < 64; at += bits)
        repeated |= ordinal << at;
    return repeated;
}

} // namespace

// simhash_features(document text, features text, width integer) -> setof (feature text, frequency
// integer)
Datum simhash_features(PG_FUNCTION_ARGS) {
    InitMaterializedSRF(fcinfo, 0);
    ReturnSetInfo* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    FeatureKind features = features_argument(fcinfo, 1);
    int width = width_argument(fcinfo, 2, default_width(features));
    if (PG_ARGISNULL(0))
        return Datum(0);

    ServerText source(PG_GETARG_TEXT_PP(0));
    FeatureList list(server_memory());
    each_feature(features, width, source.source(), list);
    for (size_t i = 0; i < list.listed.size(); i++) {
        const ListedFeature& feature = list.listed[i];
        // This is the feature as simhash() hashes it, normalised and folded, in the server's
        // encoding.
        text* shown = shown_as_server_text(&list.texts[feature.begin], feature.bytes);
        Datum values[] = {PointerGetDatum(shown),
                          Int32GetDatum(int(std::min(feature.frequency, uint32_t(PG_INT32_MAX))))};
        bool nulls[] = {false, false};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
        pfree(shown);
        if (i % 1024 == 0)
            CHECK_FOR_INTERRUPTS();
    }
    list.release();
    return Datum(0);
}

// simhash_hash(feature text, hash text) -> bigint
Datum simhash_hash_text(PG_FUNCTION_ARGS) {
    HashKind hash = hash_argument(fcinfo, 1);
    if (PG_ARGISNULL(0))
        PG_RETURN_NULL();
    PG_RETURN_INT64(int64(hash_server_text(hash, PG_GETARG_DATUM(0))));
}

// simhash_hash(anyenum) -> bigint, from the value's place among the type's values.
Datum simhash_hash_anyenum(PG_FUNCTION_ARGS) {
    Oid value = PG_GETARG_OID(0);
    Oid type = get_fn_expr_argtype(fcinfo->flinfo, 0);
    EnumLabels* labels = static_cast<EnumLabels*>(fcinfo->flinfo->fn_extra);
    // fn_extra lasts as long as the call site, so a query reads the catalog once.
    if (labels == nullptr || labels->type != type)
        fcinfo->flinfo->fn_extra = labels = read_enum_labels(type, fcinfo->flinfo->fn_mcxt);
    for (int i = 0; i < labels->count; i++)
        if (labels->labels[i] == value)
            PG_RETURN_INT64(int64(repeat_ordinal(uint64_t(i), labels->count)));
    ereport(ERROR,
            (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
             errmsg("value %u is not among those of enum type %s", value, format_type_be(type))));
}
