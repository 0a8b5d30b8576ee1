// The rows of a query that is given as a text, as it returns them: an id, and a value to search. A
// row is known by its number: in the order in which the first query returns them, from 0, and then
// those of the second. All is in paged arrays, so it may be more than memory holds.
#pragma once

#include <optional>

#include "server/paged_array.hpp"

namespace simhash {

using RowNumber = uint32_t;
constexpr RowNumber kNoRow = UINT32_MAX;

class RowIds {
  public:
    // type: in which ids are given
    RowIds(PagePool* pool, Oid type);

    // Raises an error where the column has ids of another type. An integer is also a bigint.
    void begin_query(Form_pg_attribute column);

    // Raises an error where the id is null.
    void add(Datum id, bool is_null);

    size_t count() const { return ids_.size(); }

    // The id, in the current memory context unless it is passed by value.
    Datum operator[](RowNumber row);

  private:
    enum class Conversion { kNone, kFromSmallint, kFromInteger };

    uint64_t keep(Datum id);

    Oid type_;
    int16 length_;
    bool by_value_;
    Conversion conversion_ = Conversion::kNone;
    PagedArray<uint64_t> ids_; // an id that is passed by value, or else where it is in bytes_
    PagedBytes bytes_;         // for each such id its size in 4 bytes, and itself
};

// The values of the rows.
class RowValues {
  public:
    // columns: in the message about other columns, "an id and a text". example: of a query
    RowValues(const char* columns, const char* example) : columns(columns), example(example) {}

    // Called once for a query, before its first row. Raises an error where the column is of another
    // type.
    virtual void begin(Form_pg_attribute) {}
    // Called for each row, in a memory context of that row.
    virtual void add(RowNumber, Datum, bool) {}

    const char *const columns, *const example;

  protected:
    enum class Wanted { kDocuments, kValues }; // fingerprints or codes
    // Raises the error of a second column of another type, with what to write instead.
    [[noreturn]] void report_type(Form_pg_attribute column, Wanted wanted) const;
};

// Runs the query, which must be one SELECT that only reads, though functions that it calls may
// write. Adds its rows to the ids and to the values.
void read_rows(const text* query, RowIds* ids, RowValues* values);

// The result of a function whose first arguments are queries, and of which `type` is that of the
// ids: rows of two ids and a measure. All that the function leaves in memory goes with this object.
class ResultRows {
  public:
    explicit ResultRows(FunctionCallInfo fcinfo);

    Oid id_type() const { return TupleDescAttr(result_->setDesc, 0)->atttypid; }
    void put(RowIds* ids, RowNumber id, RowNumber other, std::optional<Datum> measure);
    void finish();

  private:
    ReturnSetInfo* result_;
    MemoryContext caller_, context_, row_context_;
};

// Raises an error where the argument of a function of queries is null.
void require_not_null(FunctionCallInfo fcinfo, int argument, const char* what);

} // namespace simhash
