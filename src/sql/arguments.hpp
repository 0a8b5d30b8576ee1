// What the functions on documents and features share: their options by name, their memory.
#pragma once

#include "pg.hpp"

#include "core/text/document.hpp"

namespace simhash {

// Each raises an error that names the accepted values.
FeatureKind features_argument(text* name); // "words", "chars"
Weighting weighting_argument(text* name);
HashKind hash_argument(text* name);
int width_argument(int width);
__int128 weight_argument(double weight);

// palloc in the current memory context, of any size.
Memory server_memory();

} // namespace simhash
