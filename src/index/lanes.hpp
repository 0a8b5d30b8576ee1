// The lanes of a value: the fingerprints, 64 bits each, that the index keeps of a row's first
// column.
//
// A bigint is its own lane. For any other type the operator class says which lanes a value has, by
// its support function kValueLanes: for a text the halves of its minhash_code(), for a bit(n) as many
// as its bits fill. All values of a column have the same number of lanes; support function
// kLaneLayout tells it from the column's type modifier, and without that function it is one. Lanes
// do not tell the value, so the server compares each row found with the query again ("recheck"). A value may have
// no lanes, as a text of punctuation alone: its row goes to the null table, beside the rows whose
// value is NULL.
#pragma once

#include "server/pg.hpp"

#include "core/layout/lane_radii.hpp"
#include "index/access_method.hpp"

#include <span>

namespace simhash {

// True when the operator class of the first column computes the lanes of its values. No index has
// another type than bigint without that (check_first_column()).
inline bool computes_lanes(Relation index) {
    return index->rd_opcintype[0] != INT8OID;
}

// What an operator class says of the lanes of a column's values.
struct LaneLayout {
    int count;       // of each value, 1 .. kMaxLanes; 0: the type's modifier gives no length
    int near_radius; // of =~~
    LaneRule rule;   // of what a radius is
};
// Asks the operator class of type `type` in a family about values with a type modifier.
LaneLayout lane_layout(Oid opfamily, Oid type, int32 typmod);
// The same for the first column of an index.
LaneLayout lane_layout(Relation index);

// Returns the type modifier of the first column's values, below a domain; -1 if the column is of
// another type than its operator class.
int32 value_typmod(Relation index);

// Sets `lanes` to those of a value of the first column's type, which is not NULL. Returns false if
// the value has none. Raises an error if it has another number of them than lanes.size(). The
// support function may leave memory behind: call it in a CallMemory.
bool lanes_of_value(Relation index, Datum value, std::span<uint64_t> lanes);

} // namespace simhash
