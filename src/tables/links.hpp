// The groups that pairs of rows link, directly or through others (union-find). The first row of a
// group is its original.
#pragma once

#include "server/pg.hpp"

#include "tables/copies.hpp"
#include "tables/row_search.hpp"

namespace simhash {

class Links {
  public:
    // Each row is linked with its copies.
    Links(PagePool* pool, Copies* copies);

    // Links the pairs of models.
    void find(RowSearch* search, Models* models);

    // Halves the path to the original on its way.
    // Each link leads to an earlier row, so the path ends, and it ends at the first one of the
    // group.
    RowNumber original_of(RowNumber row);

  private:
    void link(RowNumber a, RowNumber b);

    PagedArray<RowNumber> earlier_; // one of the same group; an original has itself
};

} // namespace simhash
