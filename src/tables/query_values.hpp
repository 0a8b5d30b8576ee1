// The fingerprints or codes that queries return, as models with their signatures.
//
// The lanes of a code are 64 adjacent bits each here; bits that the last one lacks are 0. So codes
// are in the order of the server's bit strings, and their distances are those of the lanes. An
// index scatters the bits (core/bits/code_lanes.hpp), as it shares a radius out evenly. A search of
// pairs shares it out by a sample, and gives little to a lane that many codes have.
#pragma once

#include <optional>

#include "server/sorter.hpp"
#include "tables/equal_rows.hpp"
#include "tables/models.hpp"
#include "tables/query_rows.hpp"

namespace simhash {

class QueryValues {
  public:
    // In the current memory context. sort_bytes: memory to sort the values of a query
    QueryValues(PagePool* pool, RowIds* ids, Copies* copies, size_t sort_bytes, int32 radius)
        : pool_(pool), ids_(*ids), copies_(*copies), context_(CurrentMemoryContext),
          sort_bytes_(sort_bytes), radius_(radius) {}

    // Reads the values that a query returns, in the current memory context. Makes models of
    // distinct values, of which the first row is the model, and the others are its copies. Rows
    // with NULL are neither. Raises an error where the radius is not one of such values.
    void read(const text* query, std::optional<Models>* models);

  private:
    static void begin(void* values, Form_pg_attribute column);
    static void add(void* values, RowNumber row, Datum value, bool is_null);
    ValueReceiver receiver();
    void add_code(RowNumber row, Datum value);
    void find_fingerprints(SignatureList* models);
    void find_codes(SignatureList* models);

    PagePool* pool_;
    RowIds& ids_;
    Copies& copies_;
    MemoryContext context_;
    size_t sort_bytes_;
    int32 radius_;
    bool are_codes_ = false;
    bool is_type_known_ = false;
    int bits_ = 0;                                     // of codes; 0 while none has come
    std::optional<ExternalSorter<Pair>> fingerprints_; // (fingerprint, row)
    std::optional<EqualRows> equal_codes_;
    std::optional<PagedRecords> codes_; // lanes of the rows from first_row_ on, 0 for NULL
    RowNumber first_row_ = 0;           // of the query
};

} // namespace simhash
