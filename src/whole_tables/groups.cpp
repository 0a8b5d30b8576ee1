// Groups of rows. See the header.
#include "whole_tables/groups.hpp"

namespace simhash {

// ---- groups by originals ----

// Pairs are taken in the order of their later row, so what the earlier rows are is known when it is
// asked:
//
//     row    near to    is
//     1                 an original
//     2      1          of 1
//     3      2          an original, as 2 is none
//     4      2, 3       of 3
//
// So candidates are sorted before they are compared, and each row is compared with originals only,
// up to the first that it is near to. (Codes are compared first: that costs less than to sort
// them.) But of n rows that are all near to each other there are n^2 / 2 candidates. If there are
// very many, these are given up, and the rows are divided into an earlier and a later half. The
// originals of the earlier half are found first, in the same way. Then the later half is searched
// between these originals and itself, which gives few pairs: originals are not near to each other,
// so few of them are near to one row. Each later row remembers the first of them. What is left of
// the later half joins none of these, and goes on in the same way:
//
//     rows  1 .. 8    given up
//     rows  1 .. 4    given up
//     rows  1 .. 2    2 joins 1       between 1 and 3 .. 4: 3 and 4 join 1
//                                     between 1 and 5 .. 8: 5, 6 and 8 join 1; 7 is left alone

Originals::Originals(PagePool* pool, SearchedValues* values, size_t rows, size_t memory)
    : values_(*values), memory_(memory), joined_(pool), is_original_(pool) {
    for (size_t row = 0; row < rows; row++) {
        CHECK_FOR_INTERRUPTS();
        joined_.add({RowNumber(row), 0});
        is_original_.add(true);
    }
}

void Originals::find(Models* models) { find_within(models, 0, joined_.size()); }

// Of models in rows begin .. end - 1, which have joined none so far.
void Originals::find_within(Models* models, uint64_t begin, uint64_t end) {
    auto take = [&](RowNumber earlier, RowNumber later, double measure) {
        join(later, earlier, measure);
        return true;
    };
    auto wants = [&](RowNumber earlier, RowNumber later) { return joins(earlier, later); };
    if (values_.find_in_order(models, memory_, {take, wants}))
        return;
    uint64_t middle = begin + (end - begin) / 2;
    auto is_left = [&](RowNumber row) { return is_original_[row]; };
    Models earlier(models, [&](RowNumber row) { return row < middle; });
    find_within(&earlier, begin, middle);
    Models originals(&earlier, is_left);
    earlier.release();
    Models later(models, [&](RowNumber row) { return row >= middle; });
    values_.find(&originals, &later, {take, wants});
    originals.release();
    Models left(&later, is_left);
    later.release();
    find_within(&left, middle, end);
    left.release();
}

// ---- groups by chains ----

Links::Links(PagePool* pool, size_t rows) : earlier_(pool) {
    for (size_t row = 0; row < rows; row++) {
        CHECK_FOR_INTERRUPTS();
        earlier_.add(RowNumber(row));
    }
}

void Links::find(SearchedValues* values, Models* models, Copies* copies) {
    for (size_t row = 0; row < copies->rows(); row++) {
        CHECK_FOR_INTERRUPTS();
        if (RowNumber copy = copies->after(RowNumber(row)); copy != kNoRow)
            link(RowNumber(row), copy);
    }
    auto take = [&](RowNumber a, RowNumber b, double) {
        link(a, b);
        return true;
    };
    auto wants = [&](RowNumber a, RowNumber b) { return original_of(a) != original_of(b); };
    values->find(models, nullptr, {take, wants, this});
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
