// Hashes scopes. See the header.
#include "index/scope.hpp"

#include <algorithm>
#include <iterator>

namespace simhash {
namespace {

// This is part of the format: indexes hold fingerprints that depend on it.
// Any number would do.
constexpr uint64_t kNullScope = 0x9e3779b97f4a7c15;

// The finaliser of MurmurHash3, by which every bit of the argument changes half of the result's.
uint64_t mix(uint64_t hash) {
    hash = (hash ^ hash >> 33) * 0xff51afd7ed558ccd;
    hash = (hash ^ hash >> 33) * 0xc4ceb9fe1a85ec53;
    return hash ^ hash >> 33;
}

// NULL is a value of its own here: IS NULL gives a scope.
uint64_t add_null(uint64_t hash) { return mix(hash ^ kNullScope); }

// `function` is the extended hash function of the value's type, which takes a seed.
uint64_t add_value(uint64_t hash, FmgrInfo* function, Oid collation, Datum value) {
    // The hash so far is the seed, so the order of the columns matters.
    return mix(DatumGetUInt64(FunctionCall2Coll(function, collation, value, UInt64GetDatum(hash))));
}

// The server hashes all arrays with one function, and so all composite types, ranges and
// multiranges. That function raises an error at run time if the element type has no hash. Returns
// false for this case, so that CREATE INDEX can say it.
bool can_hash_contents(Oid function, Oid type) {
    constexpr Oid kOfContents[] = {F_HASH_ARRAY_EXTENDED, F_HASH_RECORD_EXTENDED,
                                   F_HASH_RANGE_EXTENDED, F_HASH_MULTIRANGE_EXTENDED};
    if (std::find(std::begin(kOfContents), std::end(kOfContents), function) ==
        std::end(kOfContents))
        return true;
    return OidIsValid(
        lookup_type_cache(getBaseType(type), TYPECACHE_HASH_EXTENDED_PROC)->hash_extended_proc);
}

// Returns the hash function for values of `type` that are compared with a column, or null if the
// column's operator family has none. One of another type than the column's is kept in `other`.
FmgrInfo* hash_function(Relation index, int column, Oid type, FmgrInfo* other) {
    // InvalidOid: the check of an exclusion constraint leaves the type open.
    if (type == InvalidOid || type == index->rd_opcintype[column])
        return index_getprocinfo(index, AttrNumber(column + 1), kHashScope);
    Oid function = get_opfamily_proc(index->rd_opfamily[column], type, type, kHashScope);
    if (!OidIsValid(function))
        return nullptr;
    fmgr_info(function, other);
    return other;
}

} // namespace

uint32_t compared_columns(Relation index) {
    uint32_t columns = 0;
    if (!index->rd_index->indisexclusion)
        return columns;
    static_assert(INDEX_MAX_KEYS <= 32);
    Oid *operators, *functions;
    uint16* strategies;
    RelationGetExclusionInfo(index, &operators, &functions, &strategies);
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++)
        columns |= uint32_t{compares_rows(strategies[i])} << i;
    return columns;
}

bool stored_fingerprints(Relation index, const Layout& layout, const Datum* values,
                         const bool* isnull, LaneList* fingerprints) {
    // NULL has no scope here: all such rows are in the null table.
    if (isnull[0])
        return false;
    // Most indexes: no function is called.
    if (!needs_recheck(index)) {
        fingerprints->resize(1)[0] = uint64_t(DatumGetInt64(values[0]));
        return true;
    }
    CallMemory memory;
    if (lanes_of_value(index, values[0], fingerprints) != ValueLanes::kFound)
        return false;
    uint64_t hash = 0;
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++) {
        if (is_compared(layout, i))
            continue;
        hash = isnull[i] ? add_null(hash)
                         : add_value(hash, index_getprocinfo(index, AttrNumber(i + 1), kHashScope),
                                     index->rd_indcollation[i], values[i]);
    }
    fingerprints->store(hash);
    return true;
}

double scan_rows(Relation heap, Relation index, IndexInfo* info, const Layout& layout,
                 TableScanDesc scan, bool may_synchronise, bool reports, TakeRow take) {
    LaneList fingerprints(layout); // of the current row
    auto take_row = [&](ItemPointer tid, const Datum* values, const bool* isnull) {
        bool has_any = stored_fingerprints(index, layout, values, isnull, &fingerprints);
        take(has_any ? fingerprints.all() : std::span<uint64_t>(), *tid);
    };
    // It ignores whether the row is alive: a row that only older snapshots see needs an entry, too.
    auto callback = [](Relation, ItemPointer tid, Datum* values, bool* isnull, bool, void* taker) {
        (*static_cast<decltype(take_row)*>(taker))(tid, values, isnull);
    };
    return table_index_build_scan(heap, index, info, may_synchronise, reports, callback, &take_row,
                                  scan);
}

