// Rows of numbers that belong to code points, for instance the code points of a decomposition.
//
// Rows are written as a list. A negative number -n moves on by n code points, starting before
// U+0000. The numbers after it, none of them negative, are the row of the code point that it
// reaches:
//
//   {-66, 0x61, -1, 0x62}      U+0041 has the row 0x61, U+0042 has the row 0x62
//
// The compiler makes an index of the list, so that a look-up needs no search: the code point's page
// of 64 leads to the row's place in the list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace simhash {

// Calls found(code_point, place of its row in the list) for each row.
template <size_t length, typename Found>
constexpr void each_row(const int32_t (&list)[length], Found found) {
    uint32_t code_point = UINT32_MAX;
    for (size_t at = 0; at < length; at++)
        if (list[at] < 0) {
            code_point += uint32_t(-list[at]);
            found(code_point, at + 1);
        }
}

constexpr uint32_t kRowPage = 64;         // code points
constexpr uint32_t kBeyondRows = 0x30000; // no code point from here on has a row

// Number of pages that have a row.
template <size_t length>
constexpr size_t row_pages(const int32_t (&list)[length]) {
    size_t count = 0;
    uint32_t last = UINT32_MAX;
    each_row(list, [&](uint32_t code_point, size_t) {
        count += code_point / kRowPage != last;
        last = code_point / kRowPage;
    });
    return count;
}

// Length of the longest row.
template <size_t length>
constexpr size_t longest_row(const int32_t (&list)[length]) {
    size_t longest = 0, row = 0;
    for (int32_t number : list) {
        row = number < 0 ? 0 : row + 1;
        longest = std::max(longest, row);
    }
    return longest;
}

template <size_t length, size_t pages>
class CodePointRows {
    // Places are in 16 bits and numbers of pages in 8, so that both indexes stay small.
    static_assert(length <= UINT16_MAX && pages <= UINT8_MAX);

  public:
    explicit constexpr CodePointRows(const int32_t (&list)[length]) {
        std::copy(list, list + length, list_);
        // The last row, too, ends before a negative number.
        list_[length] = -1;
        uint8_t last = 0;
        each_row(list, [&](uint32_t code_point, size_t place) {
            uint8_t& page = page_of_[code_point / kRowPage];
            if (page == 0)
                page = ++last;
            place_of_[page][code_point % kRowPage] = uint16_t(place);
        });
    }

    // The code point's row, which ends before a negative number. Without a row, an empty one.
    constexpr const int32_t* of(uint32_t code_point) const {
        if (code_point >= kBeyondRows)
            return list_;
        return list_ + place_of_[page_of_[code_point / kRowPage]][code_point % kRowPage];
    }

  private:
    // Page 0 stands for all pages without a row; place 0 has a negative number.
    uint8_t page_of_[kBeyondRows / kRowPage]{};
    uint16_t place_of_[1 + pages][kRowPage]{};
    int32_t list_[length + 1]{};
};

} // namespace simhash
