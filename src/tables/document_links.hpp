// The groups that pairs of documents link, directly or through others (union-find). The first
// document of a group in the query's order is its original.
#pragma once

#include "server/pg.hpp"

#include "server/paged_array.hpp"
#include "tables/documents.hpp"

namespace simhash {

class DocumentLinks {
  public:
    // Each document is in a group of its own.
    DocumentLinks(PagePool* pool, size_t documents) : earlier_(pool) {
        for (size_t number = 0; number < documents; number++)
            earlier_.add(DocumentNumber(number));
    }

    // Halves the path to the original on its way.
    // Each link leads to an earlier document, so the path ends, and it ends at the first one of the
    // group.
    DocumentNumber original_of(DocumentNumber number) {
        for (;;) {
            DocumentNumber earlier = earlier_[number];
            if (earlier == number)
                return number;
            DocumentNumber before = earlier_[earlier];
            if (before == earlier)
                return earlier;
            earlier_.set(number, before);
            number = before;
        }
    }

    bool are_linked(DocumentNumber a, DocumentNumber b) { return original_of(a) == original_of(b); }

    void link(DocumentNumber a, DocumentNumber b) {
        DocumentNumber of_a = original_of(a), of_b = original_of(b);
        if (of_a != of_b)
            // The later original is linked to the earlier one, whichever group is larger: the first
            // document stays the root. Paths stay short by being halved.
            earlier_.set(std::max(of_a, of_b), std::min(of_a, of_b));
    }

    void release() { earlier_.close(); }

  private:
    PagedArray<DocumentNumber> earlier_; // one of the same group; an original has itself
};

} // namespace simhash
