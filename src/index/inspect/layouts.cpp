// simhash_layouts: what CREATE INDEX ... WITH (radius, tables) would build, for each number of
// tables. More tables take more space and leave fewer candidates to check. The space is an estimate
// for random fingerprints, 100-byte rows and the default fillfactor.
#include "server/pg.hpp"

#include <algorithm>
#include <cmath>

#include "core/layout/layout.hpp"
#include "core/layout/probe_plan.hpp"

using namespace simhash;

namespace {

void check_layout_arguments(int32 radius, int64 rows) {
    if (radius < 0 || radius > kMaxLayoutRadius)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("radius is out of range"),
                        errdetail("The radius is %d.", radius),
                        errhint("Use a radius between 0 and %d.", kMaxLayoutRadius)));
    if (rows < 0)
        ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                        errmsg("number of rows must not be negative"),
                        errdetail("The number of rows is %lld.", static_cast<long long>(rows)),
                        errhint("Use the number of rows that the table has or will have.")));
}

double rounded(double value, double steps_per_unit) {
    return rint(value * steps_per_unit) / steps_per_unit;
}

// Elias-Fano coding of a sorted set of n lanes of 64 bits takes 2 + log2(2^64 / n) bits a lane. A
// heap TID takes the bits of its block number and 8 of its offset.
double bytes_per_row(const Layout& layout, double rows) {
    // The default fillfactor is 90.
    constexpr double kFill = 0.9;
    // A page has 8 kB, and a row 100 bytes.
    constexpr double kRowsPerHeapPage = 80;
    // 2 + log2(2^64 / rows) is 66 - log2(rows).
    double key_bits = 66 - log2(rows);
    double tid_bits = 8 + log2(std::max(rows / kRowsPerHeapPage, 1.0));
    return (layout.table_count * key_bits + tid_bits) / 8 / kFill;
}

// The plan without the way out of reading the whole index, so that it shows the work of the probes.
ProbePlan plan_by_probes(const Layout& layout, double rows) {
    ProbeCosts costs = kTypicalProbeCosts;
    costs.read_all_per_entry = 1e100;
    return make_probe_plan(layout, layout.radius, rows, costs);
}

} // namespace

extern "C" {
PG_FUNCTION_INFO_V1(simhash_layouts);

Datum simhash_layouts(PG_FUNCTION_ARGS) {
    int32 radius = PG_GETARG_INT32(0);
    int64 rows = PG_GETARG_INT64(1);
    check_layout_arguments(radius, rows);
    InitMaterializedSRF(fcinfo, 0);
    ReturnSetInfo* result = reinterpret_cast<ReturnSetInfo*>(fcinfo->resultinfo);
    // One row is the least here, because 0 has no logarithm.
    double entries = std::max(double(rows), 1.0);
    int longest_prefix = 0;

    for (int tables = 1; tables <= kMaxTables; tables++) {
        CHECK_FOR_INTERRUPTS();
        // make_layout() may give fewer tables than it is asked for.
        Layout layout = make_layout(radius, tables);
        int prefix_bits = shortest_prefix_bits(layout);
        // Up to radius + 1 tables, each more makes a query cheaper. Beyond that, only some numbers
        // of tables give longer prefixes.
        if (tables > radius + 1 && prefix_bits <= longest_prefix)
            continue;
        if (tables > radius)
            longest_prefix = prefix_bits;
        if (layout.table_count < tables && tables <= radius + 1)
            continue;
        // This is the plan of a query with the index's own radius.
        ProbePlan plan = plan_by_probes(layout, entries);
        bool nulls[5] = {};
        Datum values[5] = {Int32GetDatum(tables), Int32GetDatum(prefix_bits),
                           Float8GetDatum(plan.visits),
                           Float8GetDatum(rounded(plan.candidates, 100)),
                           Float8GetDatum(rounded(bytes_per_row(layout, entries), 10))};
        tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
    }
    return Datum(0);
}
}
