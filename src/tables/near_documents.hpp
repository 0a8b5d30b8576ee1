// Finds the near-duplicates among documents. near_documents.cpp explains the search.
#pragma once

#include "server/pg.hpp"

#include "tables/document_links.hpp"
#include "tables/documents.hpp"

namespace simhash {

// Receives pairs of models: of the documents with a certain set, the model is the first one. The
// documents that have the set of a model follow it in the list that begins with its next_copy.
struct NearDocumentsReceiver {
    // Called for each two models that are near-duplicates, once, in no particular order.
    void (*pair)(void* context, DocumentNumber a, DocumentNumber b, double similarity);
    void* context;
};

// Finds the near-duplicates of a similarity (0 to 1) among documents that have been read, in about
// `memory` bytes beside those of the pool.
// Releases nothing of the documents but what sorted them by their sets.
void find_near_documents(Documents* documents, PagePool* pool, size_t memory, double similarity,
                         const NearDocumentsReceiver& receiver);

// The same for groups: links the documents that are near-duplicates, and compares none that are
// linked already.
void link_near_documents(Documents* documents, PagePool* pool, size_t memory, double similarity,
                         DocumentLinks* links);

} // namespace simhash
