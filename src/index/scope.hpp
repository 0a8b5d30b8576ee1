// Scopes: the columns of an index after the fingerprint.
//
// A query that gives a value for each of them searches within one scope. What the index stores is
// not the fingerprint but
//
//     fingerprint XOR hash(scope)
//
// so distances within a scope are as they were, and rows of another scope lie about anywhere. One of
// them is met with the chance of any two random fingerprints; so whoever reads the index compares
// the scope's columns of each row found ("recheck").
#pragma once

#include "pg.hpp"

namespace simhash {

constexpr int kFirstScopeColumn = 1; // from 0

// How many columns of the index are a scope's; 0 for most indexes.
inline int scope_columns(Relation index) {
    return IndexRelationGetNumberOfKeyAttributes(index) - 1;
}

// The fingerprint of a row as the index stores it. `values` are the row's for all columns of the
// index; the fingerprint is not NULL.
uint64_t stored_fingerprint(Relation index, const Datum* values, const bool* isnull);

// What the scan keys say of a scope.
struct KnownScope {
    bool is_known = true;  // a value for each column; always, where there are none
    bool is_empty = false; // a condition that no row meets: column = NULL
    uint64_t hash = 0;
};

// Reads the scope's columns from scan keys: `column = value` and `column IS NULL` tell a value.
class ScopeReader {
  public:
    // `memory` lives as long as the reader.
    ScopeReader(Relation index, MemoryContext memory) : index_(index), memory_(memory) {}

    KnownScope read(const ScanKeyData* keys, int count);

  private:
    FmgrInfo* hash_function(int column, Oid type);

    Relation index_;
    MemoryContext memory_;
    // Of the last value of another type than its column's, such as integer for bigint.
    Oid other_type_ = InvalidOid;
    int other_column_ = 0;
    FmgrInfo other_function_;
};

// Raises an error unless the index's first column is a fingerprint and the others can be hashed.
void check_columns(Relation index);

} // namespace simhash
