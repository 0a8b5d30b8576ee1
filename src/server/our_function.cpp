// Tells the functions of this library from others. See the header.
#include "server/our_function.hpp"

namespace simhash {

bool is_our_function(Oid function, const OurFunction& ours) {
    // Functions of the server itself have OIDs below that: no look into the catalog.
    if (function < FirstNormalObjectId)
        return false;
    // This is asked before fmgr_info(), which would load the function's library: that of another
    // function in the same query must not be loaded, nor its absence raise an error.
    char *library, *symbol;
    fmgr_symbol(function, &library, &symbol);
    if (library == nullptr)
        return false;
    bool has_symbol = strcmp(symbol, ours.symbol) == 0;
    pfree(library);
    pfree(symbol);
    if (!has_symbol)
        return false;
    FmgrInfo info;
    fmgr_info(function, &info);
    // Another library may have a function with the same symbol, but not at the same address.
    return info.fn_addr == ours.address;
}

bool is_our_type(Oid type, const OurFunction& input) {
    Oid function = GetSysCacheOid1(TYPEOID, Anum_pg_type_typinput, ObjectIdGetDatum(type));
    return is_our_function(function, input);
}

} // namespace simhash
