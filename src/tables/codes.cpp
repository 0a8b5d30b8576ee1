// See codes.hpp.
#include "tables/codes.hpp"

#include "values/code/code.hpp"

namespace simhash {
namespace {

constexpr size_t kBytesOfLane = sizeof(uint64_t);

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

Datum code_datum(const uint64_t* lanes, int bits) {
    auto* code = static_cast<VarBit*>(palloc0(VARBITTOTALLEN(bits)));
    // The last lane may have fewer bytes than 8. Its unused bits are 0, so those of the last byte
    // are.
    auto bytes = size_t(VARBITTOTALLEN(bits) - VARBITHDRSZ - VARHDRSZ);
    SET_VARSIZE(code, VARBITTOTALLEN(bits));
    VARBITLEN(code) = bits;
    for (size_t at = 0; at < bytes; at += kBytesOfLane) {
        uint64 lane = pg_hton64(lanes[at / kBytesOfLane]);
        memcpy(VARBITS(code) + at, &lane, std::min(kBytesOfLane, bytes - at));
    }
    return VarBitPGetDatum(code);
}

void CodeSet::begin(int bits) {
    if (bits < 1 || bits > kMaxCodeBits)
        report_length(bits);
    bits_ = bits;
    // It gets half of the memory, because a code takes about twice as much in a search as here: 16
    // bytes a lane and 80, against 8 a lane and 32 (bytes_per_code()).
    sorter_.emplace(context_, get_hash_memory_limit() / 2 / size_t(sets_),
                    lanes() + int(with_rows_));
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
    // The record begins as zeros, because the last lane may get fewer bytes than it has.
    uint64_t record[kMaxCodeLanes + 1] = {};
    size_t bytes = code.byte_count();
    for (size_t at = 0; at < bytes; at += kBytesOfLane) {
        uint64 lane = 0;
        memcpy(&lane, code.bytes + at, std::min(kBytesOfLane, bytes - at));
        // The first byte becomes the highest of the lane, so the order of lanes is that of the
        // bytes.
        record[at / kBytesOfLane] = pg_ntoh64(lane);
    }
    record[lanes()] = row; // only read where codes come with rows
    sorter_->add(record);
    if (PointerGetDatum(value) != datum)
        pfree(value);
}

void check_same_length(const CodeSet& a, const CodeSet& b) {
    if (a.bits() != 0 && b.bits() != 0 && a.bits() != b.bits())
        report_lengths(a.bits(), b.bits());
}

} // namespace simhash
