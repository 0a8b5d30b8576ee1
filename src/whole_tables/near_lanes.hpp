// Pairs of models of which a lane is within a radius: the candidates among fingerprints and codes.
#pragma once

#include "core/bits/function_ref.hpp"
#include "whole_tables/models.hpp"

namespace simhash {

// Receives two rows and the distance of their lanes: of one list a < b, of two a is of the first.
// False ends the search.
using NearLanesReceiver = FunctionRef<bool(RowNumber a, RowNumber b, int distance)>;

// Finds the candidates of one list of models, or between two if b is not null, by a lane, in about
// this memory, in bytes. False if the receiver has ended the search. links: what is linked already
// may be left out. are_values: whether candidates are pairs, as the values have no other lane
bool find_near_lanes(Models::List* a, Models::List* b, int radius, size_t memory,
                     const NearLanesReceiver& receiver, Links* links, bool are_values);

} // namespace simhash
