// The ids of the rows that queries return. A row is known by its number: in the order in which the
// first query returns them, from 0, and then those of the second.
//
// All is in paged arrays (server/paged_array.hpp), so it may be more than memory holds.
#pragma once

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

} // namespace simhash
