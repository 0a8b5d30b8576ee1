// The documents that a query returns, as texts or as sets of shingles: for each its id, the set of
// its features and its fingerprint. A document is read once, in the query's order, and from then on
// it is known by its number in that order, from 0.
//
// All of it is in paged arrays (server/paged_array.hpp), so it may be more than memory holds.
#pragma once

#include "server/pg.hpp"

#include <optional>
#include <span>

#include "core/text/feature_set.hpp"
#include "server/paged_array.hpp"
#include "server/sorter.hpp"
#include "values/text/shingle_set.hpp"

namespace simhash {

using DocumentNumber = uint32_t;
constexpr DocumentNumber kNoDocument = UINT32_MAX;
// This has 31 bits, because FingerprintModels in near_documents.cpp keeps a count of documents in
// as many.
constexpr DocumentNumber kMostDocuments = INT32_MAX;

// It has 32 bytes, so 256 of them are in a page.
struct Document {
    uint64_t id;  // the id if its type is passed by value, else where it is among the ids
    uint64_t set; // where the hashes of its features are
    uint64_t fingerprint;
    uint32_t features;        // how many; a document without features has no fingerprint
    DocumentNumber next_copy; // the next document that has the same set, or kNoDocument
};

// Memory for the set of one document. It grows, and is used again for other documents.
struct SetBuffer {
    MemoryContext context;
    uint64_t* hashes = nullptr; // [capacity]
    size_t count = 0, capacity = 0;
    DocumentNumber document = kNoDocument; // whose set is here
};

class Documents {
  public:
    // In the current memory context. id_type: the type in which ids are given. sort_bytes: memory
    // to sort the documents by their sets.
    Documents(PagePool* pool, Oid id_type, size_t sort_bytes);

    // Reads the documents that a query returns.
    void read_query(const text* query);

    size_t count() const { return documents_.size(); }
    Document operator[](DocumentNumber number) { return documents_[number]; }
    // Makes `copy` the next document after `number` in the list of those with the same set.
    void set_next_copy(DocumentNumber number, DocumentNumber copy);

    // The id, in the current memory context unless it is passed by value.
    Datum id(DocumentNumber number);

    // Reads the set of a document into the buffer, unless it is there.
    // They are ascending, and valid until the buffer is used for another document.
    FeatureHashes set(DocumentNumber number, SetBuffer* buffer);

    // The documents with features as (hash of the set, number), to be read once.
    // Equal sets have equal hashes; sets with equal hashes may differ, and are to be compared.
    ExternalSorter<Entry>& by_set() { return by_set_; }

    // The size of all sets, in bytes.
    uint64_t set_bytes() const { return sets_.size(); }

    // Releases the sets, after which there are the ids still.
    void release_sets();
    void release();

  private:
    enum class Conversion { kNone, kFromSmallint, kFromInteger };
    enum class Form { kText, kShingleSet };

    static void begin(void* documents, TupleDesc columns);
    static void add_row(void* documents, TupleTableSlot* row);
    void check_id_column(Form_pg_attribute column);
    void check_document_column(Form_pg_attribute column);
    void add(Datum id, Datum document, bool is_null);
    uint64_t keep_id(Datum id);
    FeatureHashes features(Datum document);
    FeatureHashes hashes_of_set(Datum document);

    MemoryContext row_context_; // for a row; reset after each
    Oid id_type_;
    int16 id_length_;
    bool id_by_value_;
    Conversion conversion_ = Conversion::kNone;
    Form form_ = Form::kText;             // in which the query returns documents
    std::optional<ShingleKind> shingles_; // what the sets that it returns hold
    PagedArray<Document> documents_;
    PagedBytes ids_; // for each that is not passed by value, its size in 4 bytes, and itself
    PagedBytes sets_;
    FeatureSet features_; // of the document that is being read
    ExternalSorter<Entry> by_set_;
};

} // namespace simhash
