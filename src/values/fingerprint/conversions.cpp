// Conversions of fingerprints and codes from and to the forms that other tools print: hexadecimal
// digits, or an unsigned number.
#include "server/pg.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>

namespace {

// `detail` is a message with the place of `number`.
[[noreturn]] void report_invalid_code(const char* written, int length, const char* detail,
                                      int number) {
    ereport(
        ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
        errmsg("invalid hexadecimal code: \"%.*s\"", pg_mbcliplen(written, length, 64), written),
        errdetail(detail, number),
        errhint("A code is an even number of hexadecimal digits, without 0x."));
}

// Returns false if the digits are no whole number below 2^64. Accepts a fraction of zeros.
bool parse_unsigned(const char* digits, uint64_t* out) {
    // NaN, infinity and a minus sign have no digit in front.
    auto [at, error] = std::from_chars(digits, digits + strlen(digits), *out);
    if (*at == '.')
        // numeric(20,2) prints 42 as 42.00.
        at += 1 + strspn(at + 1, "0");
    return error == std::errc() && *at == '\0';
}

} // namespace

SIMHASH_FUNCTION(simhash_to_hex) {
    PG_RETURN_TEXT_P(cstring_to_text(psprintf("%016" PRIx64, PG_GETARG_INT64(0))));
}

SIMHASH_FUNCTION(simhash_from_hex) {
    text* given = PG_GETARG_TEXT_PP(0);
    const char* written = VARDATA_ANY(given);
    int written_length = int(VARSIZE_ANY_EXHDR(given));
    // Many programming languages print a leading 0x or 0X.
    bool has_prefix = written_length >= 2 && written[0] == '0' && (written[1] | 0x20) == 'x';
    const char* digits = written + 2 * has_prefix;
    int length = written_length - 2 * has_prefix;
    uint64_t fingerprint = 0;
    // Fewer than 16 digits are the low ones, as tools print numbers without leading zeros.
    if (length < 1 || length > 16 ||
        std::from_chars(digits, digits + length, fingerprint, 16).ptr != digits + length)
        ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                errmsg("invalid hexadecimal fingerprint: \"%.*s\"",
                       pg_mbcliplen(written, written_length, 64), written),
                errhint("A fingerprint is 1 to 16 hexadecimal digits, after 0x or 0X or nothing."));
    PG_RETURN_INT64(int64_t(fingerprint));
}

SIMHASH_FUNCTION(simhash_code_from_hex) {
    constexpr int kBitsOfDigit = 4, kMostDigits = VARBITMAXLEN / kBitsOfDigit;
    text* given = PG_GETARG_TEXT_PP(0);
    const char* digits = VARDATA_ANY(given);
    int length = int(VARSIZE_ANY_EXHDR(given));
    if (length > kMostDigits)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a bit string cannot have more than %d hexadecimal digits", kMostDigits),
                errdetail("The size is %d bytes.", length));
    int bits = length * kBitsOfDigit;
    auto* code = static_cast<VarBit*>(palloc(VARBITTOTALLEN(bits)));
    SET_VARSIZE(code, VARBITTOTALLEN(bits));
    VARBITLEN(code) = bits;
    constexpr int kPart = 16; // digits of 8 bytes
    for (int i = 0; i < length; i += kPart) {
        if (i % 65536 == 0)
            CHECK_FOR_INTERRUPTS();
        int count = std::min(kPart, length - i);
        uint64_t part = 0;
        const char* end = std::from_chars(digits + i, digits + i + count, part, 16).ptr;
        if (end != digits + i + count)
            // Those before it are digits, of one byte each, so its number is that of the byte.
            report_invalid_code(digits, length, "Character %d is not a hexadecimal digit.",
                                int(end - digits) + 1);
        // A bit string begins with the highest bit of its first byte.
        part = pg_hton64(part << kBitsOfDigit * (kPart - count));
        memcpy(VARBITS(code) + i / 2, &part, size_t(count) / 2);
    }
    // Bytes have two digits each; an odd one is a digit that was lost.
    if (length == 0 || length % 2 != 0)
        report_invalid_code(digits, length, "The number of digits is %d.", length);
    PG_RETURN_VARBIT_P(code);
}

SIMHASH_FUNCTION(simhash_to_unsigned) {
    const char* digits = psprintf(UINT64_FORMAT, uint64(PG_GETARG_INT64(0)));
    // A numeric has room for all 64 bits as an unsigned number, which no integer type of SQL has.
    // -1: without a type modifier.
    return DirectFunctionCall3(numeric_in, CStringGetDatum(digits), ObjectIdGetDatum(InvalidOid),
                               Int32GetDatum(-1));
}

SIMHASH_FUNCTION(simhash_from_unsigned) {
    const char* digits = DatumGetCString(DirectFunctionCall1(numeric_out, PG_GETARG_DATUM(0)));
    uint64_t fingerprint;
    if (!parse_unsigned(digits, &fingerprint))
        ereport(ERROR, errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
                errmsg("invalid unsigned fingerprint: %.64s", digits),
                errhint("A fingerprint is a whole number from 0 to 18446744073709551615."));
    PG_RETURN_INT64(int64_t(fingerprint));
}
