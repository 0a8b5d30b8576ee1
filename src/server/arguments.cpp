// Reads options by name, and allocates memory. See the header.
#include "server/arguments.hpp"

namespace simhash {
namespace {

template <typename Value>
struct Name {
    const char* name;
    Value value;
};

// The value of the option that the argument names. NULL stands for the first of the names.
template <typename Value, size_t n>
Value named_value(FunctionCallInfo fcinfo, int argument, const char* parameter,
                  const Name<Value> (&names)[n]) {
    if (PG_ARGISNULL(argument))
        return names[0].value;
    // The name is compared as it lies in the datum: it need not end with a 0 byte.
    text* given = PG_GETARG_TEXT_PP(argument);
    const char* name = VARDATA_ANY(given);
    size_t length = VARSIZE_ANY_EXHDR(given);
    for (const Name<Value>& known : names)
        if (strlen(known.name) == length && memcmp(known.name, name, length) == 0)
            return known.value;
    // The hint lists the names, so that a new one needs no other message.
    StringInfoData accepted;
    initStringInfo(&accepted);
    for (const Name<Value>& known : names)
        appendStringInfo(&accepted, "%s\"%s\"", accepted.len > 0 ? ", " : "", known.name);
    // At most 64 bytes of a long value are shown, cut between characters.
    ereport(ERROR, errcode(ERRCODE_INVALID_PARAMETER_VALUE),
            errmsg("invalid value for parameter \"%s\": \"%.*s\"", parameter,
                   pg_mbcliplen(name, int(length), 64), name),
            errhint("Accepted values are %s.", accepted.data));
}

// In the order of their values.
constexpr Name<FeatureKind> kFeatureNames[] = {{"words", FeatureKind::kWords},
                                               {"chars", FeatureKind::kCharacters}};

} // namespace

FeatureKind features_argument(FunctionCallInfo fcinfo, int argument) {
    return named_value(fcinfo, argument, "features", kFeatureNames);
}

const char* name_of(FeatureKind features) {
    return features == FeatureKind::kOwn ? "own" : kFeatureNames[size_t(features)].name;
}

Weighting weighting_argument(FunctionCallInfo fcinfo, int argument) {
    static constexpr Name<Weighting> kNames[] = {{"balanced", Weighting::kBalanced},
                                                 {"tf", Weighting::kTf},
                                                 {"sqrt", Weighting::kSqrt},
                                                 {"log", Weighting::kLog},
                                                 {"binary", Weighting::kBinary}};
    return named_value(fcinfo, argument, "weighting", kNames);
}

HashKind hash_argument(FunctionCallInfo fcinfo, int argument) {
    static constexpr Name<HashKind> kNames[] = {{"xxh3", HashKind::kXxh3},
                                                {"fnv1", HashKind::kFnv1}};
    return named_value(fcinfo, argument, "hash", kNames);
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
