// Helpers that the functions of documents and features share: options by name, weights, memory.
#pragma once

#include "server/pg.hpp"

#include "core/bits/pause.hpp"
#include "core/text/document.hpp"

namespace simhash {

// The value of an option; `argument` is its place among the function's arguments. NULL stands for
// the default, so these functions are not strict. An unknown value raises an error that names the
// accepted ones.
FeatureKind features_argument(FunctionCallInfo fcinfo, int argument); // "words", "chars"
// Returns the name by which SQL knows the kind, "words" or "chars".
const char* name_of(FeatureKind features);
// The names are "balanced", "tf", "sqrt", "log" and "binary".
Weighting weighting_argument(FunctionCallInfo fcinfo, int argument);
// The names are "xxh3" and "fnv1".
HashKind hash_argument(FunctionCallInfo fcinfo, int argument);
// A feature has this many words or characters, 1 to kMaxWidth.
int width_argument(FunctionCallInfo fcinfo, int argument, int default_width);

// The weight as a fixed-point number. Raises an error where it is not finite or is out of range.
// kWeightFraction bits stand after the point.
__int128 weight_argument(double weight);

// A number from 0 to 1. Raises an error where it is another; `what` names the parameter in it.
double share_argument(FunctionCallInfo fcinfo, int argument, const char* what);

// An integer of 1 or more. Raises an error where it is less.
size_t positive_argument(FunctionCallInfo fcinfo, int argument, const char* what);

// The elements of an array of one dimension; `what` names it in the error about another.
struct Elements {
    Datum* values;
    bool* nulls;
    int count;
};
Elements array_elements(ArrayType* array, const char* what);

// palloc in the current memory context, of any size.
Memory server_memory();

// Raises the error of a cancelled query.
inline constexpr Pause kPause = {[](void*) { CHECK_FOR_INTERRUPTS(); }, nullptr};

} // namespace simhash
