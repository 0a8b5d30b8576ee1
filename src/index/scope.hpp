// Scopes: the columns of an index after the fingerprint.
//
// A query that gives a value for each of them searches within one scope. The index stores
//
//     fingerprint XOR hash(scope)
//
// in place of the fingerprint. Distances within a scope stay the same, and the stored fingerprints
// of another scope look random. A query may still meet one of them by chance, so the server
// compares the scope's columns of each row found ("recheck").
#pragma once

#include "pg.hpp"

namespace simhash {

constexpr int kFirstScopeColumn = 1; // from 0

// Returns the number of scope columns of an index; 0 for most indexes.
inline int scope_columns(Relation index) {
    return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

// Returns the fingerprint of a row as the index stores it. `values` has the row's values for all
// columns of the index. The fingerprint is not NULL.
uint64_t stored_fingerprint(Relation index, const Datum* values, const bool* isnull);

// The scope that the scan keys give.
struct KnownScope {
    bool is_known = true;  // each column has a value; true for an index without scope columns
    bool is_empty = false; // a condition that no row meets: column = NULL
    uint64_t hash = 0;
};

// Reads the scope from scan keys: `column = value` and `column IS NULL` give a column's value.
class ScopeReader {
  public:
    // `memory` must live as long as the reader.
    ScopeReader(Relation index, MemoryContext memory) : index_(index), memory_(memory) {}

    KnownScope read(const ScanKeyData* keys, int count);

  private:
    FmgrInfo* hash_function(int column, Oid type);

    Relation index_;
    MemoryContext memory_;
    // The hash function of the last value whose type was not its column's, such as integer for
    // bigint.
    Oid other_type_ = InvalidOid;
    int other_column_ = 0;
    FmgrInfo other_function_;
};

// Raises an error unless the columns after the first can be hashed.
void check_scope(Relation index);

} // namespace simhash
