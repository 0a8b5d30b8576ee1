// Reads the fingerprints or codes that a query returns. See the header.
#include "tables/query_values.hpp"

#include <algorithm>

#include "core/bits/distance.hpp"
#include "tables/collector.hpp"
#include "values/code/code.hpp"

namespace simhash {
namespace {

[[noreturn]] void report_lengths(int a, int b) {
    ereport(ERROR, (errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
                    errmsg("cannot search bit strings of different sizes for near pairs"),
                    errdetail("The sizes are %d and %d bits.", a, b),
                    errhint("Cast all to one type, such as bit(%d).", std::max(a, b))));
}

void check_length(int bits) {
    if (bits < 1 || bits > kMaxCodeBits)
        ereport(ERROR, (errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                        errmsg("cannot search bit strings of this size for near pairs"),
                        errdetail("The size is %d bits.", bits),
                        errhint("Use bit strings of 1 to %d bits.", kMaxCodeBits)));
}

} // namespace

ValueReceiver QueryValues::receiver() {
    return {begin, add, this, "an id and a fingerprint or a code", "SELECT id, fp FROM docs"};
}

void QueryValues::begin(void* values, Form_pg_attribute column) {
    auto* self = static_cast<QueryValues*>(values);
    Oid type = getBaseType(column->atttypid);
    bool are_codes = type == BITOID || type == VARBITOID;
    if (type != INT8OID && !are_codes)
        report_value_type(column, self->receiver());
    if (self->is_type_known_ && are_codes != self->are_codes_)
        ereport(ERROR, (errcode(ERRCODE_DATATYPE_MISMATCH),
                        errmsg("queries must both return fingerprints, or both codes")));
    self->is_type_known_ = true;
    self->are_codes_ = are_codes;
    check_radius(self->radius_, are_codes ? kMaxCodeBits : kFingerprintBits);
}

void QueryValues::add(void* values, RowNumber row, Datum value, bool is_null) {
    auto* self = static_cast<QueryValues*>(values);
    if (is_null)
        return;
    if (self->are_codes_)
        self->add_code(row, value);
    else
        self->fingerprints_->add({uint64_t(DatumGetInt64(value)), row});
}

void QueryValues::add_code(RowNumber row, Datum value) {
    constexpr size_t kBytesOfLane = sizeof(uint64_t);
    Code code = datum_get_code(value);
    // The first code sets the length for all.
    if (bits_ == 0) {
        check_length(code.bit_count);
        bits_ = code.bit_count;
    } else if (code.bit_count != bits_) {
        report_lengths(bits_, code.bit_count);
    }
    auto lanes = size_t(lane_count_of_bits(bits_));
    if (!codes_)
        codes_.emplace(context_, sort_bytes_, int(lanes) + 1);
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
    record[lanes] = row;
    codes_->add(record);
}

void QueryValues::read(const text* query, std::optional<Models>* models) {
    fingerprints_.emplace(sort_bytes_);
    read_rows(query, &ids_, &copies_, receiver());
    models->emplace(pool_, 1, bits_ == 0 ? 1 : lane_count_of_bits(bits_));
    SignatureList* list = (*models)->list(0);
    // Equal values come one after another, in order of their rows.
    fingerprints_->finish();
    for (Entry entry{}; fingerprints_->next(&entry);)
        add_to_models(&entry.key, RowNumber(entry.tid), list);
    fingerprints_->release();
    if (!codes_)
        return;
    codes_->finish();
    while (const uint64_t* record = codes_->next())
        add_to_models(record, RowNumber(record[list->lanes()]), list);
    codes_->release();
    codes_.reset();
}

void QueryValues::add_to_models(const uint64_t* signature, RowNumber row, SignatureList* models) {
    CHECK_FOR_INTERRUPTS();
    size_t count = models->size();
    if (count > 0 &&
        std::equal(signature, signature + models->lanes(), models->signature(count - 1)))
        copies_.append(last_, row);
    else
        models->add(signature, row);
    last_ = row;
}

} // namespace simhash
