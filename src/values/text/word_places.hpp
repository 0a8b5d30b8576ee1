// Where runs of words stand in a text of the server.
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

} // namespace simhash
