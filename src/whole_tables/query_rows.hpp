// The ids of the rows that queries return, and the rows that a function returns by them. A row is
// known by its number: in the order of the first query, from 0, and then those of the second. Ids
// are in paged arrays, so they may be more than memory holds.
#pragma once

#include <optional>

#include "server/call_memory.hpp"
#include "server/paged_array.hpp"

namespace simhash {

using RowNumber = uint32_t;
constexpr RowNumber kNoRow = UINT32_MAX;

class RowIds {
  public:
    // type: in which ids are given
    RowIds(PagePool* pool, Oid type);

    // Raises an error where the column has ids of another type. An integer is also a bigint.
    void begin_query(Oid type);

    // Raises an error where the id is null.
    void add(Datum id, bool is_null);

    size_t count() const { return ids_.size(); }

    // The id, in the current memory context unless it is passed by value. peek: of a row here and
    // there
    Datum operator[](RowNumber row) { return datum(ids_[place(row)]); }
    Datum peek(RowNumber row) {
        return datum(ids_.peek(row < places_.size() ? places_.peek(row) : row));
    }

    // Orders the rows from `first` on, which have come in any order and have integers as ids. All
    // others come before them. memory: in bytes
    void sort(RowNumber first, bool descending, size_t memory);

    // The place of a row, by when it came. So the server need not sort digests, and two processes
    // that return rows in an index's order need not wait for each other.
    RowNumber row(RowNumber place) { return place < rows_.size() ? rows_[place] : place; }
    RowNumber place(RowNumber row) { return row < places_.size() ? places_[row] : row; }

  private:
    uint64_t keep(Datum id);
    Datum datum(uint64_t kept);

    Oid type_;
    Oid given_ = InvalidOid; // the base type of the present query's ids
    int16 length_;
    bool by_value_;
    // Of each place its row, and the other way round; empty where all rows have come in order.
    PagedArray<RowNumber> rows_, places_;
    // By places: an id that is passed by value, or else where it is in bytes_.
    PagedArray<uint64_t> ids_;
    PagedBytes bytes_; // for each such id its size in 4 bytes, and itself
};

// The result of a function whose first arguments are queries, and of which `type` is that of the
// ids: rows of two ids and a measure, in a quarter of the call's memory and then in a file. All
// that the function leaves in memory goes with this object.
class ResultRows {
  public:
    explicit ResultRows(FunctionCallInfo fcinfo);

    Oid id_type() const { return TupleDescAttr(result_->setDesc, 0)->atttypid; }
    void put(RowIds* ids, RowNumber id, RowNumber other, std::optional<Datum> measure);

  private:
    ReturnSetInfo* result_;
    CallMemory memory_;
    MemoryContext row_context_;
    uint64 count_ = 0;
};

// Raises an error where the argument of a function of queries is null.
void require_not_null(FunctionCallInfo fcinfo, int argument, const char* what);

} // namespace simhash
