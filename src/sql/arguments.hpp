// What the functions on documents and features share: their options by name, their memory.
#pragma once

#include "pg.hpp"

#include "core/text/document.hpp"

namespace simhash {

// Options of a function that is not strict, by the place of the argument: NULL stands for the
// default. Each raises an error that names the accepted values.
FeatureKind features_argument(FunctionCallInfo fcinfo, int argument); // "words", "chars"
const char* name_of(FeatureKind features);
Weighting weighting_argument(FunctionCallInfo fcinfo, int argument);
HashKind hash_argument(FunctionCallInfo fcinfo, int argument);
int width_argument(FunctionCallInfo fcinfo, int argument, int default_width);

__int128 weight_argument(double weight);

// The elements of an array of one dimension; `what` names it in the error about another.
struct Elements {
    Datum* values;
    bool* nulls;
    int count;
};
Elements array_elements(ArrayType* array, const char* what);

// palloc in the current memory context, of any size.
Memory server_memory();

} // namespace simhash
