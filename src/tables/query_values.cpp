// Reads the fingerprints or codes that a query returns. See the header.
#include "tables/query_values.hpp"

#include <algorithm>

#include "core/bits/fingerprint.hpp"
#include "core/text/feature_hash.hpp"
#include "tables/collector.hpp"
#include "values/code/code.hpp"

namespace simhash {
namespace {

[[noreturn]] void report_lengths(int a, int b) {
    ereport(ERROR, errcode(ERRCODE_STRING_DATA_LENGTH_MISMATCH),
            errmsg("cannot search bit strings of different sizes for near pairs"),
            errdetail("The sizes are %d and %d bits.", a, b),
            errhint("Cast all to one type, such as bit(%d).", std::max(a, b)));
}

void check_length(int bits) {
    if (bits < 1 || bits > kMaxCodeBits)
        ereport(ERROR, errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
                errmsg("cannot search bit strings of this size for near pairs"),
                errdetail("The size is %d bits.", bits),
                errhint("Use bit strings of 1 to %d bits.", kMaxCodeBits));
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
        ereport(ERROR, errcode(ERRCODE_DATATYPE_MISMATCH),
                errmsg("queries must both return fingerprints, or both codes"));
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
    // The lanes begin as zeros, because the last one may get fewer bytes than it has.
    uint64_t lanes[kMaxCodeLanes] = {};
    size_t bytes = code.byte_count();
    for (size_t at = 0; at < bytes; at += kBytesOfLane) {
        uint64 lane = 0;
        memcpy(&lane, code.bytes + at, std::min(kBytesOfLane, bytes - at));
        // The first byte becomes the lane's highest: the order of lanes is that of the bytes.
        lanes[at / kBytesOfLane] = pg_ntoh64(lane);
    }
    // A code of one lane is as a fingerprint.
    if (bits_ <= kFingerprintBits) {
        fingerprints_->add({lanes[0], row});
        return;
    }
    if (!codes_) {
        MemoryContext caller = MemoryContextSwitchTo(context_);
        codes_.emplace(pool_, lane_count_of_bits(bits_));
        equal_codes_.emplace(&copies_, sort_bytes_);
        MemoryContextSwitchTo(caller);
    }
    constexpr uint64_t kNull[kMaxCodeLanes] = {};
    while (codes_->size() < row - first_row_)
        codes_->add(kNull);
    codes_->add(lanes);
    equal_codes_->add(xxh3(reinterpret_cast<const uint8_t*>(lanes), codes_->bytes()), row);
}

void QueryValues::read(const text* query, std::optional<Models>* models) {
    first_row_ = RowNumber(ids_.count());
    fingerprints_.emplace(sort_bytes_);
    read_rows(query, &ids_, &copies_, receiver());
    models->emplace(pool_, 1, bits_ == 0 ? 1 : lane_count_of_bits(bits_));
    find_fingerprints((*models)->list(0));
    if (codes_)
        find_codes((*models)->list(0));
}

// Equal ones come one after another, in order of their rows.
void QueryValues::find_fingerprints(SignatureList* models) {
    uint64_t last = 0;
    RowNumber last_row = kNoRow;
    fingerprints_->finish();
    for (Pair entry{}; fingerprints_->next(&entry);) {
        CHECK_FOR_INTERRUPTS();
        if (last_row != kNoRow && entry.first == last)
            copies_.append(last_row, RowNumber(entry.second));
        else
            models->add(&entry.first, RowNumber(entry.second));
        last = entry.first;
        last_row = RowNumber(entry.second);
    }
    fingerprints_->release();
}

void QueryValues::find_codes(SignatureList* models) {
    uint64_t a[kMaxCodeLanes], b[kMaxCodeLanes];
    // A record is valid until the next one is read.
    auto read = [&](RowNumber row, uint64_t* lanes) { codes_->read(row - first_row_, lanes); };
    auto are_equal = [&](RowNumber row_a, RowNumber row_b) {
        read(row_a, a);
        read(row_b, b);
        return std::equal(a, a + models->lanes(), b);
    };
    auto add_model = [&](RowNumber row) {
        read(row, a);
        models->add(a, row);
    };
    equal_codes_->find(are_equal, add_model);
    equal_codes_.reset();
    codes_->close();
    codes_.reset();
}

} // namespace simhash
