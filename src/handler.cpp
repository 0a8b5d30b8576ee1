// The access method's handler and the validation of operator classes.
#include "index/access_method.hpp"
#include "planner/planner.hpp"

namespace simhash {

namespace {

void set_properties(IndexAmRoutine* am) {
    am->amstrategies = kNear + kFingerprintBits;
    am->amsupport = 0;
    am->amcanorderbyop = true;
    am->amoptionalkey = true;
    am->amsearchnulls = true;
    // The list of removed fingerprints; parallel vacuum shares the memory out.
    am->amusemaintenanceworkmem = true;
    am->amparallelvacuumoptions =
        VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP;
}

// Index-only scans rely on vacuum's cleanup locks, which the replay of generic WAL does not take.
bool can_return(Relation, int) {
    return !RecoveryInProgress();
}

bool index_property(Oid index, int column, IndexAMProperty property, const char*, bool* result,
                    bool* is_null) {
    if (property == AMPROP_DISTANCE_ORDERABLE && column > 0 && OidIsValid(index)) {
        *result = true;
        *is_null = false;
        return true;
    }
    return false;
}

// What an operator class may contain: strategy, right-hand type (InvalidOid: hamming_ball, told by
// its operator), purpose.
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

bool check_operator(Form_pg_amop amop, const char* family) {
    bool valid = amop->amoplefttype == INT8OID && operator_is_known(amop);
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

bool index_validate(Oid opclass) {
    HeapTuple class_tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass));
    if (!HeapTupleIsValid(class_tuple))
        elog(ERROR, "cache lookup failed for operator class %u", opclass);
    auto* form = reinterpret_cast<Form_pg_opclass>(GETSTRUCT(class_tuple));
    Oid family = form->opcfamily;
    bool valid = true;
    if (form->opcintype != INT8OID) {
        ereport(
            INFO,
            (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
             errmsg("operator class \"%s\" of access method %s accepts a type other than bigint",
                    NameStr(form->opcname), "simhash")));
        valid = false;
    }
    // The family is of the same name here, and the class is what was asked for.
    const char* family_name = NameStr(form->opcname);
    catclist* operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
    bool has_ball = false;
    for (int i = 0; i < operators->n_members; i++) {
        auto* amop = reinterpret_cast<Form_pg_amop>(GETSTRUCT(&operators->members[i]->tuple));
        valid &= check_operator(amop, family_name);
        has_ball |= amop->amopstrategy == kWithinBall;
    }
    ReleaseSysCacheList(operators);
    if (!has_ball) {
        ereport(
            INFO,
            (errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
             errmsg(
                 "operator family \"%s\" of access method %s is missing operator <@ (strategy %d)",
                 family_name, "simhash", kWithinBall)));
        valid = false;
    }
    ReleaseSysCache(class_tuple);
    return valid;
}

void set_callbacks(IndexAmRoutine* am) {
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

} // namespace

} // namespace simhash

extern "C" {
PG_FUNCTION_INFO_V1(simhash_handler);

Datum simhash_handler([[maybe_unused]] PG_FUNCTION_ARGS) {
    auto* am = makeNode(IndexAmRoutine);
    simhash::set_properties(am);
    simhash::set_callbacks(am);
    PG_RETURN_POINTER(am);
}
}
