// The type bit_ball {center, radius}: the form of "within a radius of" that the index knows of
// codes. Its text form is (center,radius), for example (101011,2). The operators <@ and @> test
// membership. A code of another length than the center is an error.
#include "values/code/code.hpp"

#include "core/bits/fingerprint.hpp"
#include "values/fingerprint/fingerprint.hpp"

namespace simhash {
namespace {

Code code_of_center(BitBall* ball) { return datum_get_code(VarBitPGetDatum(center(ball))); }

bool ball_has(Datum ball_datum, Datum code) {
    // The ball must be aligned, so it is unpacked. The code is read as it lies in its row.
    BitBall* ball = datum_get_bit_ball(ball_datum);
    return code_distance(datum_get_code(code), code_of_center(ball)) <= ball->radius;
}

} // namespace

BitBall* make_bit_ball(Datum center_code, int64 radius) {
    Code code = datum_get_code(center_code);
    size_t center_bytes = VARBITTOTALLEN(size_t(code.bit_count));
    size_t bytes = offsetof(BitBall, center) + center_bytes;
    auto* ball = static_cast<BitBall*>(palloc(bytes));
    SET_VARSIZE(ball, bytes);
    ball->radius = saturate_to_int32(radius);
    // The center has a header of its own, so it can be handed to functions of type bit as it is.
    SET_VARSIZE(center(ball), center_bytes);
    ball->center.bit_len = code.bit_count;
    // The unused bits of the code are 0, so those of the center are.
    memcpy(ball->center.bit_dat, code.bytes, code.byte_count());
    return ball;
}

bool read_lanes(const BitBall& ball, std::span<uint64_t> lanes) {
    // Lanes fill 64 bits each here, also where those of a code do not.
    if (size_t(ball.center.bit_len) != lanes.size() * kFingerprintBits)
        return false;
    memcpy(lanes.data(), ball.center.bit_dat, lanes.size_bytes());
    // A bit string begins with the highest bit of its first byte.
    for (uint64_t& lane : lanes)
        lane = pg_ntoh64(lane);
    return true;
}

} // namespace simhash

using namespace simhash;

SIMHASH_FUNCTION(simhash_bit_ball_in) {
    const char* digits = PG_GETARG_CSTRING(0);
    int64 radius = 0;
    Parsed parsed = Parsed::kSyntax;
    size_t count = 0;
    if (skip_character(&digits, '(')) {
        // May be 0: bit strings without a bit exist, and have balls.
        count = strspn(digits, "01");
        parsed = parse_radius(digits + count, &radius);
    }
    if (parsed != Parsed::kOk)
        return refuse_ball(fcinfo, parsed, "bit_ball", "(101011,2)",
                           "The radius must fit a bigint.");
    Datum code = DirectFunctionCall3(varbit_in, CStringGetDatum(pnstrdup(digits, count)),
                                     ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
    PG_RETURN_POINTER(make_bit_ball(code, radius));
}

SIMHASH_FUNCTION(simhash_bit_ball_out) {
    BitBall* ball = datum_get_bit_ball(PG_GETARG_DATUM(0));
    char* digits = DatumGetCString(DirectFunctionCall1(bit_out, VarBitPGetDatum(center(ball))));
    PG_RETURN_CSTRING(psprintf("(%s,%d)", digits, ball->radius));
}

// The binary form is that of the center, as of a value of type bit, then the radius.
SIMHASH_FUNCTION(simhash_bit_ball_recv) {
    auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    Datum code = DirectFunctionCall3(varbit_recv, PointerGetDatum(message),
                                     ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
    PG_RETURN_POINTER(make_bit_ball(code, int32(pq_getmsgint(message, sizeof(int32)))));
}

SIMHASH_FUNCTION(simhash_bit_ball_send) {
    BitBall* ball = datum_get_bit_ball(PG_GETARG_DATUM(0));
    bytea* sent = DatumGetByteaPP(DirectFunctionCall1(varbit_send, VarBitPGetDatum(center(ball))));
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendbytes(&message, VARDATA_ANY(sent), int(VARSIZE_ANY_EXHDR(sent)));
    pq_sendint32(&message, uint32(ball->radius));
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

SIMHASH_FUNCTION(simhash_bit_ball) {
    PG_RETURN_POINTER(make_bit_ball(PG_GETARG_DATUM(0), PG_GETARG_INT64(1)));
}

// code <@ ball, which the index searches for.
SIMHASH_FUNCTION(simhash_bit_ball_contained) {
    PG_RETURN_BOOL(ball_has(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)));
}

// ball @> code, its commutator.
SIMHASH_FUNCTION(simhash_bit_ball_contains) {
    PG_RETURN_BOOL(ball_has(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}
