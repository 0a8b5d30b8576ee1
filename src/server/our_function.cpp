// Tells the functions of this library from others. See the header.
#include "server/our_function.hpp"

namespace simhash {
namespace {

// This is asked before fmgr_info(), which would load the function's library: that of another
// function in the same query must not be loaded, nor its absence raise an error.
bool has_symbol(Oid function, const char* symbol) {
    HeapTuple tuple = SearchSysCache1(PROCOID, ObjectIdGetDatum(function));
    if (!HeapTupleIsValid(tuple))
        return false;
    bool same = false;
    if (reinterpret_cast<Form_pg_proc>(GETSTRUCT(tuple))->prolang == ClanguageId) {
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

} // namespace

bool is_our_function(Oid function, const OurFunction& ours) {
    // Functions of the server itself have OIDs below that: no look into the catalog.
    if (function < FirstNormalObjectId || !has_symbol(function, ours.symbol))
        return false;
    FmgrInfo info;
    fmgr_info(function, &info);
    // Another library may have a function with the same symbol, but not at the same address.
    return info.fn_addr == ours.address;
}

bool is_our_type(Oid type, const OurFunction& input) {
    HeapTuple tuple = SearchSysCache1(TYPEOID, ObjectIdGetDatum(type));
    if (!HeapTupleIsValid(tuple))
        return false;
    Oid function = reinterpret_cast<Form_pg_type>(GETSTRUCT(tuple))->typinput;
    ReleaseSysCache(tuple);
    return is_our_function(function, input);
}

} // namespace simhash
