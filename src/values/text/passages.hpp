// What the functions on passages share: where runs of words stand in a text of the server, and what
// an index on passages is made for.
#pragma once

#include <span>

#include "core/text/passages.hpp"
#include "core/text/placed_words.hpp"
#include "server/pg.hpp"

namespace simhash {

// The places of passages in one text, in which `first` has the numbers of their first words. They
// may be in any order and overlap.
WordPlace* places_of(const text* given, std::span<const Passage> passages,
                     uint32_t Passage::*first);

// The options of passage_ops, as an index has them.
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
