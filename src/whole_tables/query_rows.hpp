// The ids of the rows that queries return, and the rows that a function returns by them. A row is
// known by its number: from 0 as the first query's rows come, and then those of the second. Ids are
// in paged arrays, so they may be more than memory holds.
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
    void begin_query(Oid type);

    // Raises an error where the id is null.
    void add(Datum id, bool is_null);

    size_t count() const { return ids_.size(); }

    // The id, in the current memory context unless it is passed by value.
    Datum operator[](RowNumber row);
    // The id, which is an integer.
    int64 integer(RowNumber row);

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

// The order of rows that come in any, by their ids: each row's rank among all. The server need not
// sort digests then, and two processes that return rows in an index's order do not wait for each
// other. Rows that come in order have no arrays.
class RowOrder {
  public:
    // memory: to sort ids, in bytes
    RowOrder(PagePool* pool, size_t memory) : memory_(memory), ranks_(pool), rows_(pool) {}

    // Orders the rows from `first` on, whose ids are integers. All others come before them.
    void sort(RowIds* ids, RowNumber first, bool descending);

    RowNumber rank(RowNumber row) { return row < ranks_.size() ? ranks_[row] : row; }
    RowNumber row(RowNumber rank) { return rank < rows_.size() ? rows_[rank] : rank; }

  private:
    size_t memory_;
    PagedArray<RowNumber> ranks_, rows_; // of each row its rank, and the other way round
};

// The result of a function whose first arguments are queries, and of which `type` is that of the
// ids: rows of two ids and a measure, in a quarter of the call's memory and then in a file. All
// that the function leaves in memory goes with this object.
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
