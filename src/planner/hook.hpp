// The hook by which conditions of a query are rewritten when the planner opens its tables.
#pragma once

namespace simhash {

// Puts our hook in its place, where it is not there. To be called before the planner opens a
// query's tables.
void install_rewriting();

} // namespace simhash
