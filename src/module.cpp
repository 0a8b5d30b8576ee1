// The library as the server loads it: its magic block, and the storage parameters and settings,
// which are registered then. The planner's hook is installed when a distance is first planned
// (planner/README.md).
#include "index/access_method.hpp"
#include "server/progress.hpp"

extern "C" {
// In the place of a pure virtual function, which nobody calls: the C++ runtime would bring one.
// NOLINTNEXTLINE(readability-identifier-naming): the runtime's name
[[noreturn, gnu::visibility("hidden")]] void __cxa_pure_virtual();
// NOLINTNEXTLINE(readability-identifier-naming)
void __cxa_pure_virtual() { elog(ERROR, "a pure virtual function was called"); }

SIMHASH_MODULE_MAGIC("simhash", CppAsString2(SIMHASH_VERSION));

PGDLLEXPORT void _PG_init();

void _PG_init() {
    // The server calls this when it loads the library: for the handler at the latest, which comes
    // before the options of an index are read.
    simhash::define_options();
    simhash::define_progress();
}
}
