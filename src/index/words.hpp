// The words of a value: the fingerprints, 64 bits each, that the index keeps of a row's first
// column.
//
// A bigint is its own word. For any other type the operator class says which words a value has, by
// its support function kValueWords: for a text, its minhash(). A word does not tell the value, so
// the server compares each row found with the query again ("recheck"). A value may have no word, as
// a text of punctuation alone: its row goes to the null table, beside the rows whose value is NULL.
#pragma once

#include "pg.hpp"

#include "index/access_method.hpp"

namespace simhash {

// True when the operator class of the first column computes the words of its values. No index has
// another type than bigint without that (check_first_column()).
inline bool computes_words(Relation index) {
    return index->rd_opcintype[0] != INT8OID;
}

// Sets *word to the word of a value of the first column's type, which is not NULL. Returns false if
// the value has none. The support function may leave memory behind: call it in a CallMemory.
bool word_of_value(Relation index, Datum value, uint64_t* word);

} // namespace simhash
