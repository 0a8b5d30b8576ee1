// The words of a value: the fingerprints, 64 bits each, that the index keeps of a row's first
// column.
//
// A bigint is its own word. For any other type the operator class says which words a value has, by
// its support function kValueWords: one for a text, its minhash(); for a bit(n) as many as its bits
// fill. All values of a column have the same number of words; support function kWordLayout tells it
// from the column's type modifier, and without that function it is one. Words do not tell the
// value, so the server compares each row found with the query again ("recheck"). A value may have
// no words, as a text of punctuation alone: its row goes to the null table, beside the rows whose
// value is NULL.
#pragma once

#include "server/pg.hpp"

#include "core/layout/word_radii.hpp"
#include "index/access_method.hpp"

#include <span>

namespace simhash {

// True when the operator class of the first column computes the words of its values. No index has
// another type than bigint without that (check_first_column()).
inline bool computes_words(Relation index) {
    return index->rd_opcintype[0] != INT8OID;
}

// What an operator class says of the words of a column's values.
struct WordLayout {
    int count;       // of each value, 1 .. kMaxWords; 0: the type's modifier gives no length
    int near_radius; // of =~~, in bits of the whole value; at most 64 for each word
};
// Asks the operator class of type `type` in a family about values with a type modifier.
WordLayout word_layout(Oid opfamily, Oid type, int32 typmod);
// The same for the first column of an index.
WordLayout word_layout(Relation index);

// Returns the type modifier of the first column's values, below a domain; -1 if the column is of
// another type than its operator class.
int32 value_typmod(Relation index);

// Sets `words` to those of a value of the first column's type, which is not NULL. Returns false if
// the value has none. Raises an error if it has another number of them than words.size(). The
// support function may leave memory behind: call it in a CallMemory.
bool words_of_value(Relation index, Datum value, std::span<uint64_t> words);

} // namespace simhash
