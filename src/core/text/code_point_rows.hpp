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

template <size_t length>
class CodePointRows {
    static constexpr uint32_t kPage = 64;     // code points
    static constexpr uint32_t kEnd = 0x30000; // no code point from here on has a row
    static constexpr size_t kMostPages = 200; // with a row, and one that stands for all others
    static_assert(length <= UINT16_MAX);

  public:
    explicit constexpr CodePointRows(const int32_t (&list)[length]) {
        std::copy(list, list + length, list_);
        // The last row, too, ends before a negative number.
        list_[length] = -1;
        uint32_t code_point = UINT32_MAX;
        uint8_t last = 0;
        for (size_t at = 0; at < length; at++)
            if (list[at] < 0) {
                code_point += uint32_t(-list[at]);
                uint8_t& page = page_of_[code_point / kPage];
                if (page == 0)
                    page = ++last;
                place_of_[page][code_point % kPage] = uint16_t(at + 1);
            }
    }

    // The code point's row, which ends before a negative number. Without a row, an empty one.
    constexpr const int32_t* of(uint32_t code_point) const {
        if (code_point >= kEnd)
            return list_;
        return list_ + place_of_[page_of_[code_point / kPage]][code_point % kPage];
    }

  private:
    // Page 0 is that of all pages without a row; place 0 has a negative number.
    uint8_t page_of_[kEnd / kPage]{};
    uint16_t place_of_[kMostPages][kPage]{};
    int32_t list_[length + 1]{};
};

} // namespace simhash
