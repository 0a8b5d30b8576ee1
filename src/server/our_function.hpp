// How the extension knows its own functions, and by their input functions its own types, wherever
// the catalogs have them: by their C code. Their names and schemas may be other ones.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// A C function of this library: its symbol, as pg_proc names it, and its address. And the name by
// which SQL knows it, where it is looked for by that.
struct OurFunction {
    const char* symbol;
    PGFunction address;
    const char* name = nullptr;
};

// True where the function of the catalogs is this one of ours. Schema and name do not matter.
bool is_our_function(Oid function, const OurFunction& ours);

// True where the type is ours: types have no C code, so it is known by its input function.
bool is_our_type(Oid type, const OurFunction& input);

} // namespace simhash
