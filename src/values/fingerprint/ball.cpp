// The type hamming_ball {center, radius}: the form of "within a radius of" that the index knows.
// Its text form is (center,radius), for example (-42,3). The operators <@ and @> test membership,
// and never raise an error.
#include "values/fingerprint/ball.hpp"

#include "core/bits/ball.hpp"

#include <algorithm>

namespace simhash {

HammingBall* make_ball(int64 center, int64 radius) {
    auto* ball = static_cast<HammingBall*>(palloc(sizeof(HammingBall)));
    *ball = {center, int32(std::clamp<int64>(radius, PG_INT32_MIN, PG_INT32_MAX)), 0};
    return ball;
}

namespace {

bool ball_has(const HammingBall* ball, int64 fingerprint) {
    // A negative radius holds for no distance, and one above 64 for all: no case of its own.
    return hamming_distance(uint64_t(ball->center), uint64_t(fingerprint)) <= ball->radius;
}

// ---- text form ----

enum class Parsed { kOk, kSyntax, kRange };

const char* skip_space(const char* text) {
    while (isspace(static_cast<unsigned char>(*text)))
        text++;
    return text;
}

// Reads one bigint and the delimiter after it, and moves *text past both.
Parsed parse_number(const char** text, char delimiter, int64* number) {
    char* end;
    *text = skip_space(*text);
    errno = 0;
    // strtoll() takes a sign, and stops at the first character that is no digit.
    *number = strtoll(*text, &end, 10);
    if (end == *text)
        return Parsed::kSyntax;
    // The number is one, but too large: another error than bad syntax.
    if (errno == ERANGE)
        return Parsed::kRange;
    const char* after = skip_space(end);
    if (*after != delimiter)
        return Parsed::kSyntax;
    *text = after + 1;
    return Parsed::kOk;
}

// Spaces may stand before and after each number and parenthesis, as in the types of the server.
Parsed parse_ball(const char* text, int64* center, int64* radius) {
    text = skip_space(text);
    if (*text++ != '(')
        return Parsed::kSyntax;
    Parsed parsed = parse_number(&text, ',', center);
    if (parsed == Parsed::kOk)
        parsed = parse_number(&text, ')', radius);
    if (parsed == Parsed::kOk && *skip_space(text) != '\0')
        return Parsed::kSyntax;
    return parsed;
}

} // namespace

} // namespace simhash

using namespace simhash;

extern "C" {
PG_FUNCTION_INFO_V1(simhash_hamming_ball_in);
PG_FUNCTION_INFO_V1(simhash_hamming_ball_out);
PG_FUNCTION_INFO_V1(simhash_hamming_ball_recv);
PG_FUNCTION_INFO_V1(simhash_hamming_ball_send);
PG_FUNCTION_INFO_V1(simhash_hamming_ball);
PG_FUNCTION_INFO_V1(simhash_hamming_ball_contained);
PG_FUNCTION_INFO_V1(simhash_hamming_ball_contains);

Datum simhash_hamming_ball_in(PG_FUNCTION_ARGS) {
    const char* text = PG_GETARG_CSTRING(0);
    int64 center = 0, radius = 0;
    switch (parse_ball(text, &center, &radius)) {
    case Parsed::kOk:
        break;
    // ereturn() leaves the function, also where the caller has asked for a soft error.
    case Parsed::kSyntax:
        ereturn(fcinfo->context, Datum(0),
                (errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                 errmsg("invalid input syntax for type %s: \"%s\"", "hamming_ball", text),
                 errhint("Write a ball as (center,radius), for example (42,3).")));
    case Parsed::kRange:
        ereturn(fcinfo->context, Datum(0),
                (errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                 errmsg("value \"%s\" is out of range for type %s", text, "hamming_ball"),
                 errdetail("Center and radius must each fit a bigint.")));
    }
    PG_RETURN_POINTER(make_ball(center, radius));
}

Datum simhash_hamming_ball_out(PG_FUNCTION_ARGS) {
    const HammingBall* ball = datum_get_ball(PG_GETARG_DATUM(0));
    PG_RETURN_CSTRING(psprintf("(" INT64_FORMAT ",%d)", ball->center, ball->radius));
}

Datum simhash_hamming_ball_recv(PG_FUNCTION_ARGS) {
    auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    // The center has 8 bytes and the radius 4, in the network's byte order. The server has checked
    // nothing of them, and any values are a ball.
    int64 center = pq_getmsgint64(message);
    PG_RETURN_POINTER(make_ball(center, int32(pq_getmsgint(message, sizeof(int32)))));
}

Datum simhash_hamming_ball_send(PG_FUNCTION_ARGS) {
    const HammingBall* ball = datum_get_ball(PG_GETARG_DATUM(0));
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint64(&message, ball->center);
    pq_sendint32(&message, ball->radius);
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

// hamming_ball(center bigint, radius bigint).
Datum simhash_hamming_ball(PG_FUNCTION_ARGS) {
    PG_RETURN_POINTER(make_ball(PG_GETARG_INT64(0), PG_GETARG_INT64(1)));
}

// fp <@ ball, which the index searches for.
Datum simhash_hamming_ball_contained(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(ball_has(datum_get_ball(PG_GETARG_DATUM(1)), PG_GETARG_INT64(0)));
}

// ball @> fp, its commutator.
Datum simhash_hamming_ball_contains(PG_FUNCTION_ARGS) {
    PG_RETURN_BOOL(ball_has(datum_get_ball(PG_GETARG_DATUM(0)), PG_GETARG_INT64(1)));
}
}
