// Computes the lanes of values. See the header.
#include "index/lanes.hpp"

#include "core/bits/code_lanes.hpp"
#include "core/bits/fingerprint.hpp"
#include "core/bits/sort.hpp"

#include <algorithm>

namespace simhash {
namespace {

// Returns the elements of an array that a support function has returned.
template <typename Element>
std::span<const Element> elements(ArrayType* array, Oid type, int function) {
    // An empty array may be of any type.
    int count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
    if (count > 0 && (ARR_ELEMTYPE(array) != type || ARR_HASNULL(array)))
        elog(ERROR, "support function %d of a simhash operator class returned no array of numbers",
             function);
    // Without NULLs the numbers stand side by side, whatever the dimensions are.
    return {reinterpret_cast<const Element*>(ARR_DATA_PTR(array)), size_t(count)};
}

// The options of the first column's operator class. They are the index's.
bytea* class_options(Relation index) { return RelationGetIndexAttOptions(index, false)[0]; }

ValueLanes call_value_lanes(Relation index, FmgrInfo* function, Datum value, LaneList* lanes) {
    // Not FunctionCall1Coll(), for which NULL is an error.
    LOCAL_FCINFO(call, 2);
    InitFunctionCallInfoData(*call, function, function->fn_nargs, index->rd_indcollation[0],
                             nullptr, nullptr);
    call->args[0].value = value;
    call->args[0].isnull = call->args[1].isnull = false;
    // To look up the modifier below a domain takes time at each row, so only who asks gets it.
    if (function->fn_nargs > 1)
        call->args[1].value = Int32GetDatum(value_typmod(index));
    Datum result = FunctionCallInvoke(call);
    if (call->isnull)
        return ValueLanes::kUnknown;
    auto found = elements<uint64_t>(DatumGetArrayTypeP(result), INT8OID, kValueLanes);
    if (found.empty())
        return ValueLanes::kNone;
    // The trees of a missing lane would lack the row.
    if (!lanes->have_any_number() && found.size() != lanes->fixed_count())
        ereport(ERROR, errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                errmsg("a value has another number of lanes than index \"%s\" keeps",
                       RelationGetRelationName(index)),
                errdetail("The operator class computes %zu; the index keeps %zu.", found.size(),
                          lanes->fixed_count()),
                errhint("Support function %d of the operator class must tell how many "
                        "lanes its support function %d computes.",
                        kLaneLayout, kValueLanes));
    // The array may stand at an address that is no multiple of 8.
    memcpy(lanes->resize(found.size()).data(), found.data(), found.size_bytes());
    return ValueLanes::kFound;
}

} // namespace

int LaneLayout::bits_of_lane(int lane) const {
    return rule == LaneRule::kSum ? simhash::bits_of_lane(bits, count, lane) : kFingerprintBits;
}

LaneLayout lane_layout(Oid opfamily, Oid type, bytea* options, int32 typmod) {
    if (values_are_lanes(type))
        return {1, kCloseRadius, LaneRule::kSum, kFingerprintBits};
    Oid function = get_opfamily_proc(opfamily, type, type, kLaneLayout);
    if (!OidIsValid(function))
        return {1, kAlikeRadius, LaneRule::kSum, kFingerprintBits};
    // Not OidFunctionCall1(), for which NULL is an error: here it says that there is no length.
    FmgrInfo found;
    fmgr_info(function, &found);
    set_fn_opclass_options(&found, options);
    LOCAL_FCINFO(call, 1);
    InitFunctionCallInfoData(*call, &found, 1, InvalidOid, nullptr, nullptr);
    // No collation: a layout depends on the type alone.
    call->args[0].value = Int32GetDatum(typmod);
    call->args[0].isnull = false;
    // A function that runs statements needs a snapshot. At the end of a transaction, when the
    // server has emptied a temporary table and builds its indexes anew, there is none.
    bool needs_snapshot = !ActiveSnapshotSet();
    if (needs_snapshot)
        PushActiveSnapshot(GetTransactionSnapshot());
    Datum result = FunctionCallInvoke(call);
    if (needs_snapshot)
        PopActiveSnapshot();
    if (call->isnull)
        return {0, kNoRadius, LaneRule::kSum, 0};
    auto numbers = elements<int32>(DatumGetArrayTypeP(result), INT4OID, kLaneLayout);
    // The third and the fourth number may be left out.
    size_t given = numbers.size();
    constexpr LaneRule kRules[] = {LaneRule::kSum, LaneRule::kAny, LaneRule::kCommon};
    uint32 number = given > 2 ? uint32(numbers[2]) : 0;
    LaneRule rule = number < lengthof(kRules) ? kRules[number] : LaneRule::kSum;
    int64 most_bits =
        given < 2 ? 0 : (rule == LaneRule::kSum ? int64{numbers[0]} : 1) * kFingerprintBits;
    int64 bits = given > 3 ? numbers[3] : most_bits;
    int32 definition = given > 4 ? numbers[4] : 0;
    // Anybody may write an operator class, so what its function returns is checked.
    if (given < 2 || given > 5 || definition < 0 || definition > UINT8_MAX || numbers[0] < 1 ||
        numbers[1] < 0 || numbers[1] > bits || bits > most_bits || number >= lengthof(kRules) ||
        (rule == LaneRule::kCommon && (numbers[0] != 1 || (numbers[1] != 0 && numbers[1] != bits))))
        elog(ERROR, "support function %d of a simhash operator class returned no layout of lanes",
             kLaneLayout);
    // More lanes than an index can keep are refused later, by their number.
    return {numbers[0], numbers[1], rule, int(std::min<int64>(bits, INT_MAX)), definition};
}

int32 value_typmod(Relation index) {
    const FormData_pg_attribute* column = TupleDescAttr(RelationGetDescr(index), 0);
    int32 typmod = column->atttypmod;
    // The modifier of another type, such as bit varying, says something else.
    return getBaseTypeAndTypmod(column->atttypid, &typmod) == index->rd_opcintype[0] ? typmod : -1;
}

LaneLayout lane_layout(Relation index) {
    return lane_layout(index->rd_opfamily[0], index->rd_opcintype[0], class_options(index),
                       value_typmod(index));
}

std::span<uint64_t> LaneList::resize(size_t count) {
    lanes_.clear();
    lanes_.add_room(count);
    lanes_.added(count);
    return all();
}

void LaneList::store(uint64_t scope_hash) {
    for (uint64_t& lane : all())
        lane = (lane ^ scope_hash) & stored_bits_;
    // Lanes of a fixed number keep their places: each has trees of its own.
    if (!have_any_number())
        return;
    sort_ascending(lanes_.data(), lanes_.end());
    // A row has one posting for each, and VACUUM and the check count on that.
    lanes_.cut_to(std::unique(lanes_.data(), lanes_.end()));
}

ValueLanes lanes_of_value(Relation index, Datum value, LaneList* lanes) {
    if (!computes_lanes(index)) {
        // Most indexes: no function is called.
        lanes->resize(1)[0] = uint64_t(DatumGetInt64(value));
        return ValueLanes::kFound;
    }
    return call_value_lanes(index, index_getprocinfo(index, 1, kValueLanes), value, lanes);
}

ValueLanes lanes_of_query(Relation index, Datum query, Oid type, LaneList* lanes) {
    Oid function =
        get_opfamily_proc(index->rd_opfamily[0], index->rd_opcintype[0], type, kValueLanes);
    if (!OidIsValid(function))
        return ValueLanes::kUnknown;
    FmgrInfo found;
    fmgr_info(function, &found);
    set_fn_opclass_options(&found, class_options(index));
    return call_value_lanes(index, &found, query, lanes);
}

} // namespace simhash
