// See codes.hpp.
#include "tables/codes.hpp"

#include "values/code/code.hpp"

namespace simhash {
namespace {

constexpr size_t kBytesOfWord = sizeof(uint64_t);

[[noreturn]] void report_lengths(int a, int b) {
    ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
                    errmsg("cannot search bit strings of different sizes for near pairs"),
                    errdetail("The sizes are %d and %d bits.", a, b),
                    errhint("Cast all to one type, such as bit(%d).", std::max(a, b))));
}

[[noreturn]] void report_length(int bits) {
    ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                    errmsg("cannot search bit strings of this size for near pairs"),
                    errdetail("The size is %d bits.", bits),
                    errhint("Use bit strings of 1 to %d bits.", kMaxCodeBits)));
}

} // namespace

void check_code_radius(int32 radius) {
    if (radius < 0 || radius > kMaxCodeBits)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("radius is out of range"),
                        errdetail("The radius is %d.", radius),
                        errhint("Use a radius between 0 and %d.", kMaxCodeBits)));
}

Datum code_datum(const uint64_t* words, int bits) {
    auto* code = static_cast<VarBit*>(palloc0(VARBITTOTALLEN(bits)));
    // The last word may have fewer bytes than 8. Its unused bits are 0, so those of the last byte
    // are.
    auto bytes = size_t(VARBITTOTALLEN(bits) - VARBITHDRSZ - VARHDRSZ);
    SET_VARSIZE(code, VARBITTOTALLEN(bits));
    VARBITLEN(code) = bits;
    for (size_t at = 0; at < bytes; at += kBytesOfWord) {
        uint64 word = pg_hton64(words[at / kBytesOfWord]);
        memcpy(VARBITS(code) + at, &word, std::min(kBytesOfWord, bytes - at));
    }
    return VarBitPGetDatum(code);
}

void CodeSet::begin(int bits) {
    if (bits < 1 || bits > kMaxCodeBits)
        report_length(bits);
    bits_ = bits;
    // It gets half of the memory, because a code takes about twice as much in a search as here: 16
    // bytes a word and 80, against 8 a word and 32 (bytes_per_code()).
    sorter_.emplace(context_, get_hash_memory_limit() / 2 / size_t(sets_),
                    words() + int(with_rows_));
}

void CodeSet::add(Datum datum, uint64_t row) {
    // datum_get_code() would unpack it, too, but leave nobody to free it.
    auto* value = PG_DETOAST_DATUM_PACKED(datum);
    Code code = datum_get_code(PointerGetDatum(value));
    // The first code sets the length for all.
    if (bits_ == 0)
        begin(code.bit_count);
    else if (code.bit_count != bits_)
        report_lengths(bits_, code.bit_count);
    // The record begins as zeros, because the last word may get fewer bytes than it has.
    uint64_t record[kMaxCodeWords + 1] = {};
    size_t bytes = code.byte_count();
    for (size_t at = 0; at < bytes; at += kBytesOfWord) {
        uint64 word = 0;
        memcpy(&word, code.bytes + at, std::min(kBytesOfWord, bytes - at));
        // The first byte becomes the highest of the word, so the order of words is that of the
        // bytes.
        record[at / kBytesOfWord] = pg_ntoh64(word);
    }
    record[words()] = row; // only read where codes come with rows
    sorter_->add(record);
    if (PointerGetDatum(value) != datum)
        pfree(value);
}

void check_same_length(const CodeSet& a, const CodeSet& b) {
    if (a.bits() != 0 && b.bits() != 0 && a.bits() != b.bits())
        report_lengths(a.bits(), b.bits());
}

} // namespace simhash
