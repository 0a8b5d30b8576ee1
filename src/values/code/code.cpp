// The distance of two codes, the predicates that compare it, and the lanes by which an index finds
// a code, as SQL functions.
//
//     hamming(a, b), a <~~> b          number of differing bits
//     hamming_within(a, b, radius)     a <~~> b <= radius
//     a =~~ b                          a <~~> b <= near_radius_of_bits(length)
//
// They are what distance.cpp has for fingerprints of 64 bits, but for one thing: codes of different
// lengths have no distance, which is an error. So none of them is LEAKPROOF.
#include "values/code/code.hpp"

#include "core/bits/code_lanes.hpp"
#include "core/bits/distances.hpp"
#include "core/layout/lane_radii.hpp"
#include "server/arguments.hpp"

#include <algorithm>

namespace simhash {

Code datum_get_code(Datum datum) {
    // A short header stays as it is, so a code of a row is not copied. What is unpacked goes with
    // the caller's context.
    auto* value = PG_DETOAST_DATUM_PACKED(datum);
    auto* data = reinterpret_cast<const uint8*>(VARDATA_ANY(value));
    int32 bit_count;
    // Behind a short header the number is not aligned.
    memcpy(&bit_count, data, sizeof(bit_count));
    Code code = {data + sizeof(bit_count), bit_count};
    Assert(sizeof(bit_count) + code.byte_count() == VARSIZE_ANY_EXHDR(value));
    return code;
}

void report_different_lengths(int bit_count, int other_bit_count) {
    ereport(
        ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
        errmsg("cannot compare bit strings of different sizes"),
        errdetail("The sizes are %d and %d bits.", bit_count, other_bit_count),
        errhint("Cast both to one type, such as bit(%d).", std::max(bit_count, other_bit_count)));
}

int code_distance(const Code& a, const Code& b) {
    // As the server's own operators on bit strings do, for example & and |.
    if (a.bit_count != b.bit_count)
        report_different_lengths(a.bit_count, b.bit_count);
    return int(code_distance(a.bytes, b.bytes, a.byte_count()));
}

namespace {

int distance_of_first_two(FunctionCallInfo fcinfo) {
    return code_distance(datum_get_code(PG_GETARG_DATUM(0)), datum_get_code(PG_GETARG_DATUM(1)));
}

void require_indexable(int bit_count) {
    if (bit_count > kMaxCodeBits)
        ereport(
            ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
            errmsg("a simhash index cannot hold bit strings of more than %d bits", kMaxCodeBits),
            errdetail("The size is %d bits.", bit_count),
            errhint("To index the first %1$d bits of a column code, write USING "
                    "simhash ((code::bit(%1$d))), and code::bit(%1$d) in queries.",
                    kMaxCodeBits));
}

// The table serves the length that two codes in a row had. A build or a COPY asks for the lanes of
// many codes, a query for those of one: to fill the table takes as long as five codes do without
// it. The table is in the backend's own memory: its 512 kB become resident when it is filled.
constinit LaneTable lane_table;
constinit int last_bit_count = 0;

} // namespace

void lanes_of_code(const Code& code, uint64_t* lanes) {
    // The second code in a row of a length that the table does not serve.
    if (code.bit_count == last_bit_count && code.bit_count != lane_table.bit_count())
        lane_table.fill(code.bit_count);
    last_bit_count = code.bit_count;
    if (code.bit_count == lane_table.bit_count())
        lane_table.lanes_of_bits(code.bytes, lanes);
    else
        lanes_of_bits(code.bytes, code.bit_count, lanes);
}

} // namespace simhash

using namespace simhash;

SIMHASH_FUNCTION(simhash_hamming_bit) { PG_RETURN_INT32(distance_of_first_two(fcinfo)); }

SIMHASH_FUNCTION(simhash_hamming_within_bit) {
    // The radius is a bigint: the planner makes one of any limit that a query compares with.
    PG_RETURN_BOOL(distance_of_first_two(fcinfo) <= PG_GETARG_INT64(2));
}

SIMHASH_FUNCTION(simhash_codes_alike) {
    Code a = datum_get_code(PG_GETARG_DATUM(0)), b = datum_get_code(PG_GETARG_DATUM(1));
    PG_RETURN_BOOL(code_distance(a, b) <= near_radius_of_bits(a.bit_count));
}

// This is support function 2 of the class of codes (kValueLanes). NULL for a code that has not the
// length of the type modifier: no code of a column of that type has a distance from it.
SIMHASH_FUNCTION(simhash_bit_lanes) {
    Code code = datum_get_code(PG_GETARG_DATUM(0));
    if (int32 length = PG_GETARG_INT32(1); length >= 0 && length != code.bit_count)
        PG_RETURN_NULL();
    require_indexable(code.bit_count);
    uint64_t lanes[kMaxCodeLanes];
    lanes_of_code(code, lanes);
    return bigint_array(lanes, size_t(lane_count_of_bits(code.bit_count)));
}

// The type modifier of bit(n) is n; without one the length is not known.
SIMHASH_FUNCTION(simhash_bit_lane_layout) {
    int bit_count = PG_GETARG_INT32(0);
    // bit varying, or bit without a length: -1. first_column.cpp refuses an index on it.
    if (bit_count < 1)
        PG_RETURN_NULL();
    require_indexable(bit_count);
    // The lanes have fewer than 64 bits each, where these do not fill them.
    return lane_layout_array({lane_count_of_bits(bit_count), near_radius_of_bits(bit_count),
                              int(LaneRule::kSum), bit_count});
}
