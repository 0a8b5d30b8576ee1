// Candidates among models by signatures of one lane: pairs of models whose signatures are within a
// radius. near_fingerprints.cpp explains the search.
#pragma once

#include "server/pg.hpp"

#include "tables/models.hpp"

namespace simhash {

// Receives pairs of models by their rows: within one set a < b, between two a is of the first.
struct CandidateReceiver {
    // Called for each pair once, in no particular order. False ends the search.
    bool (*pair)(void* context, RowNumber a, RowNumber b, int distance);
    void* context;
};

// Tells of which signatures all models are linked to each other, to leave out their pairs: for
// linked groups, where else the number of pairs grows with the square of a group's size.
struct LinkTeller {
    // The group that the row is in now. Groups only grow. Null if none are to be left out.
    RowNumber (*group_of)(void* context, RowNumber row) = nullptr;
    void* context = nullptr;
};

// Finds the candidates of one set, or, where b is not null, between two, in about this memory, in
// bytes.
void find_near_fingerprints(SignatureList* a, SignatureList* b, int radius, size_t memory,
                            const CandidateReceiver& receiver, const LinkTeller& links);

} // namespace simhash
