// The library as the server loads it: its magic block, and what is registered and hooked then.
#include "index/access_method.hpp"
#include "planner/planner.hpp"

extern "C" {
SIMHASH_MODULE_MAGIC("simhash", CppAsString2(SIMHASH_VERSION));

PGDLLEXPORT void _PG_init();

void _PG_init() {
    simhash::define_options();
    simhash::install_rewriting();
}
}