KnownScope read_scope(Relation index, const Layout& layout, std::span<const ScanKeyData> keys) {
    // A hash function may copy a value that is passed by reference.
    CallMemory memory;
    KnownScope scope;
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++) {
        // A compared column is no part of the scope.
        bool known = is_compared(layout, i);
        // The first condition that tells the value is enough. The server rechecks all of them.
        for (const ScanKeyData& key : keys) {
            if (known || key.sk_attno != i + 1)
                continue;
            if (key.sk_flags & SK_SEARCHNULL) {
                scope.hash = add_null(scope.hash);
                known = true;
            } else if (!(key.sk_flags & SK_ISNULL) && key.sk_strategy == kEqual) {
                FmgrInfo other;
                FmgrInfo* function = hash_function(index, i, key.sk_subtype, &other);
                known = function != nullptr;
                if (known)
                    scope.hash =
                        add_value(scope.hash, function, index->rd_indcollation[i], key.sk_argument);
            }
        }
        // One column without a value leaves the whole scope open.
        scope.is_known &= known;
    }
    // SK_ISNULL alone is a comparison with NULL, which no row meets. IS NULL and IS NOT NULL have
    // the flag, too.
    for (const ScanKeyData& key : keys)
        scope.is_empty |=
            (key.sk_flags & (SK_ISNULL | SK_SEARCHNULL | SK_SEARCHNOTNULL)) == SK_ISNULL;
    return scope;
}

void check_scope(Relation index) {
    TupleDesc columns = RelationGetDescr(index);
    for (int i = kFirstScopeColumn; i <= scope_columns(index); i++) {
        const char* column = NameStr(TupleDescAttr(columns, i)->attname);
        Oid type = TupleDescAttr(columns, i)->atttypid;
        Oid function = index_getprocid(index, AttrNumber(i + 1), kHashScope);
        if (!OidIsValid(function))
            ereport(ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
                    errmsg("the operator class of column \"%s\" has no support function %d", column,
                           kHashScope),
                    errdetail("A column of a simhash index after the first is hashed."),
                    errhint("Write an expression of another type, or create an operator class with "
                            "FUNCTION %d, the type's extended hash function.",
                            kHashScope));
        if (!can_hash_contents(function, type))
            ereport(
                ERROR, errcode(ERRCODE_UNDEFINED_FUNCTION),
                errmsg("column \"%s\" of type %s cannot be hashed", column, format_type_be(type)),
                errdetail("What the type is made of has no extended hash function."),
                errhint("Use a column of another type."));
    }
}

void warn_of_exclusion(Relation index, const IndexInfo* info) {
    if (info->ii_ExclusionOps == nullptr)
        return;
    auto column = [&](int i) {
        return NameStr(TupleDescAttr(RelationGetDescr(index), i)->attname);
    };
    for (int i = 0; i <= scope_columns(index); i++) {
        uint16 strategy = info->ii_ExclusionStrats[i];
        bool narrows =
            i == 0 ? !compares_rows(strategy) : strategy == kEqual || compares_rows(strategy);
        if (!narrows)
            ereport(
                WARNING,
                errmsg("exclusion constraint \"%s\" reads the whole index at each insertion",
                       RelationGetRelationName(index)),
                errdetail("Column \"%s\" is compared by %s.", column(i),
                          format_operator(info->ii_ExclusionOps[i])),
                errhint("Write the column that is searched first, and after it a scope WITH =."));
    }
    Oid type = index->rd_opcintype[0];
    Oid alike = get_opfamily_member(index->rd_opfamily[0], type, type, kAlike);
    if (info->ii_ExclusionStrats[0] == kEqual && OidIsValid(alike))
        ereport(WARNING,
                errmsg("exclusion constraint \"%s\" refuses equal values only",
                       RelationGetRelationName(index)),
                errdetail("Column \"%s\" is compared by %s.", column(0),
                          format_operator(info->ii_ExclusionOps[0])),
                errhint("To refuse near ones, too, write WITH %s.", get_opname(alike)));
}

} // namespace simhash
