// Checks that the first column of an index holds fingerprints, or values that have lanes. If not,
// raises an error or a warning that says what to write instead.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// True when the index is built for the first time: not by REINDEX or TRUNCATE, and not because a
// transaction's end empties a temporary table.
bool is_new_index(Relation heap, Relation index);

// Raises an error unless the index's first column is of type bigint, or its operator class computes
// lanes, as many of each value as an index can keep.
void check_first_column(Relation index);

// Warns if the first column is a bigint that identifies the row, as in (id, body): its type alone
// does not tell it from a fingerprint. `info` describes the index, which is being built. Says
// nothing when an existing index is rebuilt.
void warn_of_row_number(Relation heap, Relation index, const IndexInfo* info);

} // namespace simhash
