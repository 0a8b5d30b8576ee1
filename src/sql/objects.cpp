// Finding this extension's own objects in the catalogs; see the header.
#include "sql/objects.hpp"
#include "sql/ball.hpp"
#include "sql/distance.hpp"

namespace simhash {

const OurFunction kHamming = {"simhash_hamming", simhash_hamming};
const OurFunction kHammingWithin = {"simhash_hamming_within", simhash_hamming_within};
const OurFunction kHammingAt = {"simhash_hamming_at", simhash_hamming_at};
const OurFunction kHammingBeyond = {"simhash_hamming_beyond", simhash_hamming_beyond};
const OurFunction kHammingRadiusBelow = {"simhash_hamming_radius_below",
                                         simhash_hamming_radius_below};
const OurFunction kBallMake = {"simhash_ball_make", simhash_ball_make};
const OurFunction kBallContained = {"simhash_ball_contained", simhash_ball_contained};

// Cheap and harmless: other functions' libraries must not be loaded, nor their absence raise an
// error, only because they stand in the same query.
static bool has_symbol(Oid function, const char* symbol) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return false;
    bool same = false;
    if (((Form_pg_proc)GETSTRUCT(tuple))->prolang == ClanguageId) {
        bool is_null;
        Datum source = SysCacheGetAttr(PROCOID, tuple, Anum_pg_proc_prosrc, &is_null);
        if (!is_null) {
            char* source_text = TextDatumGetCString(source);
            same = strcmp(source_text, symbol) == 0;
            pfree(source_text);
        }
    }
    ReleaseSysCache(tuple);
    return same;
}

bool is_our_function(Oid function, const OurFunction& ours) {
    if (function < FirstNormalObjectId || !has_symbol(function, ours.symbol))
        return false;
    FmgrInfo info;
    fmgr_info(function, &info);
    return info.fn_addr == ours.address;
}

Oid sibling_function(Oid beside, const char* name, int arguments, const OurFunction& ours) {
    const Oid types[] = {INT8OID, INT8OID, INT8OID};
    Assert(arguments <= (int)lengthof(types));
    Oid function = GetSysCacheOid3(PROCNAMEARGSNSP, Anum_pg_proc_oid, CStringGetDatum(name),
                                   PointerGetDatum(buildoidvector(types, arguments)),
                                   ObjectIdGetDatum(get_func_namespace(beside)));
    return OidIsValid(function) && is_our_function(function, ours) ? function : InvalidOid;
}

Oid distance_operator(Oid hamming) {
    Oid distance = GetSysCacheOid4(OPERNAMENSP, Anum_pg_operator_oid, CStringGetDatum("<~>"),
                                   ObjectIdGetDatum(INT8OID), ObjectIdGetDatum(INT8OID),
                                   ObjectIdGetDatum(get_func_namespace(hamming)));
    return OidIsValid(distance) && get_opcode(distance) == hamming ? distance : InvalidOid;
}

} // namespace simhash
