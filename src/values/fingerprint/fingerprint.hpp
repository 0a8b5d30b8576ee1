// Fingerprints as SQL values, and the type hamming_ball, all fingerprints within a radius of a
// center. The index searches for fp <@ hamming_ball(query, radius).
#pragma once

#include "server/pg.hpp"

#include <algorithm>

// The operator of an exclusion constraint takes no radius, so there is one function for each.
#define SIMHASH_FOR_EACH_RADIUS(macro)                                                             \
    macro(1) macro(2) macro(3) macro(4) macro(5) macro(6) macro(7) macro(8)

namespace simhash {

// The stored form: typlen 16, alignment double, passed by reference. The radius is any int32: with
// a negative one the ball is empty, and above 64 it holds every fingerprint (saturate_radius in
// core/bits/fingerprint.hpp).
struct HammingBall {
    int64 center;
    int32 radius;
    int32 reserved; // 0, so that equal balls are equal bytes
};
static_assert(sizeof(HammingBall) == 16);

// No detoasting: a type of fixed length is never compressed or moved out of its row.
inline HammingBall* datum_get_ball(Datum datum) {
    return reinterpret_cast<HammingBall*>(DatumGetPointer(datum));
}

// Makes a ball in the current memory context. A radius beyond int32 saturates.
HammingBall* make_ball(int64 center, int64 radius);

// ---- what balls of any center share ----

// The radius as it is stored.
inline int32 saturate_to_int32(int64 radius) {
    return int32(std::clamp<int64>(radius, PG_INT32_MIN, PG_INT32_MAX));
}

// The text form is (center,radius). Spaces may stand before and after each number and parenthesis,
// as in the types of the server.
enum class Parsed { kOk, kSyntax, kRange };

// Moves *text past spaces, this character and spaces. Returns false at another character.
bool skip_character(const char** text, char character);
// Reads a bigint, and moves *text past it.
Parsed parse_bigint(const char** text, int64* number);
// Reads what follows the center, up to the end of the text.
Parsed parse_radius(const char* text, int64* radius);
// Raises the error of a text that is no ball, or saves it where the caller has asked for a soft
// one. `range` is the DETAIL of a number out of range.
Datum refuse_ball(FunctionCallInfo fcinfo, Parsed parsed, const char* type, const char* example,
                  const char* range);

} // namespace simhash
