// The access method's handler and the validation of operator classes.
#include "index/access_method.hpp"
#include "index/scope.hpp"

namespace simhash {
namespace {

// Index-only scans rely on VACUUM's cleanup locks, which the replay of generic WAL does not take:
// on a standby there are none. An index with a scope, or of a type that has lanes, does not store
// its columns, so it has nothing to return.
bool can_return(Relation index, int) { return !needs_recheck(index) && !RecoveryInProgress(); }

bool index_property(Oid index, int column, IndexAMProperty property, const char*, bool* result,
                    bool* is_null) {
    // The server answers the other properties itself, from the fields of access_method().
    if (property != AMPROP_DISTANCE_ORDERABLE || column != 1 || !OidIsValid(index))
        return false;
    Oid family, type;
    // The answer is NULL if the class cannot be looked up.
    *is_null = !get_opclass_opfamily_and_input_type(get_index_column_opclass(index, column),
                                                    &family, &type);
    *result = !*is_null && OidIsValid(get_opfamily_member(family, type, type, kDistance));
    return true;
}

// What an operator class is for.
enum class ClassKind {
    kFingerprints, // of bigint: the lane is the value; may also serve a scope
    kLanes,        // computes lanes; may also serve a scope
    kScope,        // columns after the first that are compared by =
};

ClassKind kind_of_class(Oid family, Oid type) {
    // A class is known by its type and its members, not by its name: users may make classes for
    // types of their own.
    if (values_are_lanes(type))
        return ClassKind::kFingerprints;
    if (OidIsValid(get_opfamily_proc(family, type, type, kValueLanes)))
        return ClassKind::kLanes;
    return ClassKind::kScope;
}

// Whether a class may contain the operator: by its strategy, its right-hand type and its purpose.
bool operator_is_known(Form_pg_amop amop, ClassKind kind) {
    bool is_search = amop->amoppurpose == AMOP_SEARCH;
    bool has_same_types = amop->amoplefttype == amop->amoprighttype;
    bool is_first = kind != ClassKind::kScope;
    bool has_fingerprints = kind == ClassKind::kFingerprints;
    if (is_near_strategy(amop->amopstrategy))
        return has_fingerprints && is_search && has_same_types;
    switch (amop->amopstrategy) {
    case kWithinBall:
        // The types of balls are the extension's own, and have no fixed OID.
        return is_first && is_search;
    case kEqual:
        // The scope's classes may have any types; the first class computes lanes of the right side.
        return is_search && (!is_first || has_same_types ||
                             (has_fingerprints && is_integer(amop->amoprighttype)));
    case kClose:
        return has_fingerprints && is_search && has_same_types;
    case kDistance:
        return is_first && !is_search && has_same_types;
    case kAlike:
        // A query of another type has lanes, too.
        return kind == ClassKind::kLanes && is_search &&
               OidIsValid(get_opfamily_proc(amop->amopfamily, amop->amoplefttype,
                                            amop->amoprighttype, kValueLanes));
    case kDiffers:
    case kOverlaps:
        return is_search && has_same_types;
    default:
        return false;
    }
}

// Reports a fault of an operator family, unless it has none.
bool require(bool is_met, const char* family, const char* fault) {
    if (!is_met)
        ereport(INFO, errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                errmsg("operator family \"%s\" of access method simhash %s", family, fault));
    return is_met;
}

// The argument type of the first two is not checked: date may use integer's hash function.
bool has_signature_of(const FormData_pg_amproc& amproc) {
    Oid* arguments;
    int count;
    Oid result = get_func_signature(amproc.amproc, &arguments, &count);
    // Values that are lanes have neither of the functions for lanes.
    bool has_lanes = !values_are_lanes(amproc.amproclefttype);
    switch (amproc.amprocnum) {
    case kHashScope: // (type, seed bigint) -> bigint
        return result == INT8OID && count == 2 && arguments[1] == INT8OID;
    case kValueLanes: // (type [, type modifier integer]) -> bigint[]
        return result == INT8ARRAYOID && has_lanes &&
               (count == 1 || (count == 2 && arguments[1] == INT4OID));
    case kLaneLayout: // (type modifier integer) -> integer[]
        return result == INT4ARRAYOID && count == 1 && arguments[0] == INT4OID && has_lanes;
    case kOptions:
        return check_amoptsproc_signature(amproc.amproc);
    default:
        return false;
    }
}

bool index_validate(Oid opclass) {
    HeapTuple class_tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
    if (!HeapTupleIsValid(class_tuple))
        elog(ERROR, "cache lookup failed for operator class %u", opclass);
    auto* form = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(class_tuple));
    Oid family = form->opcfamily, type = form->opcintype;
    // Messages name the class that was asked for: its family has the same name.
    const char* family_name = NameStr(form->opcname);
    ClassKind kind = kind_of_class(family, type);
    bool valid = true, has_search = false;
    // All operators of the family, also those that ALTER OPERATOR FAMILY has added.
    catclist* operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
    for (int i = 0; i < operators->n_members; i++) {
        auto* amop = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&operators->members[i]->tuple));
        // The scan gives distances to the server as integers, and the server compares them with the
        // operator's.
        Oid result = amop->amoppurpose == AMOP_ORDER ? INT4OID : BOOLOID;
        valid &= require(amop->amoplefttype == type && operator_is_known(amop, kind) &&
                             get_op_rettype(amop->amopopr) == result,
                         family_name,
                         psprintf("contains operator %s with wrong signature or strategy number %d",
                                  format_operator(amop->amopopr), amop->amopstrategy));
        has_search |= amop->amopstrategy == kWithinBall ||
                      (kind == ClassKind::kLanes && amop->amopstrategy == kAlike);
    }
    int members = operators->n_members;
    ReleaseSysCacheList(operators);
    catclist* functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
    for (int i = 0; i < functions->n_members; i++) {
        auto* amproc = reinterpret_cast<Form_pg_amproc>(GETSTRUCT(&functions->members[i]->tuple));
        valid &= require(has_signature_of(*amproc), family_name,
                         psprintf("contains function %s with wrong signature for support number %d",
                                  format_procedure(amproc->amproc), amproc->amprocnum));
    }
    members += functions->n_members;
    ReleaseSysCacheList(functions);
    // Without <@, or =~~ of lanes, the index has nothing to search for in the first column.
    valid &= require(has_search || kind == ClassKind::kScope, family_name,
                     psprintf("is missing operator <@, strategy %d", kWithinBall));
    // Each class may serve a scope, which needs both; but for one that is empty, as json_ops is:
    // CREATE INDEX refuses the type, and says what to write instead.
    if (kind != ClassKind::kScope || members > 0) {
        valid &= require(OidIsValid(get_opfamily_member(family, type, type, kEqual)), family_name,
                         psprintf("is missing operator =, strategy %d", kEqual));
        valid &= require(OidIsValid(get_opfamily_proc(family, type, type, kHashScope)), family_name,
                         psprintf("is missing support function %d", kHashScope));
    }
    ReleaseSysCache(class_tuple);
    return valid;
}

