// Checks that the first column of an index holds fingerprints, or values that have lanes, and that
// there are rows to search among. If not, raises an error or a warning that says what to write
// instead.
#pragma once

#include "server/pg.hpp"

namespace simhash {

// True when the index is built for the first time: not by REINDEX or TRUNCATE, and not because a
// transaction's end empties a temporary table. We cannot tell REINDEX CONCURRENTLY, which makes
// another index.
bool is_new_index(Relation index);

// Raises an error unless the index's first column is of type bigint, or its operator class computes
// lanes, as many of each value as an index can keep. `info` describes the index, which is being
// built.
void check_first_column(Relation heap, Relation index, const IndexInfo* info);

// Warns of a new index that nobody searches: if its first column is a bigint that identifies the
// row, as in (id, body), whose type alone does not tell it from a fingerprint; and if its scope
// identifies the row, as in (body, id).
void warn_of_keys(Relation heap, Relation index, const IndexInfo* info);

} // namespace simhash
