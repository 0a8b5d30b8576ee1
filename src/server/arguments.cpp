// Reads options by name, and allocates memory. See the header.
#include "server/arguments.hpp"

#include <span>
#include <string_view>

namespace simhash {
namespace {

// The number of the option that the argument names, its place among the names. NULL stands for the
// first of them.
size_t named_value(FunctionCallInfo fcinfo, int argument, const char* parameter,
                   std::span<const char* const> names) {
    if (PG_ARGISNULL(argument))
        return 0;
    // The name is compared as it lies in the datum: it need not end with a 0 byte.
    text* given = PG_GETARG_TEXT_PP(argument);
    std::string_view name(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given));
    for (size_t i = 0; i < names.size(); i++)
        if (name == names[i])
            return i;
    // The hint lists the names, so that a new one needs no other message.
    StringInfoData accepted;
    initStringInfo(&accepted);
    for (const char* known : names)
        appendStringInfo(&accepted, "%s\"%s\"", accepted.len > 0 ? ", " : "", known);
    // At most 64 bytes of a long value are shown, cut between characters.
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("invalid value for parameter \"%s\": \"%.*s\"", parameter,
                   pg_mbcliplen(name.data(), int(name.size()), 64), name.data()),
            errhint("Accepted values are %s.", accepted.data));
}

// Each in the order of the values.
constexpr const char* kFeatureNames[] = {"words", "chars", "own"};
static_assert(std::size(kFeatureNames) == size_t(FeatureKind::kOwn) + 1);
constexpr const char* kWeightingNames[] = {"balanced", "tf", "sqrt", "log", "binary"};
static_assert(std::size(kWeightingNames) == size_t(Weighting::kBinary) + 1);
constexpr const char* kHashNames[] = {"xxh3", "fnv1"};
static_assert(std::size(kHashNames) == size_t(HashKind::kFnv1) + 1);

} // namespace

FeatureKind features_argument(FunctionCallInfo fcinfo, int argument) {
    // Nobody asks for features of one's own by name.
    return FeatureKind(
        named_value(fcinfo, argument, "features", std::span(kFeatureNames).first<2>()));
}

const char* name_of(FeatureKind features) { return kFeatureNames[size_t(features)]; }

Weighting weighting_argument(FunctionCallInfo fcinfo, int argument) {
    return Weighting(named_value(fcinfo, argument, "weighting", kWeightingNames));
}

HashKind hash_argument(FunctionCallInfo fcinfo, int argument) {
    return HashKind(named_value(fcinfo, argument, "hash", kHashNames));
}

int width_argument(FunctionCallInfo fcinfo, int argument, int default_width) {
    int width = PG_ARGISNULL(argument) ? default_width : PG_GETARG_INT32(argument);
    if (width < 1 || width > kMaxWidth)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("invalid value for parameter \"width\": %d", width),
                errhint("Accepted values are 1 to %d.", kMaxWidth));
    return width;
}

__int128 weight_argument(double weight) {
    __int128 fixed;
    if (!fixed_point_weight(weight, &fixed))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("invalid weight"),
                errdetail("The weight is %.15g.", weight),
                errhint("Weights are finite numbers between %.0f and %.0f.", -kGreatestWeight,
                        kGreatestWeight));
    return fixed;
}

double share_argument(FunctionCallInfo fcinfo, int argument, const char* what) {
    double share = PG_GETARG_FLOAT8(argument);
    // The test is written so that NaN fails, too.
    if (!(share >= 0 && share <= 1))
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("%s is out of range", what),
                errdetail("The %s is %.15g.", what, share), errhint("Use a number from 0 to 1."));
    return share;
}

size_t positive_number(int value, const char* what) {
    if (value < 1)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("invalid value for parameter \"%s\": %d", what, value),
                errhint("It is 1 or more."));
    return size_t(value);
}

int64 integer_value(Datum value, Oid type) {
    // A smaller integer is extended by its sign, as = compares it.
    switch (type) {
    case INT2OID:
        return DatumGetInt16(value);
    case INT4OID:
        return DatumGetInt32(value);
    default:
        return DatumGetInt64(value);
    }
}

Elements array_elements(ArrayType* array, const char* what) {
    // An empty array has no dimension.
    if (ARR_NDIM(array) > 1)
        ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
                errmsg("%s must be a one-dimensional array", what),
                errdetail("The array has %d dimensions.", ARR_NDIM(array)),
                errhint("Unnest it and aggregate the elements with array_agg()."));
    Elements elements;
    int16 length;
    bool by_value;
    char alignment;
    get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &alignment);
    deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, alignment, &elements.values,
                      &elements.nulls, &elements.count);
    return elements;
}

Memory server_memory(MemoryContext context) {
    return {context,
            [](void* memory, size_t bytes) {
                // Huge: a document's features may take more than the 1 GB that palloc gives.
                return MemoryContextAllocHuge(static_cast<MemoryContext>(memory), bytes);
            },
            [](void*, void* memory) { pfree(memory); }};
}

} // namespace simhash
