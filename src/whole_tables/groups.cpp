// Groups of rows. See the header.
#include "whole_tables/groups.hpp"

#include <bit>

namespace simhash {

// ---- groups by originals ----

// Candidates are sorted by their later row, so what the earlier rows are is known when it is asked:
//
//     row    near to    is
//     1                 an original
//     2      1          of 1
//     3      2          an original, as 2 is none
//     4      2, 3       of 3
//
// But of n rows that are all near to each other there are n^2 / 2 candidates. If there are many
// more candidates than rows, these are given up, and the rows are divided into an earlier and a
// later half. The originals of the earlier half are found first, in the same way. Then the later
// half is searched between these originals and itself, which gives few candidates: originals are
// not near to each other, so few of them are near to one row. Each later row remembers the first of
// them. What is left of the later half joins none of these, and goes on in the same way:
//
//     rows  1 .. 8    given up
//     rows  1 .. 4    given up
//     rows  1 .. 2    2 joins 1       between 1 and 3 .. 4: 3 and 4 join 1
//                                     between 1 and 5 .. 8: 5, 6 and 8 join 1; 7 is left alone

Originals::Originals(PagePool* pool, RowSearch* search, size_t rows, size_t memory)
    : search_(*search), memory_(memory / 2), originals_(pool), measures_(pool),
      verified_(memory / 2) {
    for (size_t row = 0; row < rows; row++) {
        CHECK_FOR_INTERRUPTS();
        originals_.add(RowNumber(row));
        measures_.add(0);
    }
}

// Of models in rows begin .. end - 1, which have joined none so far.
void Originals::find_within(Models* models, uint64_t begin, uint64_t end) {
    if (find_at_once(models))
        return;
    uint64_t middle = begin + (end - begin) / 2;
    auto is_left = [&](RowNumber row) { return is_original(row); };
    Models earlier(models, [&](RowNumber row) { return row < middle; });
    find_within(&earlier, begin, middle);
    Models originals(&earlier, is_left);
    earlier.release();
    Models later(models, [&](RowNumber row) { return row >= middle; });
    join_earlier(&originals, &later);
    originals.release();
    Models left(&later, is_left);
    later.release();
    find_within(&left, middle, end);
    left.release();
}

// False if there are too many candidates; then nothing has changed.
bool Originals::find_at_once(Models* models) {
    // A list of all is compared as it is: a row that has joined an original is passed over.
    size_t most = search_.has_all_candidates() ? SIZE_MAX : few_candidates(models->size()),
           count = 0;
    ExternalSorter<Pair> candidates(memory_);
    search_.find_candidates(models, nullptr, [&](RowNumber a, RowNumber b, double measure) {
        candidates.add({uint64_t(b) << 32 | a, std::bit_cast<uint64_t>(measure)});
        return ++count <= most;
    });
    if (count <= most)
        decide(&candidates);
    candidates.release();
    return count <= most;
}

// Expects (later and earlier row, measure).
void Originals::decide(ExternalSorter<Pair>* candidates) {
    candidates->finish();
    for (Pair candidate{}; candidates->next(&candidate);) {
        auto later = RowNumber(candidate.first >> 32), earlier = RowNumber(candidate.first);
        auto measure = std::bit_cast<double>(candidate.second);
        CHECK_FOR_INTERRUPTS();
        // In memory, a row is compared with originals only, up to the first that it is near to.
        if (!is_original(later) || !is_original(earlier))
            continue;
        if (search_.has_file()) {
            if (search_.waiting() == verified_.limit())
                decide_waiting();
            search_.add_waiting(earlier, later, [&] { decide_waiting(); });
        } else if (search_.is_pair(earlier, later, &measure)) {
            join(later, earlier, measure);
        }
    }
    decide_waiting();
}

// Compares candidates that wait in the order of a file, and then decides in the order of rows. The
// last row may have more candidates, which will wait with the next ones.
void Originals::decide_waiting() {
    search_.compare_waiting(
        0, [](RowNumber, RowNumber) { return true; },
        [&](RowNumber earlier, RowNumber later, double measure) {
            verified_.add({uint64_t(later) << 32 | earlier, std::bit_cast<uint64_t>(measure)});
        });
    verified_.sort();
    for (const Pair& pair : verified_.entries()) {
        auto later = RowNumber(pair.first >> 32), earlier = RowNumber(pair.first);
        CHECK_FOR_INTERRUPTS();
        if (is_original(later) && is_original(earlier))
            join(later, earlier, std::bit_cast<double>(pair.second));
    }
    verified_.clear();
}

// Joins each of the others, which are later, to the first original that it is near to.
void Originals::join_earlier(Models* originals, Models* others) {
    search_.find_pairs(
        originals, others,
        [&](RowNumber original, RowNumber row) { return original < originals_[row]; },
        [&](RowNumber original, RowNumber row, double measure) { join(row, original, measure); });
}

// ---- groups by chains ----

Links::Links(PagePool* pool, size_t rows) : earlier_(pool) {
    for (size_t row = 0; row < rows; row++) {
        CHECK_FOR_INTERRUPTS();
        earlier_.add(RowNumber(row));
    }
}

void Links::find(RowSearch* search, Models* models, Copies* copies) {
    for (size_t row = 0; row < copies->rows(); row++) {
        CHECK_FOR_INTERRUPTS();
        if (RowNumber copy = copies->after(RowNumber(row)); copy != kNoRow)
            link(RowNumber(row), copy);
    }
    search->find_pairs(
        models, nullptr, [&](RowNumber a, RowNumber b) { return original_of(a) != original_of(b); },
        [&](RowNumber a, RowNumber b, double) { link(a, b); }, this);
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
