// The access method's handler and the validation of operator classes.
#include "index/access_method.hpp"
#include "index/scope.hpp"
#include "planner/planner.hpp"

namespace simhash {

namespace {

constexpr void set_properties(IndexAmRoutine* am) {
    am->amstrategies = kNear + kFingerprintBits;
    am->amsupport = kHashScope;
    am->amcanmulticol = true; // the fingerprint, then the columns of its scope
    am->amcanorderbyop = true;
    am->amoptionalkey = true;
    am->amsearchnulls = true;
    set_equality<kEqual>(am);
    set_can_build_parallel(am);
    // VACUUM keeps a list of removed fingerprints in that memory. Parallel VACUUM divides it among
    // its workers.
    am->amusemaintenanceworkmem = true;
    am->amparallelvacuumoptions =
        VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP;
}

// Index-only scans rely on VACUUM's cleanup locks, which the replay of generic WAL does not take:
// on a standby there are none. An index with scopes stores neither the scope's values nor the plain
// fingerprint, so it has nothing to return.
bool can_return(Relation index, int) {
    return scope_columns(index) == 0 && !RecoveryInProgress();
}

bool index_property(Oid index, int column, IndexAMProperty property, const char*, bool* result,
                    bool* is_null) {
    if (property == AMPROP_DISTANCE_ORDERABLE && column == 1 && OidIsValid(index)) {
        *result = true;
        *is_null = false;
        return true;
    }
    return false;
}

// Whether a class of fingerprints may contain the operator: by its strategy, its right-hand type
// and its purpose. The type hamming_ball has no fixed OID, so the right-hand type of <@ is not
// checked.
bool operator_is_known(Form_pg_amop amop) {
    if (is_near_strategy(amop->amopstrategy))
        return amop->amoppurpose == AMOP_SEARCH && amop->amoprighttype == INT8OID;
    switch (amop->amopstrategy) {
    case kWithinBall:
        return amop->amoppurpose == AMOP_SEARCH;
    case kEqual:
        return amop->amoppurpose == AMOP_SEARCH &&
               (amop->amoprighttype == INT8OID || amop->amoprighttype == INT4OID ||
                amop->amoprighttype == INT2OID);
    case kNearDuplicate:
        return amop->amoppurpose == AMOP_SEARCH && amop->amoprighttype == INT8OID;
    case kDistance:
        return amop->amoppurpose == AMOP_ORDER && amop->amoprighttype == INT8OID;
    default:
        return false;
    }
}

// A class for columns of the scope contains equality alone.
bool scope_operator_is_known(Form_pg_amop amop) {
    return amop->amopstrategy == kEqual && amop->amoppurpose == AMOP_SEARCH;
}

bool check_operator(Form_pg_amop amop, Oid type, const char* family) {
    bool valid = amop->amoplefttype == type &&
                 (type == INT8OID ? operator_is_known(amop) : scope_operator_is_known(amop));
    Oid result = get_op_rettype(amop->amopopr);
    valid &= result == (amop->amoppurpose == AMOP_ORDER ? INT4OID : BOOLOID);
    if (!valid)
        ereport(
            INFO,
            (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
             errmsg("operator family \"%s\" of access method %s contains operator %s with wrong "
                    "signature or strategy number %d",
                    family, "simhash", format_operator(amop->amopopr), amop->amopstrategy)));
    return valid;
}

// The support function is (type, seed bigint) -> bigint. The argument type is not checked: date may
// use integer's hash function.
bool check_function(Form_pg_amproc amproc, const char* family) {
    Oid* arguments;
    int count;
    Oid result = get_func_signature(amproc->amproc, &arguments, &count);
    bool valid = result == INT8OID && count == 2 && arguments[1] == INT8OID;
    if (!valid)
        ereport(
            INFO,
            (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
             errmsg("operator family \"%s\" of access method %s contains function %s with wrong "
                    "signature for support number %d",
                    family, "simhash", format_procedure(amproc->amproc), amproc->amprocnum)));
    return valid;
}

// Reports a member that the family must have and lacks.
bool require_member(bool is_there, const char* family, const char* what, int number) {
    if (!is_there)
        ereport(INFO, (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
                       errmsg("operator family \"%s\" of access method %s is missing %s %d", family,
                              "simhash", what, number)));
    return is_there;
}

// A class for bigint is one of fingerprints, and may also serve a scope. Any other class is for
// scopes.
bool index_validate(Oid opclass) {
    HeapTuple class_tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
    if (!HeapTupleIsValid(class_tuple))
        elog(ERROR, "cache lookup failed for operator class %u", opclass);
    auto* form = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(class_tuple));
    Oid family = form->opcfamily, type = form->opcintype;
    // Messages name the class that was asked for: its family has the same name.
    const char* family_name = NameStr(form->opcname);
    bool valid = true, has_ball = type != INT8OID;
    catclist* operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
    for (int i = 0; i < operators->n_members; i++) {
        auto* amop = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&operators->members[i]->tuple));
        valid &= check_operator(amop, type, family_name);
        has_ball |= amop->amopstrategy == kWithinBall;
    }
    ReleaseSysCacheList(operators);
    catclist* functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family));
    for (int i = 0; i < functions->n_members; i++)
        valid &= check_function(
            reinterpret_cast<Form_pg_amproc>(GETSTRUCT(&functions->members[i]->tuple)),
            family_name);
    ReleaseSysCacheList(functions);
    valid &= require_member(has_ball, family_name, "operator <@, strategy", kWithinBall);
    valid &= require_member(OidIsValid(get_opfamily_member(family, type, type, kEqual)),
                            family_name, "operator =, strategy", kEqual);
    valid &= require_member(OidIsValid(get_opfamily_proc(family, type, type, kHashScope)),
                            family_name, "support function", kHashScope);
    ReleaseSysCache(class_tuple);
    return valid;
}

constexpr void set_callbacks(IndexAmRoutine* am) {
    am->ambuild = index_build;
    am->ambuildempty = index_build_empty;
    am->aminsert = index_insert;
    am->ambulkdelete = index_bulk_delete;
    am->amvacuumcleanup = index_vacuum_cleanup;
    am->amcanreturn = can_return;
    am->amcostestimate = index_cost_estimate;
    am->amoptions = index_options;
    am->amproperty = index_property;
    am->ambuildphasename = index_build_phase_name;
    am->amvalidate = index_validate;
    am->ambeginscan = index_begin_scan;
    am->amrescan = index_rescan;
    am->amgettuple = index_get_tuple;
    am->amgetbitmap = index_get_bitmap;
    am->amendscan = index_end_scan;
}

constexpr IndexAmRoutine access_method() {
    IndexAmRoutine am{};
    am.type = T_IndexAmRoutine;
    set_properties(&am);
    set_callbacks(&am);
    return am;
}

} // namespace

} // namespace simhash

extern "C" {
PG_FUNCTION_INFO_V1(simhash_handler);

Datum simhash_handler([[maybe_unused]] PG_FUNCTION_ARGS) {
    static constexpr IndexAmRoutine kRoutine = simhash::access_method();
    PG_RETURN_POINTER(simhash::handed_over(&kRoutine));
}
}
