// The lanes of a value: the fingerprints of 64 bits that the index keeps of a row's first column.
//
// A bigint is its own lane. For any other type the operator class says which lanes a value has, by
// its support function kValueLanes: for a text the halves of its minhash_code(), for a bit(n) as
// many as its bits fill. All values of a column have the same number of lanes; support function
// kLaneLayout tells it from the column's type modifier, and without that function it is one. Or
// values have any number of lanes, such as the winnowed hashes of a text (LaneRule::kCommon). Lanes
// do not tell the value, so the server compares each row found with the query again ("recheck"). A
// value may have no lanes, as a text of punctuation alone: its row goes to the null table, beside
// the rows whose value is NULL.
//
// All that the access method knows of a type: whoever needs more asks the operator class.
#pragma once

#include "core/layout/lane_radii.hpp"
#include "index/access_method.hpp"
#include "server/arguments.hpp"
#include "server/call_memory.hpp"

#include <span>

namespace simhash {

// True for the type whose values are lanes themselves. No index has another one in its first column
// whose operator class does not compute lanes (check_first_column()).
constexpr bool values_are_lanes(Oid type) { return type == INT8OID; }
inline bool computes_lanes(Relation index) { return !values_are_lanes(index->rd_opcintype[0]); }

// What an operator class says of the lanes of a column's values.
struct LaneLayout {
    int count; // of each value, 1 .. kMaxLanes; 0: the type's modifier gives no length
    // Of =~~; of ~= where values are lanes. By the common rule 0, or all bits where lanes do not
    // tell which values are near.
    int near_radius;
    LaneRule rule;      // of what a radius is
    int bits;           // the greatest distance of two values
    int definition = 0; // the number of the present one

    // The bits of a lane by which the lanes of two values can differ.
    int bits_of_lane(int lane) const;
};
// Asks the operator class of type `type` in a family about values with a type modifier. Its options
// are those of the index's first column, null where it has none.
LaneLayout lane_layout(Oid opfamily, Oid type, bytea* options, int32 typmod);
// The same for the first column of an index.
LaneLayout lane_layout(Relation index);
// Those options as the planner has them. An index that only an advisor imagines may have none.
inline bytea* class_options(const IndexOptInfo* index) {
    return index->opclassoptions != nullptr ? index->opclassoptions[0] : nullptr;
}

// Returns the type modifier of the first column's values, below a domain; -1 if the column is of
// another type than its operator class.
int32 value_typmod(Relation index);

// The lanes of one value after another.
class LaneList {
  public:
    // Each value has `count` lanes, or any number if that is 0. Takes memory for them from the
    // current context, which must live as long.
    explicit LaneList(int count) : fixed_(count), lanes_(server_memory()) {}
    explicit LaneList(const LaneLayout& layout)
        : LaneList(layout.rule == LaneRule::kCommon ? 0 : layout.count) {}
    explicit LaneList(const Layout& layout) : LaneList(layout.lanes_vary ? 0 : layout.lane_count) {
        stored_bits_ = UINT64_MAX >> (kFingerprintBits - layout.key_bits);
    }

    bool have_any_number() const { return fixed_ == 0; }
    // How many each value must have, where the number does not vary.
    size_t fixed_count() const { return size_t(fixed_); }
    std::span<uint64_t> all() { return lanes_.all(); }
    std::span<const uint64_t> all() const { return lanes_.all(); }

    std::span<uint64_t> resize(size_t count);
    // XORs each lane with the hash of a scope. Where their number varies, drops the bits that are
    // not stored, sorts them and drops repetitions: then each is an entry of a tree.
    void store(uint64_t scope_hash);

  private:
    int fixed_;
    uint64_t stored_bits_ = UINT64_MAX; // mask
    GrowingArray<uint64_t> lanes_;
};

enum class ValueLanes {
    kFound,
    kNone,    // nothing is near the value but what has no lanes either
    kUnknown, // it cannot be compared with the column's, as a bit string of another length
};
// Sets `lanes` to those of a value of the first column's type, which is not NULL. Raises an error
// if it has another number of them than it must have. The support function may leave memory behind:
// call it in a CallMemory.
ValueLanes lanes_of_value(Relation index, Datum value, LaneList* lanes);
// The same for a value of another type with which the operator class compares the column's. Where
// it computes no lanes of that type they are unknown.
ValueLanes lanes_of_query(Relation index, Datum query, Oid type, LaneList* lanes);

} // namespace simhash
