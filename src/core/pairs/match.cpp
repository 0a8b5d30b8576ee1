// The innermost loop of the search for near pairs. Several columns at a time are compared with all
// rows at once. Mostly none of them is within the radius of any, and nothing more is to be done.
#include "core/pairs/near_pairs.hpp"

#include <algorithm>

#include "core/bits/fingerprint.hpp"
#include "core/bits/vectors.hpp"

namespace simhash {

namespace {

// The arguments are copies, which stay in registers while matches are written.
template <typename Words>
[[gnu::always_inline]] inline size_t match_by(const uint64_t* these, size_t rows,
                                              const uint64_t* those, size_t columns, int radius,
                                              Match* matches) {
    // Within one set a row is compared only with those behind it.
    auto first_column = [=](size_t row) { return these == those ? row + 1 : 0; };
    size_t found = 0, done = 0;
    if constexpr (Words::kWords > 0)
        for (; columns >= Words::kWords && done < columns; done += Words::kWords) {
            // The last columns overlap those before them.
            size_t begin = std::min(done, columns - Words::kWords);
            if (Words::near_words(those + begin, these, rows, radius) == 0)
                continue;
            for (size_t row = 0; row < rows; row++) {
                size_t first = std::max(done, first_column(row)) - begin;
                if (first >= Words::kWords)
                    continue;
                uint64_t near = Words::near_words(those + begin, these + row, 1, radius);
                near &= ~uint64_t{0} << first * Words::kMaskBits;
                for (; near != 0; near &= near - 1) {
                    size_t column = begin + size_t(std::countr_zero(near) / Words::kMaskBits);
                    matches[found++] = {uint16_t(row), uint16_t(column)};
                }
            }
        }
    for (size_t row = 0; row < rows; row++) {
        uint64_t of_row = these[row];
        for (size_t column = std::max(done, first_column(row)); column < columns; column++)
            if (hamming_distance(of_row, those[column]) <= radius)
                matches[found++] = {uint16_t(row), uint16_t(column)};
    }
    return found;
}

} // namespace

size_t match(const uint64_t* these, size_t rows, const uint64_t* those, size_t columns, int radius,
             Match* matches, SimdLevel highest) {
    return at_best_level(
        highest, [=]<SimdLevel level>() __attribute__((always_inline)) {
            return match_by<WordsAt<level>>(these, rows, those, columns, radius, matches);
        });
}

} // namespace simhash
