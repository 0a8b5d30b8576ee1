// Rows that have the value of an earlier row. The first row with a certain value is its model, and
// the others are its copies: a list in order of their numbers. Only models are searched, however
// many copies they have.
#pragma once

#include "server/paged_array.hpp"
#include "tables/row_ids.hpp"

namespace simhash {

class Copies {
  public:
    explicit Copies(PagePool* pool) : next_(pool) {}

    // Adds the next row, which is no copy so far.
    void add_row() { next_.add(kNoRow); }

    // Appends a copy to the list that ends with `last`: the model, or a copy of it.
    void append(RowNumber last, RowNumber copy) { next_.set(last, copy); }

    // The next row with the value of this one, or kNoRow.
    RowNumber after(RowNumber row) { return next_[row]; }

    size_t rows() const { return next_.size(); }

  private:
    PagedArray<RowNumber> next_;
};

} // namespace simhash
