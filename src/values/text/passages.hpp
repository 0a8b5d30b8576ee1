// What an index on passages is made for, as its operator class keeps it: the option `words`.
#pragma once

#include "core/text/passages.hpp"
#include "server/pg.hpp"

namespace simhash {

// The options of passage_ops.
struct PassageOptions {
    int32 varlena_header;
    int words; // kLeastWinnowedRun to kMostWinnowedRun: every common run of so many shows
};

// A class without the function for options, of a database that has not updated the extension, has
// none.
inline int words_of_options(const bytea* options) {
    return options != nullptr ? reinterpret_cast<const PassageOptions*>(options)->words
                              : kPassageWords;
}

} // namespace simhash
