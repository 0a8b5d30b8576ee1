// Scopes: the columns of an index after the first.
//
// A query that gives a value for each of them searches within one scope. The index stores
//
//     fingerprint XOR hash(scope)
//
// in place of the fingerprint. Distances within a scope stay the same, and the stored fingerprints
// of another scope look random. A query may still meet one of them by chance, so the server
// compares the scope's columns of each row found ("recheck").
#pragma once

#include "core/bits/function_ref.hpp"
#include "index/lanes.hpp"

namespace simhash {

constexpr int kFirstScopeColumn = 1; // from 0

// Returns the number of columns after the first; 0 for most indexes.
inline int scope_columns(Relation index) {
    return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

// True when rows that the index finds must be compared with the query again: it stores neither the
// values of a class that computes lanes, nor those of the scope's columns.
inline bool needs_recheck(Relation index) {
    return scope_columns(index) > 0 || computes_lanes(index);
}

// Returns the set of columns that the index's exclusion constraint compares in rows, as <> does: a
// build leaves these out of the scope (Layout::compared_columns).
uint32_t compared_columns(Relation index);
inline bool is_compared(const Layout& layout, int column) {
    return layout.compared_columns >> column & 1;
}

// Sets `fingerprints`, one for each lane of a value, to those of a row as the index stores them.
// `values` has the row's values for all columns of the index. Returns false if the row has none,
// and belongs into the null table.
bool stored_fingerprints(Relation index, const Layout& layout, const Datum* values,
                         const bool* isnull, LaneList* fingerprints);

// Calls take(fingerprints, TID) for each row that an index must have, of which `info` describes the
// columns; without fingerprints for a row of the null table. Reads the whole table if `scan` is
// null. Returns the number of the table's rows.
using TakeRow = FunctionRef<void(std::span<const uint64_t>, const ItemPointerData&)>;
double scan_rows(Relation heap, Relation index, IndexInfo* info, const Layout& layout,
                 TableScanDesc scan, bool may_synchronise, bool reports, TakeRow take);

// The scope that the scan keys give.
struct KnownScope {
    bool is_known = true;  // each column of it has a value; true if there are none
    bool is_empty = false; // a condition that no row meets: column = NULL
    uint64_t hash = 0;
};

// Reads the scope from scan keys: `column = value` and `column IS NULL` give a column's value.
KnownScope read_scope(Relation index, const Layout& layout, std::span<const ScanKeyData> keys);

// Raises an error unless the columns of the scope can be hashed.
void check_scope(Relation index);

// Warns where an exclusion constraint, which is being made, compares a column by an operator that
// makes each insertion read the whole index, or that refuses only equal documents or codes. It is
// no error, because a dump may restore one.
void warn_of_exclusion(Relation index, const IndexInfo* info);

} // namespace simhash
