// Opens an index that SQL names, and checks the rights that its inspection needs.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// The right that a user needs for an inspection. kMaintain: to maintain the table. kMonitor: that,
// or membership in pg_monitor.
enum class IndexRight { kMaintain, kMonitor };

// Opens the index `oid` and its table, both locked in `mode`. Raises an error if it is no simhash
// index, if it cannot be read now, or if the user lacks the right.
void open_index(Oid oid, LOCKMODE mode, Relation* heap, Relation* index,
                IndexRight right = IndexRight::kMaintain);

} // namespace simhash
