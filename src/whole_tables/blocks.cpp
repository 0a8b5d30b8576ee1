// simhash_blocks: the buckets by which an engine of many machines brings near fingerprints
// together. A fingerprint goes into one bucket for each of its blocks (core/layout/layout.hpp). Two
// that are within the radius agree in one block at least, so they meet in a bucket.
#include "core/bits/fingerprint.hpp"
#include "core/layout/layout.hpp"
#include "whole_tables/collector.hpp"

using namespace simhash;

namespace {

void begin_blocks(FunctionCallInfo fcinfo, int32 radius) {
    check_radius(radius, kFingerprintBits);
    FuncCallContext* calls = SRF_FIRSTCALL_INIT();
    MemoryContext caller = MemoryContextSwitchTo(calls->multi_call_memory_ctx);
    TupleDesc description;
    if (get_call_result_type(fcinfo, nullptr, &description) != TYPEFUNC_COMPOSITE)
        elog(ERROR, "return type must be a row type");
    calls->tuple_desc = BlessTupleDesc(description);
    // radius + 1 blocks: two fingerprints that differ in `radius` bits cannot differ in all.
    calls->max_calls = uint64(radius) + 1;
    MemoryContextSwitchTo(caller);
}

} // namespace

SIMHASH_FUNCTION(simhash_blocks) {
    int64 fingerprint = PG_GETARG_INT64(0);
    if (SRF_IS_FIRSTCALL())
        begin_blocks(fcinfo, PG_GETARG_INT32(1));
    FuncCallContext* calls = SRF_PERCALL_SETUP();
    if (calls->call_cntr == calls->max_calls)
        SRF_RETURN_DONE(calls);
    int block = int(calls->call_cntr);
    uint64_t mask = block_mask(kFingerprintBits, int(calls->max_calls), block);
    // The bits of the block, where they are, and its number name the bucket.
    Datum values[2] = {Int32GetDatum(block), Int64GetDatum(fingerprint & int64(mask))};
    bool nulls[2] = {};
    HeapTuple row = heap_form_tuple(calls->tuple_desc, values, nulls);
    SRF_RETURN_NEXT(calls, HeapTupleGetDatum(row));
}
