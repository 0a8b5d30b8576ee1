// The first column of an index, which has to hold fingerprints: errors and warnings for one that
// does not, with what to write instead.
#pragma once

#include "pg.hpp"

namespace simhash {

// Raises an error unless the index's first column is of type bigint.
void check_first_column(Relation index);

// Warns where the first column is a bigint that identifies the row, as in (id, body): by its type
// it could be a fingerprint. `info` is of the index, which is being built. Says nothing where the
// index was built before.
void warn_of_row_number(Relation heap, Relation index, const IndexInfo* info);

} // namespace simhash
