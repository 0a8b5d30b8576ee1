// Groups by chains. See groups.hpp.
#include "tables/groups.hpp"

namespace simhash {

Links::Links(PagePool* pool, Copies* copies) : earlier_(pool) {
    for (size_t row = 0; row < copies->rows(); row++) {
        CHECK_FOR_INTERRUPTS();
        earlier_.add(RowNumber(row));
    }
    for (size_t row = 0; row < copies->rows(); row++) {
        CHECK_FOR_INTERRUPTS();
        if (RowNumber copy = copies->after(RowNumber(row)); copy != kNoRow)
            link(RowNumber(row), copy);
    }
}

void Links::find(RowSearch* search, Models* models) {
    LinkTeller teller = {
        [](void* links, RowNumber row) { return static_cast<Links*>(links)->original_of(row); },
        this};
    search->find_pairs(
        models, nullptr, [&](RowNumber a, RowNumber b) { return original_of(a) != original_of(b); },
        [&](RowNumber a, RowNumber b, double) { link(a, b); }, teller);
}

RowNumber Links::original_of(RowNumber row) {
    for (;;) {
        RowNumber earlier = earlier_[row];
        if (earlier == row)
            return row;
        RowNumber before = earlier_[earlier];
        if (before == earlier)
            return earlier;
        earlier_.set(row, before);
        row = before;
    }
}

void Links::link(RowNumber a, RowNumber b) {
    RowNumber of_a = original_of(a), of_b = original_of(b);
    if (of_a != of_b)
        // The later original is linked to the earlier one, whichever group is larger: the first row
        // stays the root. Paths stay short by being halved.
        earlier_.set(std::max(of_a, of_b), std::min(of_a, of_b));
}

} // namespace simhash