constexpr IndexAmRoutine access_method() {
    IndexAmRoutine am{};
    am.type = T_IndexAmRoutine;
    // This is the greatest strategy number. That of ~|||= is kNear + 3: a strategy for each radius.
    // Most numbers below kNear are not used, and index_validate() refuses them.
    am.amstrategies = kNear + kFingerprintBits;
    // The number of support functions that a class may have (SupportFunction).
    am.amsupport = am.amoptsprocnum = kOptions;
    am.amcanmulticol = true; // the fingerprint, then the columns of its scope
    // The index serves ORDER BY fp <~> query, in the first column only (index_property()).
    am.amcanorderbyop = true;
    // A scan needs no condition on the first column: it may be asked for an order, or for all rows.
    am.amoptionalkey = true;
    // The null table tells the rows of IS NULL from those of IS NOT NULL.
    am.amsearchnulls = true;
    set_equality<kEqual>(&am);
    set_can_build_parallel(&am);
    // VACUUM keeps a list of removed fingerprints in that memory. Parallel VACUUM divides it.
    am.amusemaintenanceworkmem = true;
    am.amparallelvacuumoptions =
        VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP;

    am.ambuild = index_build;
    am.ambuildempty = index_build_empty;
    am.aminsert = index_insert;
    am.ambulkdelete = index_bulk_delete;
    am.amvacuumcleanup = index_vacuum_cleanup;
    am.amcanreturn = can_return;
    am.amcostestimate = index_cost_estimate;
    am.amoptions = index_options;
    am.amproperty = index_property;
    am.ambuildphasename = index_build_phase_name;
    am.amvalidate = index_validate;
    am.ambeginscan = index_begin_scan;
    am.amrescan = index_rescan;
    am.amgettuple = index_get_tuple;
    am.amgetbitmap = index_get_bitmap;
    am.amendscan = index_end_scan;
    return am;
}

} // namespace
} // namespace simhash

SIMHASH_FUNCTION(simhash_handler) {
    // Filled in by the compiler: the routine is the same in all calls.
    static constexpr IndexAmRoutine kRoutine = simhash::access_method();
    PG_RETURN_POINTER(simhash::handed_over(&kRoutine));
}
