// The library as the server loads it: its magic block, and what is registered then. The planner's
// hook is installed later, when it is first needed (planner/support.cpp).
#include "index/access_method.hpp"

extern "C" {
SIMHASH_MODULE_MAGIC("simhash", CppAsString2(SIMHASH_VERSION));

PGDLLEXPORT void _PG_init();

void _PG_init() {
    simhash::define_options();
}
}
