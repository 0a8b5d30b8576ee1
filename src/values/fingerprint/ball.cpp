// The type hamming_ball {center, radius}: the form of "within a radius of" that the index knows.
// Its text form is (center,radius), for example (-42,3). The operators <@ and @> test membership,
// and never raise an error.
#include "values/fingerprint/fingerprint.hpp"

#include "core/bits/fingerprint.hpp"

namespace simhash {

HammingBall* make_ball(int64 center, int64 radius) {
    auto* ball = static_cast<HammingBall*>(palloc(sizeof(HammingBall)));
    // No distance is beyond int32, so a saturated radius holds for the same ones.
    *ball = {center, saturate_to_int32(radius), 0};
    return ball;
}

namespace {

bool ball_has(const HammingBall* ball, int64 fingerprint) {
    // A negative radius holds for no distance, and one above 64 for all: no case of its own.
    return hamming_distance(uint64_t(ball->center), uint64_t(fingerprint)) <= ball->radius;
}

} // namespace

// ---- text form ----

bool skip_character(const char** text, char character) {
    auto skip_spaces = [text] {
        while (isspace(static_cast<unsigned char>(**text)))
            (*text)++;
    };
    skip_spaces();
    if (**text != character)
        return false;
    (*text)++;
    skip_spaces();
    return true;
}

Parsed parse_bigint(const char** text, int64* number) {
    char* end;
    errno = 0;
    // strtoll() takes spaces and a sign, and stops at the first character that is no digit.
    *number = strtoll(*text, &end, 10);
    if (end == *text)
        return Parsed::kSyntax;
    *text = end;
    return errno == ERANGE ? Parsed::kRange : Parsed::kOk;
}

Parsed parse_radius(const char* text, int64* radius) {
    if (!skip_character(&text, ','))
        return Parsed::kSyntax;
    Parsed parsed = parse_bigint(&text, radius);
    // Syntax comes before range, so that text behind the number is told first.
    return skip_character(&text, ')') && *text == '\0' ? parsed : Parsed::kSyntax;
}

Datum refuse_ball(FunctionCallInfo fcinfo, Parsed parsed, const char* type, const char* example,
                  const char* range) {
    const char* text = PG_GETARG_CSTRING(0);
    // ereturn() leaves the function, also where the caller has asked for a soft error.
    if (parsed == Parsed::kSyntax)
        ereturn(fcinfo->context, Datum(0), errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                errmsg("invalid input syntax for type %s: \"%s\"", type, text),
                errhint("Write a ball as (center,radius), for example %s.", example));
    ereturn(fcinfo->context, Datum(0), errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
            errmsg("value \"%s\" is out of range for type %s", text, type), errdetail("%s", range));
}

} // namespace simhash

using namespace simhash;

SIMHASH_FUNCTION(simhash_hamming_ball_in) {
    const char* text = PG_GETARG_CSTRING(0);
    int64 center = 0, radius = 0;
    Parsed parsed = skip_character(&text, '(') ? parse_bigint(&text, &center) : Parsed::kSyntax;
    if (parsed == Parsed::kOk)
        parsed = parse_radius(text, &radius);
    if (parsed != Parsed::kOk)
        return refuse_ball(fcinfo, parsed, "hamming_ball", "(42,3)",
                           "Center and radius must each fit a bigint.");
    PG_RETURN_POINTER(make_ball(center, radius));
}

SIMHASH_FUNCTION(simhash_hamming_ball_out) {
    const HammingBall* ball = datum_get_ball(PG_GETARG_DATUM(0));
    PG_RETURN_CSTRING(psprintf("(" INT64_FORMAT ",%d)", ball->center, ball->radius));
}

SIMHASH_FUNCTION(simhash_hamming_ball_recv) {
    auto* message = reinterpret_cast<StringInfo>(PG_GETARG_POINTER(0));
    // The center has 8 bytes and the radius 4, in the network's byte order. The server has checked
    // nothing of them, and any values are a ball.
    int64 center = pq_getmsgint64(message);
    PG_RETURN_POINTER(make_ball(center, int32(pq_getmsgint(message, sizeof(int32)))));
}

SIMHASH_FUNCTION(simhash_hamming_ball_send) {
    const HammingBall* ball = datum_get_ball(PG_GETARG_DATUM(0));
    StringInfoData message;
    pq_begintypsend(&message);
    pq_sendint64(&message, ball->center);
    pq_sendint32(&message, ball->radius);
    PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

// hamming_ball(center bigint, radius bigint).
SIMHASH_FUNCTION(simhash_hamming_ball) {
    PG_RETURN_POINTER(make_ball(PG_GETARG_INT64(0), PG_GETARG_INT64(1)));
}

// fp <@ ball, which the index searches for.
SIMHASH_FUNCTION(simhash_hamming_ball_contained) {
    PG_RETURN_BOOL(ball_has(datum_get_ball(PG_GETARG_DATUM(1)), PG_GETARG_INT64(0)));
}

// ball @> fp, its commutator.
SIMHASH_FUNCTION(simhash_hamming_ball_contains) {
    PG_RETURN_BOOL(ball_has(datum_get_ball(PG_GETARG_DATUM(0)), PG_GETARG_INT64(1)));
}
