// Conversions of fingerprints and codes from and to the forms that other tools print: hexadecimal
// digits, or an unsigned number.
#include "server/pg.hpp"

#include <algorithm>
#include <charconv>
#include <cinttypes>

namespace {

// Hexadecimal digits as tools print them: after 0x, 0X or nothing.
struct Digits {
    const char* written; // all of it, for messages
    int length;
    int prefix; // its bytes

    explicit Digits(const text* given)
        : written(VARDATA_ANY(given)), length(int(VARSIZE_ANY_EXHDR(given))),
          prefix(length >= 2 && written[0] == '0' && (written[1] | 0x20) == 'x' ? 2 : 0) {}

    const char* begin() const { return written + prefix; }
    int count() const { return length - prefix; }
};

// `detail` is a message with the places of two numbers.
[[noreturn]] void report_invalid_code(const Digits& digits, const char* detail, int number,
                                      int other = 0) {
    ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
            errmsg("invalid hexadecimal code: \"%.*s\"",
                   pg_mbcliplen(digits.written, digits.length, 64), digits.written),
            errdetail(detail, number, other),
            errhint("A code is hexadecimal digits, 4 bits of each, after 0x or 0X or nothing."));
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
    Digits digits(PG_GETARG_TEXT_PP(0));
    const char* end = digits.begin() + digits.count();
    uint64_t fingerprint = 0;
    // Fewer than 16 digits are the low ones, as tools print numbers without leading zeros.
    if (digits.count() < 1 || digits.count() > 16 ||
        std::from_chars(digits.begin(), end, fingerprint, 16).ptr != end)
        ereport(ERROR, errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
                errmsg("invalid hexadecimal fingerprint: \"%.*s\"",
                       pg_mbcliplen(digits.written, digits.length, 64), digits.written),
                errhint("A fingerprint is 1 to 16 hexadecimal digits, after 0x or 0X or nothing."));
    PG_RETURN_INT64(int64_t(fingerprint));
}

// (digits text [, bits integer]).
SIMHASH_FUNCTION(simhash_code_from_hex) {
    constexpr int kBitsOfDigit = 4, kMostDigits = VARBITMAXLEN / kBitsOfDigit;
    Digits digits(PG_GETARG_TEXT_PP(0));
    int length = digits.count();
    if (length > kMostDigits)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("a bit string cannot have more than %d hexadecimal digits", kMostDigits),
                errdetail("The size is %d bytes.", length));
    if (length == 0)
        report_invalid_code(digits, "It has no digit.", 0);
    int bits = PG_NARGS() > 1 ? PG_GETARG_INT32(1) : length * kBitsOfDigit;
    // Tools print the bits as a number, whose first digit may have fewer than 4 of them.
    int unused = length * kBitsOfDigit - bits;
    if (unused < 0 || unused >= kBitsOfDigit)
        report_invalid_code(digits, "It has %d digits, which are not those of %d bits.", length,
                            bits);
    auto* code = static_cast<VarBit*>(palloc(VARBITTOTALLEN(length * kBitsOfDigit)));
    constexpr int kPart = 16; // digits of 8 bytes
    for (int i = 0; i < length; i += kPart) {
        if (i % 65536 == 0)
            CHECK_FOR_INTERRUPTS();
        int count = std::min(kPart, length - i);
        uint64_t part = 0;
        const char* begin = digits.begin() + i;
        const char* end = std::from_chars(begin, begin + count, part, 16).ptr;
        if (end != begin + count)
            // Those before it are digits, of one byte each, so its number is that of the byte.
            report_invalid_code(digits, "Character %d is not a hexadecimal digit.",
                                int(end - digits.written) + 1);
        // A bit string begins with the highest bit of its first byte.
        part = pg_hton64(part << kBitsOfDigit * (kPart - count));
        memcpy(VARBITS(code) + i / 2, &part, size_t(count + 1) / 2);
    }
    // The first bit of the code becomes the highest of the first byte.
    uint8* bytes = VARBITS(code);
    if (unused > 0 && bytes[0] >> (BITS_PER_BYTE - unused) != 0)
        report_invalid_code(digits, "Its first digit has more than the first of %d bits.", bits);
    for (int i = 0, last = (length + 1) / 2 - 1; unused > 0 && i <= last; i++)
        bytes[i] =
            uint8(bytes[i] << unused | (i < last ? bytes[i + 1] >> (BITS_PER_BYTE - unused) : 0));
    SET_VARSIZE(code, VARBITTOTALLEN(bits));
    VARBITLEN(code) = bits;
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
