// The type bit_ball {center, radius}: the form of "within a radius of" that the index knows of
// codes. Its text form is (center,radius), for example (101011,2). The operators <@ and @> test
// membership. A code of another length than the center is an error.
#include "values/code/bit_ball.hpp"

#include "core/bits/distance.hpp"
#include "values/code/code.hpp"

#include <algorithm>

namespace simhash {

namespace {

// A ball whose center has `bit_count` bits, all 0.
BitBall* make_empty_ball(int bit_count, int64 radius) {
    Assert(bit_count >= 0 && bit_count <= VARBITMAXLEN);
    size_t center_bytes = VARBITTOTALLEN(size_t(bit_count));
    size_t bytes = offsetof(BitBall, center) + center_bytes;
    // Zeros: the unused bits of the last byte must be 0, as in a value of type bit.
    auto* ball = static_cast<BitBall*>(palloc0(bytes));
    SET_VARSIZE(ball, bytes);
    ball->radius = int32(std::clamp<int64>(radius, PG_INT32_MIN, PG_INT32_MAX));
    // The center has a header of its own, so it can be handed to functions of type bit as it is.
    SET_VARSIZE(center(ball), center_bytes);
    ball->center.bit_len = bit_count;
    return ball;
}

Code code_of_center(BitBall* ball) {
    return datum_get_code(VarBitPGetDatum(center(ball)));
}

bool ball_has(Datum ball_datum, Datum code) {
    // The ball must be aligned, so it is unpacked. The code is read as it lies in its row.
    BitBall* ball = datum_get_bit_ball(ball_datum);
    return code_distance(datum_get_code(code), code_of_center(ball)) <= ball->radius;
}

// ---- text form ----

enum class Parsed { kOk, kSyntax, kRange };

const char* skip_space(const char* text) {
    while (isspace(static_cast<unsigned char>(*text)))
        text++;
    return text;
}

// The parts of a ball's text form.
struct BallText {
    const char* digits; // of the center, each 0 or 1
    size_t digit_count;
    int64 radius;
};

Parsed parse_radius(const char* text, int64* radius) {
    char* end;
    errno = 0;
    *radius = strtoll(text, &end, 10);
    // The character after the closing parenthesis is looked at only where there is one.
    if (end == text || *skip_space(end) != ')' || *skip_space(skip_space(end) + 1) != '\0')
        return Parsed::kSyntax;
    // Syntax comes before range, so that text behind the number is told first.
    return errno == ERANGE ? Parsed::kRange : Parsed::kOk;
}

Parsed parse_ball(const char* text, BallText* ball) {
    text = skip_space(text);
    if (*text != '(')
        return Parsed::kSyntax;
    ball->digits = skip_space(text + 1);
    // May be 0: bit strings without a bit exist, and have balls.
    ball->digit_count = strspn(ball->digits, "01");
    text = skip_space(ball->digits + ball->digit_count);
    return *text == ',' ? parse_radius(text + 1, &ball->radius) : Parsed::kSyntax;
}

// Text is palloc'd, so the number of its digits is that of a bit string.
BitBall* ball_of_text(const BallText& text) {
    static_assert(MaxAllocSize <= VARBITMAXLEN);
    BitBall* ball = make_empty_ball(int(text.digit_count), text.radius);
    for (size_t i = 0; i < text.digit_count; i++)
        if (text.digits[i] == '1')
            // The first digit is the highest bit of the first byte.
            ball->center.bit_dat[i / 8] |= uint8(0x80 >> i % 8);
    return ball;
}

// ---- binary form: that of the center, as of a value of type bit, then the radius ----

BitBall* receive_ball(StringInfo message) {
    auto bit_count = int32(pq_getmsgint(message, sizeof(int32)));
    if (bit_count < 0 || bit_count > VARBITMAXLEN)
        ereport(ERROR, (errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
                        errmsg("invalid length in external bit string")));
    size_t byte_count = (size_t(bit_count) + 7) / 8;
    // It raises an error where the message has fewer bytes, before memory is allocated for them.
    const char* bytes = pq_getmsgbytes(message, int(byte_count));
    BitBall* ball = make_empty_ball(bit_count, int32(pq_getmsgint(message, sizeof(int32))));
    memcpy(ball->center.bit_dat, bytes, byte_count);
    // The unused bits of the last byte are 0, whatever was sent.
    if (bit_count % 8 != 0)
        ball->center.bit_dat[byte_count - 1] &= uint8(0xff << (8 - bit_count % 8));
    return ball;
}

} // namespace

BitBall* make_bit_ball(Datum center, int64 radius) {
    Code code = datum_get_code(center);
    BitBall* ball = make_empty_ball(code.bit_count, radius);
    memcpy(ball->center.bit_dat, code.bytes, code.byte_count());
    return ball;
}

bool read_lanes(const BitBall& ball, std::span<uint64_t> lanes) {
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

extern "C" {
PG_FUNCTION_INFO_V1(simhash_bit_ball_in);
PG_FUNCTION_INFO_V1(simhash_bit_ball_out);
PG_FUNCTION_INFO_V1(simhash_bit_ball_recv);
PG_FUNCTION_INFO_V1(simhash_bit_ball_send);
PG_FUNCTION_INFO_V1(simhash_bit_ball);
PG_FUNCTION_INFO_V1(simhash_bit_ball_contained);
PG_FUNCTION_INFO_V1(simhash_bit_ball_contains);

Datum simhash_bit_ball_in(PG_FUNCTION_ARGS) {
    const char* text = PG_GETARG_CSTRING(0);
    BallText parts{};
    switch (parse_ball(text, &parts)) {
    case Parsed::kOk:
        break;
    case Parsed::kSyntax:
        ereturn(fcinfo->context, Datum(0),
                (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                 errmsg("invalid input syntax for type %s: \"%s\"", "bit_ball", text),
                 errhint("Write a ball as (center,radius), for example (101011,2).")));
    case Parsed::kRange:
        ereturn(fcinfo->context, Datum(0),
                (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                 errmsg("value \"%s\" is out of range for type %s", text, "bit_ball"),
                 errdetail("The radius must fit a bigint.")));
    }
    PG_RETURN_POINTER(ball_of_text(parts));
}

Datum simhash_bit_ball_out(PG_FUNCTION_ARGS) {
    BitBall* ball = datum_get_bit_ball(PG_GETARG_DATUM(0));
    char* digits = DatumGetCString(DirectFunctionCall1(bit_out, VarBitPGetDatum(center(ball))));
    PG_RETURN_CSTRING(psprintf("(%s,%d)", digits, ball->radius));
}

Datum simhash_bit_ball_recv(PG_FUNCTION_ARGS) {
    PG_RETURN_POINTER(receive_ball(reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0))));
}

Datum simhash_bit_ball_send(PG_FUNCTION_ARGS) {
    BitBall* ball = datum_get_bit_ball(PG_GETARG_DATUM(0));
    Code code = code_of_center(ball);
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint32(&message, uint32(code.bit_count));
    pq_sendbytes(&message, reinterpret_cast<const char*>(code.bytes), int(code.byte_count()));
    pq_sendint32(&message, uint32(ball->radius));
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

Datum simhash_bit_ball(PG_FUNCTION_ARGS) {
    PG_RETURN_POINTER(make_bit_ball(PG_GETARG_DATUM(0), PG_GETARG_INT64(1)));
}

// code <@ ball, which the index searches for.
Datum simhash_bit_ball_contained(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(ball_has(PG_GETARG_DATUM(1), PG_GETARG_DATUM(0)));
}

// ball @> code, its commutator.
Datum simhash_bit_ball_contains(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(ball_has(PG_GETARG_DATUM(0), PG_GETARG_DATUM(1)));
}
}
