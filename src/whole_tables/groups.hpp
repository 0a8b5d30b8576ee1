// Groups of the rows of a query that are near to each other.
#pragma once

#include "whole_tables/models.hpp"

namespace simhash {

// ---- groups by originals ----

// Groups that are safe to delete by. In the order of rows, each joins the first original that it is
// near to, or becomes an original itself: an exclusion constraint would have let in the originals
// in that order, and refused the others. groups.cpp explains how they are found.
class Originals {
  public:
    // memory: for candidates, in bytes
    Originals(PagePool* pool, SearchedValues* values, size_t rows, size_t memory);

    void find(Models* models);

    // Calls give(row, original, measure) for all rows in their order; an original has no measure.
    // measure_of_equal: that of a row with its copy
    void give(Copies* copies, double measure_of_equal, const auto& give) {
        for (size_t i = 0; i < joined_.size(); i++) {
            auto row = RowNumber(i);
            Joined joined = joined_[row];
            RowNumber original = RowNumber(joined.original), copy = copies->after(row);
            std::optional<double> measure;
            if (original != row)
                measure = joined.measure;
            // A copy is near to what its model is near to, and a copy of a copy likewise.
            if (copy != kNoRow)
                joined_.poke(copy, {original, measure.value_or(measure_of_equal)});
            give(row, original, measure);
        }
    }

  private:
    // A row joins the first original that it is near to.
    bool joins(RowNumber earlier, RowNumber later) {
        return is_original_[earlier] && earlier < joined_[later].original;
    }
    void find_within(Models* models, uint64_t begin, uint64_t end);

    void join(RowNumber row, RowNumber original, double measure) {
        is_original_.set(row, false);
        joined_.set(row, {original, measure});
    }

    // What a row has joined, with its measure; itself while it has joined none.
    struct Joined {
        uint64_t original; // its number, in 8 bytes: no gap follows, which would be undefined
        double measure;
    };

    SearchedValues& values_;
    size_t memory_;
    PagedArray<Joined> joined_; // of each row
    PagedBits is_original_;     // of each row, for rows in any order: these stay in memory
};

// ---- groups by chains ----

// The groups that pairs of rows link, directly or through others (union-find). The first row of a
// group is its original.
class Links {
  public:
    Links(PagePool* pool, size_t rows);

    // Also links each row with its copies.
    void find(SearchedValues* values, Models* models, Copies* copies);

    // Halves the path to the original on its way. Each link leads to an earlier row, so the path
    // ends, at the first one of the group.
    RowNumber original_of(RowNumber row);

    void link(RowNumber a, RowNumber b);

    // Calls on_pair(i, j) for those of `count` rows that are not linked, while it links some, until
    // it returns false. row(i): the one of that number. In the order of what they are linked with,
    // one list of the rows that are not linked with the present one serves for all of a kind: most
    // are copies, which are all linked after the first.
    bool each_unlinked(size_t count, const auto& row, const auto& on_pair) {
        rows_.clear();
        for (size_t i = 0; i < count; i++)
            rows_.add(uint64_t{original_of(row(i))} << 32 | i);
        sort_ascending(rows_.data(), rows_.end());
        for (size_t i = 0; i < count; i++) {
            uint64_t original = rows_[i] >> 32;
            auto present = uint32_t(rows_[i]);
            CHECK_FOR_INTERRUPTS();
            if (i == 0 || original != rows_[i - 1] >> 32) {
                others_.clear();
                for (size_t j = i + 1; j < count; j++)
                    if (rows_[j] >> 32 != original)
                        others_.add(uint32_t(rows_[j]));
            }
            size_t left = 0;
            for (uint32_t other : others_.all()) {
                CHECK_FOR_INTERRUPTS();
                if (original_of(row(present)) == original_of(row(other)))
                    continue;
                others_[left++] = other;
                if (!on_pair(present, other))
                    return false;
            }
            // Once one is linked with all that follow, these are linked with each other, too.
            if (left == 0)
                return true;
            others_.clear();
            others_.added(left);
        }
        return true;
    }

    // Calls give(row, original, no measure) for all rows in their order: of two rows of a chain
    // nobody knows how near they are.
    void give(const auto& give) {
        for (size_t row = 0; row < earlier_.size(); row++)
            give(RowNumber(row), original_of(RowNumber(row)), std::optional<double>());
    }

  private:
    PagedArray<RowNumber> earlier_;                // one of the same group; an original has itself
    GrowingArray<uint64_t> rows_{server_memory()}; // (original, number) of those of each_unlinked()
    GrowingArray<uint32_t> others_{server_memory()}; // not linked with the present one
};

} // namespace simhash
