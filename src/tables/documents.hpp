// The documents that queries return, as texts or as sets of shingles: for each row the set of its
// features and its lanes. A document is read once, and from then on it is known by its row.
//
// All is in paged arrays, so it may be more than memory holds.
#pragma once

#include "server/pg.hpp"

#include <optional>

#include "core/text/document_lanes.hpp"
#include "core/text/feature_set.hpp"
#include "server/sorter.hpp"
#include "tables/models.hpp"
#include "tables/query_rows.hpp"
#include "values/text/shingle_set.hpp"

namespace simhash {

struct Document {
    uint64_t set; // where the hashes of its features are
    DocumentLanes lanes;
    uint32_t features; // how many; a document without features has no lanes
};

// Memory for the set of one document. It grows, and is used again for other documents.
struct SetBuffer {
    MemoryContext context;
    uint64_t* hashes = nullptr; // [capacity]
    size_t count = 0, capacity = 0;
    RowNumber document = kNoRow; // whose set is here
};

class Documents {
  public:
    // In the current memory context. sort_bytes: memory to sort the documents of a query
    Documents(PagePool* pool, RowIds* ids, Copies* copies, size_t sort_bytes);

    // Reads the documents that a query returns. Adds those that have features to the models, or,
    // where an earlier one has the same set, to its copies.
    void read(const text* query, Models* models);

    Document operator[](RowNumber row) { return documents_[row]; }

    // Reads the set of a document into the buffer, unless it is there.
    // They are ascending, and valid until the buffer is used for another document.
    FeatureHashes set(RowNumber row, SetBuffer* buffer);

    // True when some sets are in a file.
    bool has_file() const { return sets_.has_file(); }
    // Which part of the sets a document's set is in. Several parts fit into memory.
    uint64_t part_of(RowNumber row) { return documents_[row].set / part_bytes_; }

    void release();

  private:
    static void begin(void* documents, Form_pg_attribute column);
    static void add(void* documents, RowNumber row, Datum document, bool is_null);
    ValueReceiver receiver();
    void check_kind(ShingleKind kind);
    FeatureHashes features(Datum document);
    template <typename Give>
    void find_models(const Give& give);
    bool have_equal_sets(RowNumber a, RowNumber b);

    RowIds& ids_;
    Copies& copies_;
    size_t sort_bytes_;
    uint64_t part_bytes_;
    bool is_text_ = true; // what the query returns; else it is sets
    std::optional<ShingleKind> kind_;
    PagedArray<Document> documents_;
    PagedBytes sets_;
    FeatureSet features_; // of the document that is being read
    // (hash of the set, row) of the documents of a query that have features. Equal sets have equal
    // hashes; sets with equal hashes may differ, and are compared.
    std::optional<ExternalSorter<Entry>> by_set_;
    SetBuffer set_a_, set_b_;
};

} // namespace simhash
