// The opening of an index that SQL names, with the rights that its inspection asks for.
#pragma once

#include "pg.hpp"

namespace simhash {

// What a user needs for an inspection: to maintain the table, or that or to be in pg_monitor.
enum class IndexRight { kMaintain, kMonitor };

// Opens the index `oid` and its table, both locked in `mode`. Raises an error where it is no
// simhash index, or one that cannot be read now, or where the user does not have the right.
void open_index(Oid oid, LOCKMODE mode, Relation* heap, Relation* index,
                IndexRight right = IndexRight::kMaintain);

} // namespace simhash
