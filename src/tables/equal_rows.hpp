// Rows that have the value of an earlier row. The first row with a certain value is its model, and
// the others are its copies: a list in order of their numbers. Only models are searched, however
// many copies they have.
#pragma once

#include <algorithm>

#include "server/arguments.hpp"
#include "server/paged_array.hpp"
#include "server/sorter.hpp"
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

// Finds the rows of a query that have equal values, when all have been read.
class EqualRows {
  public:
    // In the current memory context.
    EqualRows(Copies* copies, size_t sort_bytes) : copies_(*copies), by_hash_(sort_bytes) {}

    // Equal values have equal hashes. Values with equal hashes may differ, and are compared.
    void add(uint64_t hash, RowNumber row) { by_hash_.add({hash, row}); }

    // Calls give(row) for each model, in no particular order. are_equal(a, b): of two rows
    void find(const auto& are_equal, const auto& give) {
        uint64_t hash = 0;
        by_hash_.finish();
        for (Pair entry{}; by_hash_.next(&entry);) {
            CHECK_FOR_INTERRUPTS();
            auto row = RowNumber(entry.second);
            // Equal hashes come one after another, in order of their rows. So the first row with a
            // value is met first, and becomes the model.
            if (entry.first != hash)
                models_.clear();
            hash = entry.first;
            Model* end = models_.data() + models_.size();
            Model* model = std::find_if(
                models_.data(), end, [&](const Model& model) { return are_equal(model.row, row); });
            if (model == end) {
                models_.add({row, row});
                give(row);
            } else {
                copies_.append(model->last_copy, row);
                model->last_copy = row;
            }
        }
        by_hash_.release();
    }

  private:
    struct Model {
        RowNumber row, last_copy;
    };

    Copies& copies_;
    ExternalSorter<Pair> by_hash_;                // (hash, row)
    GrowingArray<Model> models_{server_memory()}; // those of one hash, as good as always one
};

} // namespace simhash
